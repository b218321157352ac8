//! The checks, in the order in which they are shown. What each asks and why stands in `explanations/checks.md`,
//! and only there; which of them are asked of whom stands in the providers' descriptors.

use std::fmt;
use std::sync::LazyLock;

use hardway_assets::inventory::Provider;
use serde::{Serialize, Serializer};

use super::check_result::Group::{self, Balancer, Capacity, Certificates, Host, Names, Network, Registry};
use super::check_result::Judged;
use super::scene::Scene;
use super::{balancer, capacity, certificates, host, names, network, registry};
use crate::providers::descriptor;

macro_rules! check_names {
    ($($variant:ident $name:literal $group:ident,)+) => {
        /// The name of a check, on the command line, in output and in the explanations. Never changes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum CheckName {
            $(#[doc = concat!("`", $name, "`")] $variant,)+
        }

        impl CheckName {
            /// All of them, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// As people write it.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// What the check is about.
            pub const fn group(self) -> Group {
                match self {
                    $(Self::$variant => $group,)+
                }
            }
        }
    };
}

check_names! {
    InventoryComplete "inventory-complete" Host,
    Root "root" Host,
    Programs "programs" Host,
    ContainerRuntime "container-runtime" Host,
    Inotify "inotify" Host,
    Kernel "kernel" Host,
    LabFiles "lab-files" Host,
    Libvirt "libvirt" Host,
    Kvm "kvm" Host,
    Processor "processor" Host,
    LibvirtPool "libvirt-pool" Host,
    Gcloud "gcloud" Host,
    Clock "clock" Host,
    NamesServer "names-server" Names,
    NamesRecords "names-records" Names,
    NamesApps "names-apps" Names,
    NamesReverse "names-reverse" Names,
    NamesSearch "names-search" Names,
    NamesOutside "names-outside" Names,
    NamesHost "names-host" Names,
    BalancerApi "balancer-api" Balancer,
    BalancerMachineConfigServer "balancer-machine-config-server" Balancer,
    BalancerIngressHttps "balancer-ingress-https" Balancer,
    BalancerIngressHttp "balancer-ingress-http" Balancer,
    Ports "ports" Network,
    VirtualAddresses "virtual-addresses" Network,
    Subnet "subnet" Network,
    Addresses "addresses" Network,
    Bmc "bmc" Network,
    ReleaseImage "release-image" Registry,
    Mirrors "mirrors" Registry,
    ClockSkew "clock-skew" Registry,
    Memory "memory" Capacity,
    Processors "processors" Capacity,
    DiskSpace "disk-space" Capacity,
    DiskLatency "disk-latency" Capacity,
    MachineSizes "machine-sizes" Capacity,
    Certificates "certificates" Certificates,
}

/// One check.
#[derive(Clone, Debug)]
pub struct Check {
    /// Its name.
    pub name: CheckName,
    /// What it is about.
    pub group: Group,
    /// Whose machines it is about.
    pub providers: Vec<Provider>,
    look: Look,
}

/// Collects evidence and judges it.
pub(crate) type Look = fn(&Scene<'_>) -> Judged;

/// Every check, in the order in which they are shown.
pub static CHECKS: LazyLock<Vec<Check>> = LazyLock::new(|| {
    let own = Provider::ALL.iter().flat_map(|provider| descriptor(*provider).own_checks);
    let mut rows: Vec<&(CheckName, Look)> = FOR_ALL.iter().chain(BY_CHOICE).chain(own).collect();
    rows.sort_by_key(|(name, _)| *name);
    rows.into_iter()
        .map(|(name, look)| {
            let is_asked = |provider: &Provider| {
                FOR_ALL.iter().any(|(other, _)| other == name) || descriptor(*provider).asks(*name)
            };
            let providers = Provider::ALL.iter().copied().filter(is_asked).collect();
            Check { name: *name, group: name.group(), providers, look: *look }
        })
        .collect()
});

/// The names that a name server has to know, for providers whose names can be asked for from here.
pub(crate) const NAMES: &[CheckName] = &[
    CheckName::NamesServer,
    CheckName::NamesRecords,
    CheckName::NamesApps,
    CheckName::NamesReverse,
    CheckName::NamesSearch,
    CheckName::NamesOutside,
    CheckName::NamesHost,
];

/// Whether machines fit on this host, for providers that make them here.
pub(crate) const FITS: &[CheckName] =
    &[CheckName::Memory, CheckName::Processors, CheckName::DiskSpace, CheckName::DiskLatency];

/// Asked of every provider.
const FOR_ALL: &[(CheckName, Look)] = &[
    (CheckName::InventoryComplete, host::inventory_complete),
    (CheckName::Programs, host::programs),
    (CheckName::Clock, host::clock),
    (CheckName::BalancerApi, balancer::api),
    (CheckName::BalancerMachineConfigServer, balancer::machine_config_server),
    (CheckName::BalancerIngressHttps, balancer::ingress_https),
    (CheckName::BalancerIngressHttp, balancer::ingress_http),
    (CheckName::Ports, network::ports),
    (CheckName::ReleaseImage, registry::release_image),
    (CheckName::Mirrors, registry::mirrors),
    (CheckName::ClockSkew, registry::clock_skew),
    (CheckName::Certificates, certificates::certificates),
];

/// Asked of providers whose descriptor names them.
const BY_CHOICE: &[(CheckName, Look)] = &[
    (CheckName::NamesServer, names::server),
    (CheckName::NamesRecords, names::records),
    (CheckName::NamesApps, names::apps),
    (CheckName::NamesReverse, names::reverse),
    (CheckName::NamesSearch, names::search),
    (CheckName::NamesOutside, names::outside),
    (CheckName::NamesHost, names::host),
    (CheckName::Subnet, network::subnet),
    (CheckName::Addresses, network::addresses),
    (CheckName::Memory, capacity::memory),
    (CheckName::Processors, capacity::processors),
    (CheckName::DiskSpace, capacity::disk_space),
    (CheckName::DiskLatency, capacity::disk_latency),
    (CheckName::MachineSizes, capacity::machine_sizes),
];

impl Check {
    pub(super) fn look(&self, scene: &Scene<'_>) -> Judged {
        (self.look)(scene)
    }
}

impl CheckName {
    /// The check of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|check| check.as_str() == name)
    }

    /// Whether it waits for somebody, and so should begin early.
    pub(super) fn is_slow(self) -> bool {
        matches!(self, Self::NamesServer | Self::BalancerApi | Self::ReleaseImage | Self::DiskLatency)
    }
}

impl fmt::Display for CheckName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for CheckName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
