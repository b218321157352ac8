//! A run that is killed at any instant leaves nothing that the next run does not put right.

use std::os::unix::fs::MetadataExt as _;
use std::process::Stdio;
use std::time::Duration;

use hardway_testing::{INSTALL_CONFIG, INVENTORY, Snapshot, Work};

use crate::work;

const CREATE: [&str; 2] = ["create", "ignition-configs"];

/// Starts a run and kills it as soon as it has written this file.
fn cut_off(work: &Work, file: &str) {
    let inode = || std::fs::symlink_metadata(work.path(file)).map(|metadata| metadata.ino()).ok();
    let before = inode();
    let mut child = work.command(&CREATE).stderr(Stdio::null()).spawn().unwrap();
    while inode() == before && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Starts a run and kills it after this time.
fn cut_off_after(work: &Work, time: Duration) {
    let mut child = work.command(&CREATE).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(time);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// What a run that nobody disturbs makes of the same inputs and secrets.
fn undisturbed(work: &Work) -> Snapshot {
    let clean = work.copy(&["install-config.yaml", "inventory.yaml", "secrets/"]);
    clean.ok(&CREATE);
    Snapshot::of(clean.root())
}

#[test]
fn a_first_run_that_was_killed_is_finished_by_the_next() {
    for file in [".hardway.lock", "secrets/identity.json", "secrets/service-account.key"] {
        let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
        cut_off(&work, file);
        work.ok(&CREATE).does_not_say("is kept");
        undisturbed(&work).assert_same(&Snapshot::of(work.root()));
    }
    let made = work::made();
    for file in [".assets.lock.next", "manifests/cluster-config.yaml", "bootstrap.ign", ".hardway-release"] {
        let work = made.copy(&["install-config.yaml", "inventory.yaml", "secrets/"]).on_disk();
        cut_off(&work, file);
        work.ok(&CREATE).does_not_say("is kept");
        Snapshot::of(made.root()).assert_same(&Snapshot::of(work.root()));
    }
}

#[test]
fn any_number_of_killed_runs_with_changing_inputs_is_finished_by_the_next() {
    let work = work::made().on_disk();
    let mirrors = "imageDigestSources:\n- {source: quay.io/a, mirrors: [m.example.com/a]}\n";
    let domain =
        |name: &str| INSTALL_CONFIG.replace("baseDomain: example.com", &format!("baseDomain: {name}"));
    let inputs = [domain("example.com"), domain("example.net"), domain("example.org") + mirrors];
    let files = [
        ".assets.lock.next",
        "pki/kube-apiserver-lb-server.crt",
        "auth/kubeconfig",
        "manifests/cluster-dns-02-config.yml",
        "metadata.json",
        "bootstrap.ign",
        "assets.lock",
    ];
    for i in 0..18 {
        work.write("install-config.yaml", &inputs[(i + 1) % inputs.len()]);
        if i % 3 == 2 {
            cut_off_after(&work, Duration::from_millis(u64::try_from(i).unwrap() * 5));
        } else {
            cut_off(&work, files[i % files.len()]);
        }
    }
    for config in &inputs {
        work.write("install-config.yaml", config);
        work.ok(&CREATE).does_not_say("is kept");
        undisturbed(&work).assert_same(&Snapshot::of(work.root()));
    }
}

#[test]
fn files_of_an_unfinished_run_are_known_as_ours() {
    let before = work::made();
    let after = before.copy(&[""]);
    after.edit("install-config.yaml", "baseDomain: example.com", "baseDomain: example.org");
    after.ok(&CREATE);
    let (old, new) = (Snapshot::of(before.root()), Snapshot::of(after.root()));
    let changed: Vec<String> = old.changes(&new).into_iter().filter(|path| path != "assets.lock").collect();
    assert!(changed.len() > 20, "{changed:#?}");

    // As if the run had been cut off after so many files.
    for written in [0, 1, changed.len() / 2, changed.len()] {
        let work = before.copy(&[""]);
        work.write("install-config.yaml", after.read("install-config.yaml"));
        work.write(".assets.lock.next", after.read("assets.lock"));
        let done = &changed[..written];
        new.restore(work.root(), |path| path.starts_with("secrets/") || done.iter().any(|one| one == path));
        work.write("manifests/.hardway-Ab12Cd", "unfinished");
        work.write("secrets/.hardway-Ab12Cd", "unfinished");
        let status = work.ok(&["status"]).stdout;
        assert!(!status.contains("edited by hand"), "{status}");
        work.ok(&CREATE).does_not_say("is kept");
        new.assert_same(&Snapshot::of(work.root()));
    }
}

#[test]
fn a_run_that_was_cut_off_at_its_very_end_is_finished() {
    let work = work::made();
    let whole = Snapshot::of(work.root());
    work.write(".assets.lock.next", work.read("assets.lock"));
    work.ok(&CREATE).says("0 files made");
    whole.assert_same(&Snapshot::of(work.root()));
}

#[test]
fn a_file_edited_after_the_cut_is_still_the_users() {
    let work = work::made();
    let path = "manifests/cluster-dns-02-config.yml";
    work.write(".assets.lock.next", work.read("assets.lock"));
    work.edit(path, "type: \"\"", "type: AWS");
    work.ok(&CREATE).says(&format!("{path} was edited by hand and is kept"));
    assert!(work.read(path).contains("type: AWS"));
}
