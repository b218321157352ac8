//! Phase fetch-release: the release comes once, and stays what it was.

use std::path::Path;

use hardway_testing::Snapshot;

use super::site::{CREATE, REPOSITORY, Site, TAG, release, validate};
use crate::fixture::release::ReleaseImage;
use crate::fixture::signer::{Signer, claim};

#[test]
fn a_pull_spec_becomes_the_config_of_every_node() {
    let Some(site) = Site::new() else { return };
    site.create(&[]).expect(0).says(&format!("release 4.18.99 is {}", site.by_digest()));
    validate(&site.work);
    for host in ["master-0", "master-1", "master-2", "worker-0"] {
        let pool = host.split('-').next().unwrap();
        let config = site.work.read(&format!("ignition/{host}.ign"));
        let contents = site.rendered(pool);
        assert!(config.contains("/etc/machine-config-daemon/node-annotations.json"), "{host}");
        assert!(decoded(&config).contains(&contents), "{host} is not of {contents}");
    }
    let lock = site.work.read("assets.lock");
    let line = format!("release {} {}\n", site.by_tag(), site.by_digest());
    assert!(lock.contains(&line), "no {line} in:\n{lock}");
    assert_eq!(site.work.read("release/release-image").trim(), site.by_digest());
    assert!(site.work.exists("release/0000_50_installer_coreos-bootimages.yaml"), "media are made with it");
    assert_eq!(site.work.mode("release/rendered/master.yaml"), 0o600, "it holds the pull secret");
    assert!(!site.work.exists("render-nodes"), "what the commands worked on holds the pull secret");
    site.assert_settled();
    // Not even the cache is needed.
    site.forget();
    let site = site.without_registry();
    site.assert_settled();
    let status = site.without_podman(&["status"]).expect(0).stdout;
    assert!(!status.contains("stale"), "{status}");
}

/// The contents of the files in an ignition config.
fn decoded(config: &str) -> String {
    use base64::Engine as _;
    let config: serde_json::Value = serde_json::from_str(config).unwrap();
    let files = config["storage"]["files"].as_array().unwrap().iter();
    let sources = files.filter_map(|file| file["contents"]["source"].as_str()?.split_once("base64,"));
    let decode = |encoded: &str| base64::prelude::BASE64_STANDARD.decode(encoded).unwrap();
    sources.map(|(_, encoded)| String::from_utf8_lossy(&decode(encoded)).into_owned()).collect()
}

#[test]
fn a_tag_that_moves_is_not_followed_unless_asked() {
    let Some(site) = Site::new() else { return };
    let manifests = ["create", "manifests", "--plain-http"];
    site.run(&manifests).expect(0);
    let other = ReleaseImage { ballast: 2000, ..release(site.containers) }.build();
    site.registry.pusher(REPOSITORY).image(&other, Some(TAG));

    site.run(&manifests).expect(0).says("as kept in release/").does_not_say("fetching");
    // The folder can go: the lock knows the digest.
    fs_err::remove_dir_all(site.work.path("release")).unwrap();
    let status = site.run(&["status"]).expect(0).stdout;
    assert!(status.contains("release/release-image is missing"), "{status}");
    site.forget();
    site.run(&manifests).expect(0).says(&format!("fetching the release {}", site.by_digest()));
    assert_eq!(site.work.read("release/release-image").trim(), site.by_digest());

    let moved = site.by_tag().replace(&format!(":{TAG}"), &format!("@{}", other.digest()));
    site.run(&[&manifests[..], &["--refetch-release"]].concat()).expect(0).says(&moved);
    assert_eq!(site.work.read("release/release-image").trim(), moved);
    assert!(site.work.read("assets.lock").contains(&format!("release {} {moved}\n", site.by_tag())));
}

#[test]
fn another_release_in_the_inventory_is_fetched_and_everything_follows() {
    let Some(site) = Site::new() else { return };
    site.create(&[]).expect(0);
    let next = ReleaseImage { version: "4.18.100".to_owned(), ..release(site.containers) }.build();
    site.registry.pusher(REPOSITORY).image(&next, Some("4.18.100-x86_64"));
    site.name(&site.by_tag().replace("4.18.99", "4.18.100"));

    let status = site.run(&["status"]).expect(0).stdout;
    assert!(
        status.contains("fetch-release") && status.contains("inventory changed: release.image"),
        "{status}"
    );
    site.run(&["graph"])
        .expect(1)
        .says("error[release-not-fetched]")
        .says("inventory changed: release.image");
    let before = site.rendered("master");
    let ran = site.create(&["--log-level", "debug"]).expect(0).says("release 4.18.100 is ");
    ran.says("render-nodes: ").says("release changed: version");
    assert_ne!(site.rendered("master"), before);
    validate(&site.work);
    site.assert_settled();
}

#[test]
fn a_dry_run_fetches_and_writes_nothing_here() {
    let Some(site) = Site::new() else { return };
    let before = Snapshot::of(site.work.root());
    let ran = site.create(&["--dry-run"]).expect(0);
    before.assert_untouched(&Snapshot::of(site.work.root()));
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let at = |text: &str| {
        let found = lines.iter().position(|line| line.contains(text));
        found.unwrap_or_else(|| panic!("no {text} in:\n{}", ran.stdout))
    };
    assert!(
        at("would write manifests/cluster-config.yaml (not made yet)")
            < at("would render nodes (not made yet)")
    );
    // The registry without TLS is one for podman too.
    assert!(at("would run CONTAINERS_REGISTRIES_CONF=") > 0);
    let run = at(" podman run --rm --user=0 --net=none");
    assert!(
        lines[run].contains(&format!("{} bootstrap --root-ca=", site.containers.image)),
        "{}",
        lines[run]
    );
    assert!(lines[run + 1].contains("--entrypoint=/usr/bin/machine-config-controller"), "{}", lines[run + 1]);
    assert!(run < at("would write ignition/master-0.ign (waits for rendered-nodes)"));
    // What was said is what happens: the commands are run as they were printed.
    assert_eq!(site.run(&CREATE).code, Some(1), "plain HTTP was not asked for");
}

#[test]
fn who_signed_the_release_is_checked_when_it_is_fetched() {
    let Some(site) = Site::new() else { return };
    let (signer, stranger) = (Signer::new(), Signer::new());
    let digest = site.release.digest();
    let signature = signer.sign(&claim(&digest), &digest, 1);
    let create = |keyring: &Path| {
        let by = ["--keyring", keyring.to_str().unwrap(), "--signature", signature.to_str().unwrap()];
        site.run(&[&["create", "manifests", "--plain-http"][..], &by].concat())
    };
    let before = Snapshot::of(site.work.root());
    create(&stranger.keyring()).expect(1).says("error[signature-invalid]");
    before.assert_untouched(&Snapshot::of(site.work.root()));
    create(&signer.keyring()).expect(0).says(&format!("{digest} is signed by key"));
    create(&stranger.keyring()).expect(0).says(
        "warning: the signature of the release was not checked: it was fetched before; --refetch-release",
    );
    let anew = ["create", "manifests", "--plain-http", "--refetch-release"];
    site.run(&anew).expect(0).says(&format!("not verifying the signature of {digest}"));
}
