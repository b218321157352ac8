//! One machine: disk, definition, first boot.

use std::path::Path;

use hardway_assets::Cluster;
use hardway_assets::inventory::{Host, Role};
use hardway_base::shell_word;

use super::Libvirt;
use super::domain_xml::Domain;
use super::settings::Accelerator;
use super::xml::{mac, uuid};
use crate::actions::{Action, ActionCheck, Program, Step};
use crate::providers::{install_medium, machine_action};

/// Metadata that libvirt keeps with a machine for us: it was started with its install medium once.
const BOOTED: &str = "https://hardway.dev/libvirt/booted";
/// Its drive was emptied: a new definition must not name a medium that is gone.
const EJECTED: &str = "https://hardway.dev/libvirt/ejected";
/// Which medium was uploaded to the pool completely.
const MEDIUM: &str = "https://hardway.dev/libvirt/medium";

/// What libvirt calls the drive that the install medium lies in.
const CDROM: &str = "sda";

/// The last one becomes `/dev/console`, so that boot messages end up in the serial log.
const CONSOLES: [&str; 2] = ["console=tty0", "console=ttyS0,115200n8"];

/// The documented minimum (openshift/openshift-docs
/// modules/installation-minimum-resource-requirements.adoc).
struct Size {
    cpus: u32,
    memory_gib: u32,
    disk_gib: u32,
}

/// The address of a machine's card: the inventory's, or one that is always the same for its name.
pub(super) fn machine_mac(cluster: &Cluster, host: &Host) -> String {
    let made_up = || mac(&["mac", &cluster.domain(), &host.name]);
    host.mac.as_ref().map_or_else(made_up, |mac| mac.to_lowercase().replace('-', ":"))
}

impl Libvirt {
    /// Known to the network, defined, with an empty disk; off.
    pub(super) fn machine(&self, host: &Host) -> Vec<Action> {
        vec![self.known(host), self.disk(host), self.definition(host)]
    }

    /// Makes the medium, uploads it to the pool, and starts the machine. Holds for good once the machine has been on.
    pub(super) fn boot(&self, host: &Host, given: Option<&Path>) -> Vec<Action> {
        vec![self.iso(host, given), self.medium(host), self.started(host)]
    }

    /// Stays the same, whatever else changes.
    pub(super) fn machine_uuid(&self, host: &Host) -> String {
        uuid(&["machine", &self.uuid_word, &host.name])
    }

    /// The inventory's, or one derived from the host's name.
    pub(super) fn machine_mac(&self, host: &Host) -> String {
        machine_mac(&self.cluster, host)
    }

    fn disk(&self, host: &Host) -> Action {
        let (virsh, pool, volume) = (self.virsh(), &self.settings.pool, self.volume(host, "qcow2"));
        let size = format!("{}GiB", self.size(host).disk_gib);
        Action::programs(
            machine_action(&host.name, "disk"),
            format!("an empty disk for {}", host.name),
            virsh.lists(&format!("vol-list {pool}"), &volume),
            [virsh.call("vol-create-as", [pool, &volume, &size, "--format", "qcow2"])],
            [self.delete(&volume)],
        )
    }

    fn definition(&self, host: &Host) -> Action {
        let (virsh, name, uuid) = (self.virsh(), self.name(host), self.machine_uuid(host));
        let (size, log, mac) = (self.size(host), self.log(host), self.machine_mac(host));
        let (disk, medium) = (self.volume(host, "qcow2"), self.volume(host, "iso"));
        let domain = Domain {
            name: &name,
            uuid: &uuid,
            architecture: self.architecture(host),
            has_kvm: match self.settings.accelerator {
                Accelerator::Auto => self.facts.has_kvm,
                Accelerator::Kvm => true,
                Accelerator::Tcg => false,
            },
            cpus: size.cpus,
            memory_gib: size.memory_gib,
            pool: &self.settings.pool,
            disk: &disk,
            medium: &medium,
            network: &self.settings.network,
            mac: &mac,
            log: &log,
        };
        let (xml, mark) = domain.xml();
        // A new definition does not change the fact that the machine has been on.
        let script = format!(
            "booted=$({} 2>/dev/null || :); ejected=$({} 2>/dev/null || :); {}; if [ -n \"$booted\" ]; then {}; fi; \
             if [ -n \"$ejected\" ]; then {}; {}; fi",
            self.note(host, BOOTED),
            self.note(host, EJECTED),
            virsh.call("define", ["/dev/stdin"]),
            self.take_note(host, BOOTED, "<booted/>"),
            self.eject(host, "--config"),
            self.take_note(host, EJECTED, "<ejected/>"),
        );
        let mut action = Action::programs(
            machine_action(&host.name, "definition"),
            format!("the machine of {}, off", host.name),
            ActionCheck::Prints { program: virsh.call("dumpxml", ["--inactive", &uuid]), line: mark.line() },
            [Program::new("sh", ["-ec", &script]).reading(xml)],
            [virsh.if_listed(
                "list --all --uuid",
                &uuid,
                &[virsh.call("undefine", [&uuid, "--nvram", "--managed-save", "--snapshots-metadata"])],
            )],
        );
        action.undo.push(self.hypervisor().remove(&log));
        action
    }

    /// What installs it, with its config as it is now: its own, or one that is given. A person who wants another makes it with
    /// `hardway media iso`.
    fn iso(&self, host: &Host, given: Option<&Path>) -> Action {
        let iso = self.iso_path(host);
        let (config, flags) = install_medium::carried(&self.cluster, &self.folder, host, given);
        let config = config.display().to_string();
        let folder = self.folder.display().to_string();
        let hardway = Program::new(self.program.display().to_string(), ["--dir", &folder]);
        let mut make = hardway.clone().with(["media", "iso", "--host", &host.name]).with(flags);
        if self.architecture(host) == "amd64" {
            // The machine has no screen. Other architectures are told by their firmware which console there is.
            make = make.with(CONSOLES.iter().flat_map(|console| ["--live-karg-append", console]));
            make = make.with(CONSOLES.iter().flat_map(|console| ["--dest-karg-append", console]));
        }
        let holds = format!(
            "if {} 2>/dev/null; then exit 0; fi; [ {} -nt {} ]",
            self.note(host, BOOTED),
            shell_word(&iso),
            shell_word(&config)
        );
        Action {
            id: machine_action(&host.name, "iso"),
            why: format!("the ISO that installs {}, newer than its config", host.name),
            holds: ActionCheck::Succeeds(Program::new("sh", ["-ec", &holds])),
            does: install_medium::make(&hardway, &self.folder, &make, self.cluster.inventory.is_hosted()),
            undo: vec![Step::RemoveFile { path: iso.into() }],
        }
    }

    /// Uploaded through libvirt, so that it ends up where QEMU may read it, also on another host. An incomplete upload looks like
    /// any other volume, so the machine's metadata records when it is complete.
    fn medium(&self, host: &Host) -> Action {
        let (virsh, pool, volume) = (self.virsh(), &self.settings.pool, self.volume(host, "iso"));
        let path = self.iso_path(host);
        let stamp = format!("$(stat -Lc %s-%Y {})", shell_word(&path));
        let is_there = format!(
            "if ! [ -r {} ]; then echo 'there is no install medium for {}' >&2; exit 1; fi",
            shell_word(&path),
            host.name
        );
        let is_booted = self.note(host, BOOTED);
        let holds = format!(
            "if {is_booted} 2>/dev/null; then exit 0; fi; {} | grep -qF \"{stamp}\"",
            self.note(host, MEDIUM)
        );
        let note = self
            .take_note(host, MEDIUM, "STAMP")
            .to_string()
            .replace("STAMP", &format!("\"<medium stamp='{stamp}'/>\""));
        Action {
            id: machine_action(&host.name, "medium"),
            why: format!("the install medium of {} is in the pool, where QEMU can read it", host.name),
            holds: ActionCheck::Succeeds(Program::new("sh", ["-ec", &holds])),
            does: vec![
                Step::Run(Program::new("sh", ["-ec", &is_there])),
                Step::Run(virsh.unless_listed(
                    &format!("vol-list {pool}"),
                    &volume,
                    &[virsh.call("vol-create-as", [pool, &volume, "1", "--format", "raw"])],
                )),
                Step::Run(virsh.call("vol-upload", ["--pool", pool, &volume, &path])),
                Step::Run(Program::new("sh", ["-ec", &note])),
            ],
            undo: vec![Step::Run(self.delete(&volume))],
        }
    }

    fn started(&self, host: &Host) -> Action {
        let (virsh, uuid) = (self.virsh(), self.machine_uuid(host));
        let on = "list --uuid";
        Action::programs(
            machine_action(&host.name, "boot"),
            format!("{} is switched on for the first time and installs itself", host.name),
            ActionCheck::Succeeds(self.note(host, BOOTED)),
            [
                virsh.unless_listed(on, &uuid, &[virsh.call("start", [&uuid])]),
                self.take_note(host, BOOTED, "<booted/>"),
            ],
            [virsh.if_listed(on, &uuid, &[virsh.call("destroy", [&uuid])])],
        )
    }

    /// Empties the drive and deletes the volume once the machine is installed: the medium holds its config. The drive comes
    /// first, because a machine whose definition names a missing volume does not start.
    pub(super) fn medium_out(&self, host: &Host) -> Action {
        let (virsh, uuid) = (self.virsh(), self.machine_uuid(host));
        let (pool, volume) = (&self.settings.pool, self.volume(host, "iso"));
        // Ejecting from an empty drive fails, so it is looked at first; if libvirt does not answer, that is a failure too.
        let empty = |of: &[&str], which: &str| {
            let script = format!(
                "drives=$({}); if printf '%s\\n' \"$drives\" | grep -q '^ *{CDROM} *[^- ]'; then {}; fi",
                virsh.call("domblklist", [uuid.as_str()].into_iter().chain(of.iter().copied())),
                self.eject(host, which)
            );
            Program::new("sh", ["-ec", &script])
        };
        Action::programs(
            machine_action(&host.name, "medium-out"),
            format!(
                "the drive of {} is empty and its medium deleted, because the medium contains its config",
                host.name
            ),
            virsh.lacks(&format!("vol-list {pool}"), &volume),
            [
                virsh.if_listed("list --uuid", &uuid, &[empty(&[], "--live")]),
                empty(&["--inactive"], "--config"),
                self.take_note(host, EJECTED, "<ejected/>"),
                self.delete(&volume),
            ],
            [],
        )
    }

    /// By force, in case the machine has locked its drive: nothing reads it any more.
    fn eject(&self, host: &Host, which: &str) -> Program {
        self.virsh().call("change-media", [&self.machine_uuid(host), CDROM, "--eject", "--force", which])
    }

    fn note(&self, host: &Host, of: &str) -> Program {
        self.virsh().call("metadata", [&self.machine_uuid(host), "--config", "--uri", of])
    }

    fn take_note(&self, host: &Host, of: &str, xml: &str) -> Program {
        let key = of.rsplit('/').next().unwrap_or(of);
        self.note(host, of).with(["--key", key, "--set", xml])
    }

    fn delete(&self, volume: &str) -> Program {
        let (virsh, pool) = (self.virsh(), &self.settings.pool);
        virsh.if_listed(
            &format!("vol-list {pool}"),
            volume,
            &[virsh.call("vol-delete", ["--pool", pool, volume])],
        )
    }

    pub(super) fn iso_path(&self, host: &Host) -> String {
        install_medium::iso(&self.folder, host).display().to_string()
    }

    fn size(&self, host: &Host) -> Size {
        let least = match host.role {
            Role::Bootstrap | Role::Master => Size { cpus: 4, memory_gib: 16, disk_gib: 100 },
            Role::Worker => Size { cpus: 2, memory_gib: 8, disk_gib: 100 },
        };
        Size {
            cpus: host.cpus.unwrap_or(least.cpus),
            memory_gib: host.memory_gib.unwrap_or(least.memory_gib),
            disk_gib: host.disk_gib.unwrap_or(least.disk_gib),
        }
    }

    fn architecture(&self, host: &Host) -> &str {
        let compute = self.cluster.config.compute.first().filter(|_| host.role == Role::Worker);
        &compute.unwrap_or(&self.cluster.config.control_plane).architecture
    }

    pub(super) fn name(&self, host: &Host) -> String {
        format!("{}-{}", self.cluster.config.metadata.name, host.name)
    }

    pub(super) fn volume(&self, host: &Host, suffix: &str) -> String {
        format!("{}.{suffix}", self.name(host))
    }

    /// Where libvirt's own logs of machines are: virtlogd may write there.
    pub(super) fn log(&self, host: &Host) -> String {
        format!("/var/log/libvirt/qemu/{}-serial.log", self.name(host))
    }
}
