//! `--dry-run` and `--log-level debug`: what would be done, and why.

use hardway_testing::{INSTALL_CONFIG, INVENTORY, Snapshot};

use crate::work;

const DRY: [&str; 3] = ["create", "ignition-configs", "--dry-run"];

#[test]
fn a_first_dry_run_names_every_file_and_writes_none() {
    let made = Snapshot::of(work::made().root());
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    let ran = work.refused(0, &DRY);
    let listed: Vec<&str> = ran
        .stdout
        .lines()
        .map(|line| line.strip_prefix("would write ").and_then(|line| line.split_once(" (")).unwrap().0)
        .collect();
    let mut sorted = listed.clone();
    sorted.sort_unstable();
    let own = ["install-config.yaml", "inventory.yaml", "assets.lock", ".hardway.lock"];
    let mut expected: Vec<&str> = made
        .files()
        .map(|(path, ..)| path)
        .filter(|path| !path.starts_with("release/") || path.starts_with("release/rendered/"))
        .filter(|path| !own.contains(path))
        .chain(["release/"])
        .collect();
    expected.sort_unstable();
    assert_eq!(sorted, expected);
    assert!(ran.stdout.contains("would write bootstrap.ign (not made yet)\n"));
    ran.says("files would be made, 0 already up to date");
}

#[test]
fn a_dry_run_names_the_reasons() {
    let work = work::made();
    let ran = work.refused(0, &DRY);
    assert_eq!(ran.stdout, "");
    let mirrors = "imageDigestSources:\n- {source: quay.io/a, mirrors: [m.example.com/a]}\n";
    work.write("install-config.yaml", INSTALL_CONFIG.to_owned() + mirrors);
    work.ok(&["create", "ignition-configs"]);

    work.write("install-config.yaml", INSTALL_CONFIG.replace("10.128.0.0/14", "10.132.0.0/14"));
    work.edit("manifests/cluster-dns-02-config.yml", "type: \"\"", "type: AWS");
    let ran = work.refused(0, &DRY);
    for line in [
        "would write manifests/cluster-network-02-config.yml (install-config changed: networking.clusterNetwork)",
        "would keep manifests/cluster-dns-02-config.yml (edited by hand)",
        "would remove manifests/image-digest-mirror-set.yaml (no longer needed)",
    ] {
        assert!(ran.stdout.lines().any(|said| said.starts_with(line)), "{line} is not in:\n{}", ran.stdout);
    }
    work.edit("manifests/image-digest-mirror-set.yaml", "m.example.com/a", "n.example.com/a");
    let ran = work.refused(0, &DRY);
    let line = "would keep manifests/image-digest-mirror-set.yaml (no longer needed, but edited by hand)\n";
    assert!(ran.stdout.contains(line), "{}", ran.stdout);
}

#[test]
fn a_dry_run_names_renewals() {
    let work = work::made();
    let before = Snapshot::of(work.root());
    let ran = work.run_at("2026-11-15T20:00:00Z", &DRY).expect(0);
    before.assert_untouched(&Snapshot::of(work.root()));
    for line in [
        "would write secrets/identity.json (certificates are renewed)\n",
        "would write pki/kubelet-signer.crt (certificate kubelet-signer expires in 4 h)\n",
    ] {
        assert!(ran.stdout.contains(line), "{line} is not in:\n{}", ran.stdout);
    }
}

#[test]
fn debug_names_the_reason_of_everything_that_is_made() {
    let work = work::made();
    work.edit("install-config.yaml", "10.128.0.0/14", "10.132.0.0/14");
    let ran = work.ok(&["create", "ignition-configs", "--log-level", "debug"]);
    let reasons: Vec<&str> = ran.stderr.lines().filter(|line| line.starts_with("debug: make-")).collect();
    assert!(
        reasons.len() > 2 && reasons.iter().all(|line| line.contains(" (") && line.ends_with(')')),
        "{reasons:#?}"
    );
    ran.says("debug: make-manifests: network (install-config changed: networking.clusterNetwork")
        .says("debug: make-ignition: bootstrap-ignition (");
}
