//! A cluster on a libvirtd of the test's own, and what the host looks like.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use hardway_assets::Cluster;
use hardway_assets::host_services::InstallStage;
use hardway_assets::inventory::{Machines, Provider, Role};
use hardway_journal::Journal;
use hardway_machines::actions::{Action, ActionListener, ActionOutcome, Executor};
use hardway_machines::providers::Provider as _;
use hardway_machines::providers::libvirt::Libvirt;
use hardway_testing::succeed;
use jiff::Timestamp;
use serde_json::json;

/// What the program prints.
pub(crate) fn run(program: &str, arguments: &[&str]) -> String {
    succeed(Command::new(program).args(arguments))
}

pub(crate) fn virsh(arguments: &[&str]) -> String {
    run("virsh", &[&["-c", "qemu:///system"], arguments].concat())
}

/// A bootstrap host and one master.
pub(crate) fn cluster() -> Cluster {
    let mut cluster = hardway_assets::example::cluster();
    let settings = json!({"pool": "ocp4", "accelerator": "tcg"});
    cluster.inventory.machines = Machines { provider: Provider::Libvirt, settings };
    cluster.inventory.hosts.retain(|host| host.role == Role::Bootstrap || host.name == "master-0");
    for host in &mut cluster.inventory.hosts {
        (host.cpus, host.memory_gib, host.disk_gib) = (Some(1), Some(1), Some(2));
    }
    cluster
}

/// A working folder.
pub(crate) struct Work {
    folder: tempfile::TempDir,
    pub(crate) cluster: Cluster,
    pub(crate) stage: InstallStage,
}

impl Work {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), cluster: cluster(), stage: InstallStage::Bootstrapping }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn provider(&self) -> Libvirt {
        let made = Libvirt::new(&self.cluster, self.folder.path(), self.stage);
        made.map_err(|wrong| format!("{wrong:?}")).unwrap()
    }

    pub(crate) fn actions(&self) -> Vec<Action> {
        self.provider().infrastructure()
    }

    pub(crate) fn with<T>(&self, now: &dyn Fn() -> Timestamp, f: impl FnOnce(&Executor<'_>) -> T) -> T {
        let journal = Journal::open(&self.path(hardway_journal::FILE_NAME)).unwrap();
        f(&Executor::new(self.folder.path(), &journal, now))
    }

    /// Makes them hold; which were done.
    pub(crate) fn up(&self, actions: &[Action]) -> Vec<String> {
        #[derive(Default)]
        struct Done(Vec<String>);
        impl ActionListener for Done {
            fn holds(&mut self, action: &Action, outcome: ActionOutcome) {
                if outcome == ActionOutcome::Done {
                    self.0.push(action.id.clone());
                }
            }
        }
        let mut done = Done::default();
        self.with(&|| Timestamp::UNIX_EPOCH, |executor| executor.up(actions, &mut done)).unwrap_or_else(
            |error| panic!("{error}: {:?}", std::error::Error::source(&error).map(ToString::to_string)),
        );
        done.0
    }

    pub(crate) fn down(&self) {
        self.with(&|| Timestamp::UNIX_EPOCH, |executor| executor.down(&mut ())).unwrap();
    }
}

/// Everything about the host that hardway may change, in words.
pub(crate) fn state() -> BTreeMap<&'static str, String> {
    // Chains that libvirt makes for all networks stay when the last is gone; counters tell of packets, not of rules.
    let rules = "nft list ruleset | sed 's/counter packets [0-9]* bytes [0-9]*/counter/' | \
                 grep -E 'virbr|hardway|192[.]168|fd02' || :";
    let shell = |script: &str| run("sh", &["-c", script]);
    BTreeMap::from([
        ("networks", virsh(&["net-list", "--all"])),
        ("pools", virsh(&["pool-list", "--all"])),
        ("machines", virsh(&["list", "--all"])),
        ("addresses", shell("ip -o addr | awk '{print $2, $4}'")),
        ("rules", shell(rules)),
        (
            "files",
            shell(
                "find /etc/hardway /run/hardway /var/lib/libvirt/images /var/log/libvirt/qemu 2>/dev/null | grep -vE 'qemu/ocp4-[a-z0-9-]*[.]log$' | sort || :",
            ),
        ),
        ("processes", shell("ps -eo args= | grep -E '^haproxy ' | sort || :")),
    ])
}
