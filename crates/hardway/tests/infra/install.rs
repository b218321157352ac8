//! `create cluster` on libvirt: everything from the checks until the machines have their configs, with machines that really
//! install themselves. What they would do next needs OpenShift.

use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use hardway_testing::{inside_with_libvirt, succeed};
use serde_json::Value;

use crate::boot::{SERIAL, base};
use crate::site::{Folder, INVENTORY, host, printed};

const CREATE: [&str; 8] = [
    "create",
    "cluster",
    "--skip-check",
    "disk-space",
    "--skip-check",
    "machine-sizes",
    "--skip-check",
    "release-image",
];
/// Before await-bootstrap. The release is the built-in one: nothing to fetch, nothing to render.
const DONE: [&str; 9] = [
    "check-host",
    "build-infra",
    "fetch-release",
    "make-pki",
    "make-kubeconfigs",
    "make-manifests",
    "render-nodes",
    "make-ignition",
    "install-os",
];
/// Emulated machines on a busy computer; nothing is measured with it.
const PATIENCE: Duration = Duration::from_secs(30 * 60);

/// `create cluster`, ended with the test.
struct Creating<'f> {
    folder: &'f Folder,
    child: Child,
}

impl<'f> Creating<'f> {
    fn start(folder: &'f Folder) -> Self {
        let log = fs_err::File::create(folder.path("said")).unwrap().into_parts().0;
        Self { folder, child: folder.command(&CREATE).stdout(Stdio::null()).stderr(log).spawn().unwrap() }
    }

    fn said(&self) -> String {
        fs_err::read_to_string(self.folder.path("said")).unwrap()
    }

    fn until_said(&mut self, words: &str) {
        let began = Instant::now();
        while !self.said().contains(words) {
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none() && began.elapsed() < PATIENCE, "{words}: {ended:?}: {}", self.said());
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// As a person with Ctrl-C does.
    fn interrupt(&mut self) -> ExitStatus {
        succeed(Command::new("kill").args(["-INT", &self.child.id().to_string()]));
        self.child.wait().unwrap()
    }
}

impl Drop for Creating<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn create_cluster_installs_machines_goes_on_after_ctrl_c_and_is_destroyed() {
    if !inside_with_libvirt("install::create_cluster_installs_machines_goes_on_after_ctrl_c_and_is_destroyed")
    {
        return;
    }
    let (folder, before) = (Folder::new(INVENTORY), host());
    fs_err::create_dir(folder.path("media")).unwrap();
    base(&folder, "media/live.iso");

    let mut creating = Creating::start(&folder);
    creating.until_said("await-bootstrap: ");
    assert_eq!(creating.interrupt().code(), Some(8), "{}", creating.said());
    let said = creating.said();
    for phase in DONE {
        let is_done = ["done", "already done"].iter().any(|word| said.contains(&format!("{phase}: {word}")));
        assert!(is_done, "{phase}: {said}");
    }
    // Each was seen on its way: by libvirt, on its console, and by its token.
    let journal = fs_err::read_to_string(folder.path(hardway_journal::FILE_NAME)).unwrap();
    let facts: Vec<Value> = journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for machine in ["bootstrap", "master-0"] {
        let of_machine = |kind: &str| {
            let of_kind =
                facts.iter().filter(move |fact| fact["kind"] == kind && fact["body"]["host"] == machine);
            of_kind.map(|fact| fact["body"]["sight"].to_string()).collect::<Vec<_>>()
        };
        let sights = of_machine("host-seen");
        assert!(sights.contains(&"\"on\"".to_owned()), "{machine}: {sights:?}");
        assert_eq!(of_machine("ignition-redeemed").len(), 1, "{machine}");
    }
    let console = fs_err::read(SERIAL).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap();
    let at = |words: &str| console.find(words).unwrap_or_else(|| panic!("{words}: {console}"));
    assert!(at("coreos.liveiso=") < at("Install complete") && at("Install complete") < at("ostree="));

    let mut again = Creating::start(&folder);
    again.until_said("await-bootstrap: ");
    assert_eq!(again.interrupt().code(), Some(8), "{}", again.said());
    for phase in DONE {
        assert!(again.said().contains(&format!("{phase}: already done")), "{phase}: {}", again.said());
    }
    assert!(printed("virsh -c qemu:///system list --name").contains("ocp4-master-0"), "it stays on");

    folder.ok(&["destroy"]);
    assert_eq!(host(), before);
    assert!(!folder.path("media/master-0.iso").exists() && folder.path("media/live.iso").exists());
}
