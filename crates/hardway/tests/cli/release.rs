//! `release/`: the release that was used is kept, and gives the same bytes again.

use std::process::Command;

use hardway_testing::{INVENTORY, Snapshot};

use crate::work;

const CREATE: [&str; 2] = ["create", "ignition-configs"];

/// An inventory that names a release by what is no digest.
fn foreign() -> String {
    INVENTORY.replace("image: sample", "image: quay.io/ocp@sha256:00")
}

#[test]
fn the_kept_release_gives_the_same_bytes() {
    let made = work::made();
    let copy = made.copy(&["install-config.yaml", "inventory.yaml", "secrets/"]);
    let kept = made.path("release");
    copy.ok(&[&CREATE[..], &["--release-dir", kept.to_str().unwrap()]].concat())
        .says("built-in sample release");
    Snapshot::of(made.root()).assert_same(&Snapshot::of(copy.root()));

    // From itself, too; and then nothing is written.
    let before = Snapshot::of(copy.root());
    copy.ok(&[&CREATE[..], &["--release-dir", "release"]].concat()).says("0 files made");
    before.assert_untouched(&Snapshot::of(copy.root()));
    let mut sums = Command::new("sha256sum");
    sums.args(["--check", "--strict", "--quiet", "sha256sums"]).current_dir(copy.path("release"));
    assert!(sums.status().unwrap().success());
}

#[test]
fn another_release_takes_its_place() {
    let made = work::made();
    let other = made.copy(&["release/"]);
    other.edit("release/release-metadata", "\"4.18.", "\"4.19.");
    let references = other.read("release/image-references").replace("\"name\": \"4.18.", "\"name\": \"4.19.");
    other.write("release/image-references", references);
    let folder = other.path("release");
    let args = [&CREATE[..], &["--release-dir", folder.to_str().unwrap(), "--log-level", "debug"]].concat();

    made.ok(&args).says("release changed: version").says("release/ now holds the release that was used");
    assert!(made.read("release/release-metadata").contains("\"4.19."));
    let before = Snapshot::of(made.root());
    made.ok(&args).says("0 files made").does_not_say("release/ now holds");
    before.assert_untouched(&Snapshot::of(made.root()));
    assert!(before.paths().all(|path| !path.starts_with(".hardway-")));

    made.ok(&CREATE);
    assert!(made.read("release/release-metadata").contains("\"4.18."));
}

/// A lab's release says which of its components are stand-ins; that is kept, and told whenever somebody looks.
#[test]
fn stand_ins_are_kept_and_told() {
    let made = work::made();
    made.ok(&["status"]).does_not_say("stand-ins");
    let other = made.copy(&["release/"]);
    other.edit(
        "release/release-metadata",
        "\"metadata\": {",
        "\"metadata\": {\"stand-ins\": \"cli, pod\", \"real\": \"etcd, kubectl (in cli)\",",
    );
    let folder = other.path("release");
    made.ok(&[&CREATE[..], &["--release-dir", folder.to_str().unwrap()]].concat());
    assert!(made.read("release/release-metadata").contains("\"stand-ins\": \"cli, pod\""));
    made.ok(&["status", "--release-dir", "release"]).says(
        "2 components of this release are stand-ins, so results say nothing about the real ones: cli, pod; real: etcd, kubectl (in \
         cli)",
    );
}

#[test]
fn a_release_that_lies_there_by_digest_need_not_be_fetched() {
    let work = work::made();
    let image = work.read("release/release-image");
    work.write("inventory.yaml", INVENTORY.replace("image: sample", &format!("image: {}", image.trim())));
    work.ok(&CREATE).says("as kept in release/").does_not_say("fetching");
    work.ok(&["status"]);
    work.write("inventory.yaml", foreign());
    work.refused(3, &CREATE).says("inventory.yaml:4:10").says("error[inventory-invalid]: 1 mistake");
    work.refused(3, &["status"]).says("inventory.yaml:4:10");
}

#[test]
fn a_release_folder_of_the_users_own_is_left_alone() {
    let work = work::made();
    work.write("release/crds/mine.txt", "mine");
    work.ok(&CREATE).says("warning: release/ was edited by hand or not written by hardway: it is kept");
    assert_eq!(work.read("release/crds/mine.txt"), "mine");
    // What is used from there is not told to be missing there.
    work.ok(&[&CREATE[..], &["--release-dir", "release"]].concat()).does_not_say("release/ was edited");
    work.remove("release/crds/mine.txt");
    work.ok(&CREATE).does_not_say("release/ was edited");
}
