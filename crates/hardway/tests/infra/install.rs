//! `create cluster` on libvirt: everything from the checks until the machines have their configs, with machines that really
//! install themselves. What they would do next needs OpenShift.

use hardway_testing::inside_with_libvirt;
use serde_json::Value;

use super::boot::{SERIAL, base};
use super::site::{host, inventory, on_libvirt, printed};

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

#[test]
fn create_cluster_installs_machines_goes_on_after_ctrl_c_and_is_destroyed() {
    if !inside_with_libvirt() {
        return;
    }
    let (folder, before) = (on_libvirt(&inventory()), host());
    fs_err::create_dir(folder.path("media")).unwrap();
    base(&folder, "media/live.iso");

    let mut creating = folder.start(&CREATE);
    creating.until_said("await-bootstrap: ");
    assert_eq!(creating.interrupt(), Some(8), "{}", creating.said());
    let said = creating.said();
    for phase in DONE {
        let is_done = ["done", "already done"].iter().any(|word| said.contains(&format!("{phase}: {word}")));
        assert!(is_done, "{phase}: {said}");
    }
    // Each was seen on its way: by libvirt, on its console, and by its token.
    let journal = folder.read(hardway_journal::FILE_NAME);
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

    let mut again = folder.start(&CREATE);
    again.until_said("await-bootstrap: ");
    assert_eq!(again.interrupt(), Some(8), "{}", again.said());
    for phase in DONE {
        assert!(again.said().contains(&format!("{phase}: already done")), "{phase}: {}", again.said());
    }
    assert!(printed("virsh -c qemu:///system list --name").contains("ocp4-master-0"), "it stays on");

    folder.ok(&["destroy", "--yes"]);
    assert_eq!(host(), before);
    assert!(!folder.path("media/master-0.iso").exists() && folder.path("media/live.iso").exists());
}
