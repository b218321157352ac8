//! Machines that a person boots.

use hardway_journal::{Entry, IgnitionRedeemed, Journal};
use hardway_machines::actions::{DoerError, StepError};
use hardway_machines::providers::Provider as _;
use jiff::Timestamp;

use crate::site::Site;

#[test]
fn steps_are_told_and_exit_code_9_stays_until_the_machine_was_seen() {
    let site = Site::new("{}");
    let (code, stdout, stderr) = site.run(&["bmc", "by-hand"]);
    assert_eq!((code, stdout.as_str()), (9, ""), "{stderr}");
    for part in [
        "bootstrap:\n  1. ",
        "master-2:\n  1. ",
        "error[by-hand]: bootstrap, master-0, master-1, master-2, worker-0 wait for a person",
    ] {
        assert!(stderr.contains(part), "{part} is not in:\n{stderr}");
    }
    let (code, _, stderr) = site.run(&["bmc", "seen", "--host", "master-1"]);
    assert!(code == 9 && stderr.contains("master-1 was not seen yet"), "{stderr}");

    let cluster = site.cluster();
    let provider = site.provider(&cluster);
    let host = &cluster.inventory.hosts[2];
    let boot = provider.first_boot(host);
    let error = site.with_doer(|doer| doer.up(&boot, &mut ())).unwrap_err();
    assert!(site.path("media/master-1.iso").exists(), "the medium is made before anybody is asked");
    let DoerError::Step { source: StepError::Failed { status, stderr, .. }, .. } = &error else {
        panic!("{error:?}")
    };
    assert!(status.ends_with(": 9") && stderr.contains("master-1:\n  1. "), "{status} {stderr}");

    let seen = IgnitionRedeemed {
        host: "master-1".to_owned(),
        generation: "0123456789ab".to_owned(),
        source: [192, 168, 126, 102].into(),
        face: "host".to_owned(),
    };
    let journal = Journal::open(&site.path(hardway_journal::FILE_NAME)).unwrap();
    journal.append(&[Entry::of(Timestamp::UNIX_EPOCH, &seen)]).unwrap();
    site.with_doer(|doer| doer.up(&boot, &mut ())).unwrap();
    site.ok(&["bmc", "by-hand", "--host", "master-1"]);
    let (code, _, stderr) = site.run(&["bmc", "by-hand"]);
    assert!(code == 9 && !stderr.contains("master-1:"), "{stderr}");
}

#[test]
fn other_providers_have_no_controllers() {
    let site = Site::new("{}");
    let text = fs_err::read_to_string(site.path("inventory.yaml")).unwrap();
    site.write("inventory.yaml", &text.replace("provider: bare-metal", "provider: libvirt"));
    let (code, _, stderr) = site.run(&["bmc", "by-hand"]);
    assert!(code == 2 && stderr.contains("provider bare-metal only"), "{stderr}");
}

/// An install holds the folder while its steps run, and steps are this program.
#[test]
fn a_step_may_work_in_a_folder_that_its_parent_holds() {
    let site = Site::new("{}");
    let lock = std::fs::OpenOptions::new().write(true).open(site.path(".hardway.lock")).unwrap();
    lock.lock().unwrap();
    site.ok(&["media", "iso", "--host", "master-0", "--pointer"]);
    let mut other = std::process::Command::new("sh");
    other.args(["-c", "\"$@\"; exit $?", "sh", env!("CARGO_BIN_EXE_hardway"), "--dir"]);
    let output = other.arg(site.path("")).args(["media", "iso", "--host", "master-0"]).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && stderr.contains("workdir-locked"), "{stderr}");
}
