//! Virtual machines of a libvirt host, here or over ssh, through `virsh`.
//!
//! ```text
//! Settings        `machines.libvirt` of the inventory                                settings.rs, uri.rs
//! HostFacts       what the host can do; looked at once, before planning              facts.rs
//! Virsh           virsh calls, and "only if it is there"                             virsh.rs
//! network         one libvirt network: NAT, DHCP, names, virtual addresses           network.rs, network_xml.rs,
//!                                                                                    network_entries.rs
//! storage         the pool that disks and install media lie in                       storage.rs
//! firewall        masquerading that survives others' reloads, open ports             firewall.rs
//! resolver        the host asks the network's name server about the cluster          resolver.rs
//! balancer        HAProxy on the virtual addresses                                   balancer.rs
//! machine         disk, definition, first boot                                       machine.rs, domain_xml.rs
//! checks          what can be known before anything is built                         checks.rs
//! loose_…         machines' interfaces that have lost their bridge                   loose_interfaces.rs
//! DESCRIPTOR      the provider's row                                                 descriptor.rs
//! ```
//!
//! Names follow from the cluster's, UUIDs from its infra id, which is drawn once for a folder. libvirt refuses to give a name
//! that exists to another UUID, so a network or machine of somebody else's is never written over, nor that of another folder
//! with the same domain.

mod balancer;
mod checks;
mod descriptor;
mod domain_xml;
mod facts;
mod firewall;
mod loose_interfaces;
mod machine;
mod network;
mod network_entries;
mod network_xml;
mod resolver;
mod settings;
mod storage;
mod uri;
mod virsh;
mod xml;

use std::path::{Path, PathBuf};

use hardway_assets::Cluster;
use hardway_assets::host_services::InstallStage;
use hardway_assets::inventory::{Host, Role};
use hardway_assets::violation::Violation;
use hardway_base::shell_word;
use hardway_journal::{History, Sight};

pub use descriptor::DESCRIPTOR;
pub use facts::{HostFacts, Resolver};
pub use settings::{Accelerator, HaproxyBy, ResolverChoice, Settings};

use super::place::Place;
use super::probe::{self, power_of};
use super::{DiskUsed, DiskWritten, LoadBalancer, Power, Probe, Provider, install_medium};
use crate::actions::{Action, Program};
use crate::providers::console;
use virsh::Virsh;

/// The provider.
pub struct Libvirt {
    cluster: Cluster,
    settings: Settings,
    facts: HostFacts,
    /// The cluster's working folder, as an absolute path: media are read from there, wherever hardway runs.
    folder: PathBuf,
    /// What makes install media: `hardway`, by name or path.
    program: PathBuf,
    stage: InstallStage,
    /// The word that all UUIDs are derived from.
    uuid_word: String,
}

impl Libvirt {
    /// Reads the settings and looks at the host.
    ///
    /// # Errors
    /// Every mistake in the settings, with the path of its field.
    pub fn new(cluster: &Cluster, folder: &Path, stage: InstallStage) -> Result<Self, Vec<Violation>> {
        let settings = Settings::of(cluster)?;
        let facts = HostFacts::look(&settings);
        let planned = Self::planned(cluster, folder, stage, settings, facts);
        Ok(Self { uuid_word: planned.uuid_word_of_folder(), ..planned })
    }

    /// On a host that is known already. Looks at nothing.
    pub fn planned(
        cluster: &Cluster,
        folder: &Path,
        stage: InstallStage,
        settings: Settings,
        facts: HostFacts,
    ) -> Self {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let uuid_word = cluster.identity.infra_id.clone();
        Self {
            cluster: cluster.clone(),
            settings,
            facts,
            folder,
            program: "hardway".into(),
            stage,
            uuid_word,
        }
    }

    /// UUIDs used to be derived from the domain. A folder whose journal owns a network made that way keeps using it.
    fn uuid_word_of_folder(&self) -> String {
        let domain = self.cluster.domain();
        let old = network::network_uuid(&domain, &self.settings.network);
        let history = History::read(&self.folder.join(hardway_journal::FILE_NAME)).unwrap_or_default();
        let defined = history.actions.get(network::DEFINITION);
        let is_old =
            defined.is_some_and(|owned| owned.undo.iter().any(|step| step.to_string().contains(&old)));
        if is_old { domain } else { self.uuid_word.clone() }
    }

    /// With install media made by the program at this path.
    pub fn with_program(self, program: PathBuf) -> Self {
        Self { program, ..self }
    }

    fn virsh(&self) -> Virsh {
        Virsh::new(&self.settings.uri)
    }

    fn hypervisor(&self) -> Place {
        Place::of(self.settings.uri.ssh.as_ref())
    }
}

impl Provider for Libvirt {
    fn infrastructure(&self) -> Vec<Action> {
        let mut actions = self.storage();
        actions.extend(self.network());
        actions.extend(self.firewall());
        // This host resolves no names of a cluster that is elsewhere.
        if !self.cluster.inventory.is_hosted() {
            actions.extend(self.resolver());
        }
        actions.extend(self.balancer());
        let is_wanted =
            |host: &&Host| self.stage == InstallStage::Bootstrapping || host.role != Role::Bootstrap;
        for host in self.cluster.inventory.hosts.iter().filter(is_wanted) {
            actions.extend(self.machine(host));
        }
        actions
    }

    fn answers(&self) -> Option<Program> {
        Some(self.virsh().call("version", ["--daemon"]))
    }

    fn first_boot(&self, host: &Host) -> Vec<Action> {
        self.boot(host, None)
    }

    fn first_boot_with(&self, host: &Host, config: &Path) -> Vec<Action> {
        self.boot(host, Some(config))
    }

    fn copies(&self, host: &Host) -> Vec<PathBuf> {
        vec![self.iso_path(host).into()]
    }

    fn boots_from(&self, host: &Host) -> PathBuf {
        install_medium::config(&self.cluster, host).into()
    }

    fn power(&self, host: &Host) -> Probe<Power> {
        Probe::new(self.virsh().call("domstate", [self.machine_uuid(host)]), |printed| {
            Some(power_of(printed, &["running", "idle"], &["shut off", "crashed"]))
        })
    }

    fn switch(&self, host: &Host, to: Power) -> Option<Program> {
        let uuid = self.machine_uuid(host);
        Some(match to {
            Power::On => self.virsh().call("start", [uuid]),
            _ => self.virsh().call("shutdown", [uuid.as_str(), "--mode", "acpi"]),
        })
    }

    fn load_balancer(&self) -> LoadBalancer {
        self.balanced_by()
    }

    fn seen_by(&self, _: &Host) -> Option<&'static str> {
        Some("virsh")
    }

    fn console(&self, host: &Host) -> Option<Probe<Sight>> {
        let log = shell_word(&self.log(host));
        let grep = self.hypervisor().shell(&format!("grep -aohE {} {log} || :", shell_word(console::MARKS)));
        Some(Probe::new(grep, console::sight))
    }

    fn console_tail(&self, host: &Host) -> Option<Program> {
        Some(self.hypervisor().run(Program::new("tail", ["--bytes=16000", &self.log(host)])))
    }

    fn disk_written(&self, host: &Host) -> Option<Probe<DiskWritten>> {
        Some(Probe::new(self.virsh().call("domblkstat", [&self.machine_uuid(host), "vda"]), |printed| {
            let bytes = |line: &str| line.split_once("wr_bytes ")?.1.trim().parse().ok();
            printed.lines().find_map(bytes).map(|bytes| DiskWritten { bytes })
        }))
    }

    fn disk_used(&self, host: &Host) -> Option<Probe<DiskUsed>> {
        // The machine itself can only be asked while it is on.
        let (pool, disk) = (&self.settings.pool, self.volume(host, "qcow2"));
        let words = ["--pool", pool.as_str(), disk.as_str(), "--bytes"];
        Some(Probe::new(self.virsh().call("vol-info", words), |printed| {
            let bytes =
                |line: &str| line.split_once("Allocation:")?.1.split_whitespace().next()?.parse().ok();
            printed.lines().find_map(bytes).map(|bytes| DiskUsed { bytes })
        }))
    }

    fn state(&self, host: &Host) -> Option<Probe<String>> {
        let ask = self.virsh().call("domstate", [&self.machine_uuid(host), "--reason"]);
        Some(Probe::new(ask, probe::first_line))
    }

    fn exists(&self, host: &Host) -> Option<Probe<bool>> {
        let list = self.virsh().call("list", ["--all", "--uuid"]);
        let script = "found=$(\"$@\"); case \"$found\" in *\"$0\"*) echo yes;; *) echo no;; esac";
        let words = ["-ec".to_owned(), script.to_owned(), self.machine_uuid(host), list.program];
        Some(Probe::new(Program::new("sh", words).with(list.arguments), probe::yes_or_no))
    }

    fn called(&self, host: &Host) -> String {
        self.name(host)
    }

    fn there(&self) -> Option<Probe<Vec<String>>> {
        let list = self.virsh().call("list", ["--all", "--name"]);
        let own = shell_word(&format!("^{}-", self.cluster.config.metadata.name));
        let script = format!("found=$({list}); printf '%s\\n' \"$found\" | grep {own} || :");
        Some(Probe::new(Program::new("sh", ["-ec", &script]), |printed| {
            Some(printed.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect())
        }))
    }

    fn after_join(&self, host: &Host) -> Vec<Action> {
        vec![self.medium_out(host)]
    }

    fn look_at_console(&self, host: &Host) -> Option<String> {
        let follow = self.hypervisor().run(Program::new("tail", ["-n", "100", &self.log(host)]));
        Some(format!("{follow}, or {}", self.virsh().call("console", [self.name(host)])))
    }
}

#[cfg(test)]
mod tests {
    use hardway_journal::{ActionStarted, Entry, Journal};

    use super::*;

    #[test]
    fn a_folder_that_built_when_uuids_followed_from_the_domain_goes_on_with_them() {
        let folder = tempfile::tempdir().unwrap();
        let cluster = hardway_assets::example::cluster();
        let facts = HostFacts {
            has_kvm: true,
            has_systemd: true,
            has_firewalld: false,
            has_selinux: false,
            resolver: Resolver::Other,
        };
        let settings = Settings::of(&cluster).unwrap();
        let planned = || {
            Libvirt::planned(&cluster, folder.path(), InstallStage::Bootstrapping, settings.clone(), facts)
        };
        let (new, old) = (planned(), Libvirt { uuid_word: cluster.domain(), ..planned() });
        assert_eq!(new.uuid_word_of_folder(), cluster.identity.infra_id, "a new folder");
        let journal = Journal::open(&folder.path().join(hardway_journal::FILE_NAME)).unwrap();
        let begins = |libvirt: &Libvirt| {
            let Action { id: action, why, undo, .. } = libvirt.network().remove(0);
            let started = ActionStarted { action, why, does: Vec::new(), undo };
            journal.append(&[Entry::of(jiff::Timestamp::UNIX_EPOCH, &started)]).unwrap();
        };
        begins(&new);
        assert_eq!(new.uuid_word_of_folder(), cluster.identity.infra_id);
        begins(&old);
        assert_eq!(new.uuid_word_of_folder(), cluster.domain());
    }
}
