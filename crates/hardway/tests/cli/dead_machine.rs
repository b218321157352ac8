//! `hardway diagnose` where a machine of the lab was killed: a real container, without what is in a real node's.

use std::process::Command;

use hardway_base::podman;
use hardway_journal::{Entry, Journal, NodeJoined};
use hardway_testing::{INVENTORY, Ran, Work, skipped, succeed, with_hardware};

use crate::work;

/// A container that podman knows by the name of a lab's machine; it goes with this.
struct Machine(String);

impl Machine {
    /// Runs, and has said something.
    fn start(name: String, folder: &Work) -> Self {
        fs_err::create_dir_all(folder.path("root/bin")).unwrap();
        fs_err::copy("/bin/busybox", folder.path("root/bin/busybox")).unwrap();
        let root = folder.path("root").display().to_string();
        let script = "echo kubelet is told nothing; exec /bin/busybox sleep 3600";
        let needed: Vec<String> = podman::limits_here().into_iter().chain(podman::runtime_here()).collect();
        let machine = Self(name);
        // Without cgroups where podman may not touch those of this host.
        let mut said = Vec::new();
        for cgroups in [None, Some("--cgroups=disabled")] {
            let mut run = Command::new("podman");
            run.args(["run", "--detach", "--replace", "--network=none", "--name", &machine.0]);
            run.args(&needed).args(cgroups).args(["--rootfs", &root, "/bin/busybox", "sh", "-c", script]);
            let output = run.output().unwrap();
            if output.status.success() {
                return machine;
            }
            said.push(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        panic!("podman runs no container here: {said:?}");
    }

    fn podman(&self, words: &[&str]) {
        succeed(Command::new("podman").args(words).arg(&self.0));
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = Command::new("podman").args(["rm", "--force", "--ignore", "--time=0"]).arg(&self.0).output();
    }
}

#[test]
fn real_container_that_was_killed_is_what_diagnose_says_first() {
    if Command::new("podman").arg("--version").output().is_err() {
        skipped("podman is not here");
        return;
    }
    let folder = work::made().on_disk();
    let lab = format!("dead{}", std::process::id());
    let provider = format!("provider: lab\n  lab: {{name: {lab}}}\n");
    let inventory = INVENTORY.replace("provider: bare-metal\n", &provider);
    folder.write("inventory.yaml", with_hardware(&inventory, ""));
    let joined = NodeJoined { host: "worker-0".to_owned() };
    let entry = Entry::of("2026-11-15T00:00:00Z".parse().unwrap(), &joined);
    Journal::open(&folder.path(hardway_journal::FILE_NAME)).unwrap().append(&[entry]).unwrap();
    let diagnose = || {
        let mut command = folder.command(&["diagnose"]);
        command.env("HARDWAY_LAB_FILES", concat!(env!("CARGO_MANIFEST_DIR"), "/../../lab"));
        Ran::of(command).expect(1).stdout
    };

    let machine = Machine::start(format!("hardway-{lab}-worker-0"), &folder);
    let told = diagnose();
    assert!(!told.contains("E-H19"), "it is on: {told}");

    machine.podman(&["kill", "--signal=KILL"]);
    machine.podman(&["wait"]);
    let told = diagnose();
    assert!(told.starts_with("E-H19 (host) A node is NotReady or never registered"), "{told}");
    let seen = "seen   the machine of worker-0 is off (podman: exited, exit code 137, ended 2";
    assert!(told.contains(seen), "{told}");
    assert!(told.contains("console of worker-0: kubelet is told nothing"), "{told}");

    machine.podman(&["rm"]);
    let told = diagnose();
    assert!(told.contains("seen   the machine of worker-0 does not exist any more (podman)"), "{told}");
}
