//! What a lab's machine says, from a real container. It is no machine of a lab: its root is a copy of this computer's, which has a
//! journald, and neither Ignition nor a kubelet runs in it.

use std::path::PathBuf;
use std::process::Command;

use hardway_assets::host_services::InstallStage;
use hardway_base::podman;
use hardway_machines::providers::Provider as _;
use hardway_machines::providers::lab::{Lab, LabSite};
use hardway_testing::{skipped, succeed, until};

/// A container that ends with the test.
struct Container(String);

impl Container {
    /// Says something, as Ignition does before systemd runs; then its journal takes over.
    fn start(name: &str) -> Self {
        let container = Self(name.to_owned());
        let mut run = Command::new("podman");
        run.args(["run", "--detach", "--replace", "--network=none", "--name", name]);
        run.args(podman::limits_here()).args(podman::runtime_here());
        let said = "echo Ignition finished successfully; until [ -e /run/go-on ]; do sleep 0.2; done; exec /lib/systemd/systemd-journald";
        succeed(run.args(["--rootfs", "/:O", "sh", "-c", said]));
        container
    }

    fn exec(&self, script: &str) {
        succeed(Command::new("podman").args(["exec", &self.0, "sh", "-c", script]));
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        let _ = Command::new("podman").args(["rm", "--force", "--time=0", &self.0]).output();
    }
}

#[test]
fn real_container_of_a_lab_shows_ignition_first_and_then_its_journal() {
    let has_podman = Command::new("podman").arg("--version").output().is_ok();
    let has_journald = PathBuf::from("/lib/systemd/systemd-journald").exists();
    if !has_podman || !has_journald || !is_root() {
        skipped("podman, journald and root are not all here");
        return;
    }
    let cluster = hardway_assets::example::cluster();
    let host = cluster.inventory.hosts[1].clone();
    let site = LabSite {
        lab: format!("console-{}", std::process::id()),
        files: PathBuf::from("/nowhere"),
        has_real_operators: false,
    };
    let container = site.container(&host.name);
    let lab = Lab {
        cluster,
        site,
        program: PathBuf::from("/nowhere"),
        folder: PathBuf::from("/nowhere"),
        stage: InstallStage::Bootstrapping,
        watches: 1024,
        podman_options: Vec::new(),
    };
    let tail = lab.console_tail(&host).unwrap();
    let printed = || {
        let output = Command::new(&tail.program).args(&tail.arguments).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(!printed().contains("Ignition"), "there is no container yet");
    let container = Container::start(&container);
    until("what Ignition said is the console", || printed().contains("Ignition finished successfully"));
    container.exec("touch /run/go-on");
    until("journald listens", || {
        let look = ["exec", &container.0, "test", "-S", "/run/systemd/journal/dev-log"];
        Command::new("podman").args(look).status().unwrap().success()
    });
    container
        .exec("logger --socket /run/systemd/journal/dev-log --tag kubelet 'Successfully registered node'");
    until("its journal is the console", || {
        printed().contains("kubelet[") && printed().contains("Successfully registered node")
    });
    assert!(lab.look_at_console(&host).unwrap().ends_with(&host.name));
}

fn is_root() -> bool {
    succeed(Command::new("id").arg("-u")).trim() == "0"
}
