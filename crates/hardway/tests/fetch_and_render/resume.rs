//! A run that is killed while it fetches or renders is finished by the next.

use std::process::Stdio;
use std::time::Duration;

use hardway_testing::Snapshot;

use super::site::{CREATE, REPOSITORY, Site, TAG};
use crate::fixture::cutter::Cutter;
use crate::fixture::release::ReleaseImage;

/// Starts a run and kills it as soon as this file is there.
fn cut_off(site: &Site, file: &str) {
    let mut child = site.command(&[&CREATE[..], &["--plain-http"]].concat());
    let mut child = child.stderr(Stdio::null()).spawn().unwrap();
    while !site.work.exists(file) && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_killed_run_is_finished_by_the_next() {
    let Some(site) = Site::new() else { return };
    site.create(&[]).expect(0);
    let whole = Snapshot::of(site.work.root());
    for file in [
        ".assets.lock.next",
        "manifests/cluster-config.yaml",
        ".hardway-release",
        "release/release-image",
        "render-nodes/auth.json",
        "render-nodes/assets/operator/bootstrap/manifests/master.machineconfigpool.yaml",
        "release/rendered/master.yaml",
        "ignition/master-0.ign",
    ] {
        // On a disk, where writing takes its time.
        let inputs = site.work.copy(&["install-config.yaml", "inventory.yaml", "secrets/"]);
        let site = Site { work: inputs.on_disk(), ..Site::new().unwrap() };
        let image = whole_image(&inputs.read("inventory.yaml"));
        site.name(&image);
        cut_off(&site, file);
        site.create(&[]).expect(0).does_not_say("is kept and");
        whole.assert_same(&Snapshot::of(site.work.root()));
    }
}

fn whole_image(inventory: &str) -> String {
    let line = inventory.lines().find_map(|line| line.trim().strip_prefix("image: "));
    line.unwrap().to_owned()
}

#[test]
fn a_fetch_that_was_killed_goes_on_from_the_cache() {
    let noise: Vec<u8> =
        (0..300_000_u64).map(|i| (i.wrapping_mul(i).wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let large = vec![("0000_50_large.txt".to_owned(), noise)];
    let Some(site) = Site::of(|release| ReleaseImage { extra: large, ..release }) else { return };
    let cutter = Cutter::before(site.registry.port);
    site.name(&format!("127.0.0.1:{}/{REPOSITORY}:{TAG}", cutter.port));
    cutter.cut(&site.release.layer(2).to_string(), 10_000, 1000);
    let args = ["create", "manifests", "--plain-http"];
    let before = Snapshot::of(site.work.root());
    let mut child = site.command(&args).stderr(Stdio::null()).spawn().unwrap();
    // It was cut once, and asks for the rest.
    while cutter.ranges.lock().unwrap().is_empty() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    before.assert_untouched(&Snapshot::of(site.work.root()));
    cutter.cut("nothing", 0, 0);
    cutter.ranges.lock().unwrap().clear();
    site.run(&args).expect(0);
    let ranges = cutter.ranges.lock().unwrap().clone();
    assert!(ranges.iter().any(|range| range.starts_with("range: bytes=")), "{ranges:?}");
}
