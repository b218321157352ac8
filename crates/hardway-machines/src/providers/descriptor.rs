//! A provider in one row: whatever the rest of hardway has to know of it.

use std::path::{Path, PathBuf};

use hardway_assets::Cluster;
use hardway_assets::host_services::InstallStage;
use hardway_assets::install_media::Limit;
use hardway_assets::inventory;
use hardway_assets::violation::Violation;
use hardway_base::Judged;

use super::advice::Complaint;
use super::fields::SettingsFindings;
use super::{LabSite, Provider};
use crate::check::{CheckName, CheckedSite, OwnLook};

/// One provider. What is left out in its folder is as in [`Descriptor::new`].
pub struct Descriptor {
    /// Its name, its settings with their defaults and explanations: [`inventory::Provider::row`].
    pub provider: inventory::Provider,
    /// What `hardway init` writes.
    pub sample: Sample,
    /// What `hardway hosted init` writes; nothing where no hosted workers are made.
    pub hosted_sample: Option<HostedSample>,
    /// How the OS gets onto the machines' disks.
    pub installs: Installs,
    /// What stays after everything was taken back, because it is somebody else's to take away.
    pub leaves: Option<&'static str>,
    /// The action whose result can outlive the machines, for a person who asks to keep it.
    pub keeps: Option<&'static str>,
    /// Whether names of things begin with the cluster's infra id, which is drawn when they are first made.
    pub names_begin_with_infra_id: bool,
    /// How much of a config the platform hands to a machine, where it does.
    pub(super) user_data: Option<Limit>,
    /// Where the machines are, if that is a network of their own that programs have to enter.
    pub lab: Option<LabSiteOf>,
    /// Machines' interfaces on this host that have lost their bridge; nothing where the machines are not on this host.
    pub loose_interfaces: fn(&Cluster) -> Option<Vec<String>>,

    /// Reads the settings and adds whatever is wrong with them, and with what the provider needs of the hosts.
    pub(super) read: fn(&Cluster, &SettingsFindings),
    /// Makes what plans.
    pub(super) planner: fn(&Inputs<'_>) -> Result<Box<dyn Provider>, ProviderError>,
    /// What to do about the words that its programs complain with; the more special first.
    pub(super) complaints: &'static [Complaint],

    /// Checks that apply, beside those of every provider.
    pub(crate) checks: &'static [&'static [CheckName]],
    /// Checks of its own.
    pub(crate) own_checks: &'static [(CheckName, OwnLook)],
    /// What checks have to know of it.
    pub(crate) surroundings: ProviderSurroundings,
}

/// How the OS gets onto the disk. What a fetch of the config proves depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Installs {
    /// The disk is a copy of an image: the config is fetched by its first boot.
    FromImage,
    /// A live system writes the disk and a pointer config onto it; the config is fetched by the boot from that disk.
    FromMedia,
}

/// Finds the network that a cluster's machines are in.
pub(crate) type LabSiteOf = fn(&Cluster) -> Result<LabSite, ProviderError>;

/// What a planner is made from.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'i> {
    /// What is to be built.
    pub cluster: &'i Cluster,
    /// The working folder, absolute.
    pub folder: &'i Path,
    /// This program.
    pub program: &'i Path,
    /// Whether the bootstrap host is still wanted.
    pub stage: InstallStage,
}

/// Why there is no planner.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// The inventory does not say what it has to.
    #[error("the settings of the provider are invalid")]
    Settings(Vec<Violation>),
    /// The lab's scripts are not on this host.
    #[error("the lab's scripts were not found")]
    LabFilesMissing {
        /// What to do.
        fix: String,
    },
}

/// The parts of a first inventory that differ between providers. Hosts are in 192.168.126.0/24.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Settings of the provider, below `machines`.
    pub settings: &'static str,
    /// The release that is there, if the provider brings one.
    pub release: Option<&'static str>,
    /// Who answers the hosts' questions about names.
    pub name_server: &'static str,
    /// How machines reach `hardway serve`, where that has to be said.
    pub server: &'static str,
    /// A comment above the hosts.
    pub hosts: &'static str,
    /// What is said of a host beside its address, which ends with this number.
    pub host: fn(u8) -> String,
    /// Whether a cluster can be made from it without changes.
    pub is_complete: bool,
}

/// The same for the inventory of hosted workers. `POOL` stands for the name of the pool.
#[derive(Clone, Copy, Debug)]
pub struct HostedSample {
    /// All of `machines`.
    pub machines: &'static str,
    /// Who answers the hosts' questions about names.
    pub name_server: &'static str,
    /// The fields of a pool that say of what its machines are made.
    pub pool: &'static str,
}

/// The gateway of the samples, which answers questions about names too where nothing else is said.
pub(crate) const GATEWAY: &str = "192.168.126.1";

/// What checks have to know of a provider.
pub(crate) struct ProviderSurroundings {
    /// Where the machines' network is.
    pub(crate) ground: fn(&Cluster) -> Ground,
    /// Whether build-infra brings the name server.
    pub(crate) brings_names: fn(&Cluster) -> bool,
    /// Whether it has done so, as far as that can be seen without the server's address.
    pub(crate) has_brought_names: fn(&Cluster) -> bool,
    /// Whether the records can be had as a file for a name server.
    pub(crate) prints_records: bool,
    /// A sentence, if the provider brings a registry.
    pub(crate) registry: Option<&'static str>,
    /// Whether podman is needed even if nothing has to be rendered.
    pub(crate) needs_podman: bool,
    /// The provider's own programs.
    pub(crate) programs: fn(&Cluster) -> Vec<NeededProgram>,
    /// What machines on this host take of it.
    pub(crate) footprint: Footprint,
    /// Where disks of machines on this host will lie; the verdict of a check where nobody says.
    pub(crate) disks: fn(&CheckedSite<'_>) -> Result<PathBuf, Judged>,
}

/// Where the machines' network is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ground {
    /// On another host.
    Elsewhere,
    /// On this host, which has its addresses or gets them.
    Here,
    /// On this host, but in a network namespace of its own.
    Namespace,
}

/// What a machine takes of the host that it runs on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Footprint {
    /// As much as the inventory says, or as the documentation asks for.
    Declared,
    /// So much, measured: machines share the host's processors and its page cache, and nobody's data is on them.
    Measured {
        /// MiB of memory of a machine with a control plane, of one without, and of everything around them.
        memory: [u64; 3],
        /// Bytes of disk that a machine writes, and everything around them.
        disk: [u64; 2],
        /// Why one processor is not enough.
        one_processor: &'static str,
    },
}

/// A program, and the package that has it on Debian and Fedora alike, or Debian's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NeededProgram {
    pub(crate) program: &'static str,
    pub(crate) package: &'static str,
    pub(crate) why: &'static str,
}

impl Descriptor {
    /// Of a provider whose machines are elsewhere, with names and load balancer that somebody else looks after.
    pub(super) const fn new(
        provider: inventory::Provider,
        read: fn(&Cluster, &SettingsFindings),
        planner: fn(&Inputs<'_>) -> Result<Box<dyn Provider>, ProviderError>,
    ) -> Self {
        Self {
            provider,
            sample: Sample {
                settings: "",
                name_server: GATEWAY,
                release: None,
                server: "",
                hosts: "",
                host: |_| String::new(),
                is_complete: false,
            },
            hosted_sample: None,
            installs: Installs::FromImage,
            leaves: None,
            keeps: None,
            names_begin_with_infra_id: false,
            user_data: None,
            lab: None,
            loose_interfaces: |_| None,
            read,
            planner,
            complaints: &[],
            checks: &[],
            own_checks: &[],
            surroundings: ProviderSurroundings::ELSEWHERE,
        }
    }

    /// What plans machines and everything around them.
    ///
    /// # Errors
    /// When the settings are wrong, or the provider cannot work on this host.
    pub fn planner(&self, inputs: &Inputs<'_>) -> Result<Box<dyn Provider>, ProviderError> {
        (self.planner)(inputs)
    }

    /// How large a config can be handed to a machine, in bytes.
    pub fn largest_config(&self) -> Option<u64> {
        self.user_data.map(|limit| limit.bytes)
    }

    /// Whether this check is asked of it, beside those of every provider.
    pub(crate) fn asks(&self, check: CheckName) -> bool {
        self.checks.iter().copied().flatten().any(|name| *name == check)
            || self.own_checks.iter().any(|(name, _)| *name == check)
    }
}

impl ProviderSurroundings {
    /// Nothing is on this host.
    pub(super) const ELSEWHERE: Self = Self {
        ground: |_| Ground::Elsewhere,
        brings_names: |_| false,
        has_brought_names: |_| true,
        prints_records: false,
        registry: None,
        needs_podman: false,
        programs: |_| Vec::new(),
        footprint: Footprint::Declared,
        disks: |_| Err(Judged::not_applicable("the machines are on another host")),
    };
}

impl NeededProgram {
    pub(crate) const fn new(program: &'static str, package: &'static str, why: &'static str) -> Self {
        Self { program, package, why }
    }
}

impl From<Vec<Violation>> for ProviderError {
    fn from(violations: Vec<Violation>) -> Self {
        Self::Settings(violations)
    }
}
