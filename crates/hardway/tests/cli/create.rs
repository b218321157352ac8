//! `init`, `create`, `status`: the way everybody goes.

use hardway_assets::inventory::Provider;
use hardway_testing::{INSTALL_CONFIG, INVENTORY, Snapshot, Work};

use crate::work;

#[test]
fn the_way_from_nothing_to_ignition_configs() {
    let work = work::empty();
    work.ok(&["init"]).says("install-config.yaml written").says("inventory.yaml written");
    assert_eq!(work.mode("install-config.yaml"), 0o600);
    work.write("inventory.yaml", work.read("inventory.yaml") + "pki: {keyAlgorithm: ECDSA-P256}\n");

    work.ok(&["create", "manifests"]).says("Manifests created in: ./manifests, ./openshift");
    assert!(work.exists("manifests/cluster-config.yaml") && !work.exists("bootstrap.ign"));
    let status = work.ok(&["status"]).stdout;
    assert!(status.contains("bootstrap-ignition") && status.contains("not made yet"), "{status}");

    work.ok(&["create", "ignition-configs"]).says("Ignition-Configs created in: . and ./ignition");
    for name in ["bootstrap.ign", "master.ign", "worker.ign", "ignition/master-0.ign", "auth/kubeconfig"] {
        assert!(work.exists(name), "{name}");
    }
    let status = work.ok(&["status"]).stdout;
    assert!(!status.contains("stale"), "{status}");
    assert!(status.contains("next certificate to expire: "), "{status}");

    let before = Snapshot::of(work.root());
    work.ok(&["create", "ignition-configs"]).says("0 files made");
    work.ok(&["create", "manifests"]).says("0 files made");
    before.assert_untouched(&Snapshot::of(work.root()));
}

#[test]
fn init_never_writes_over_a_file() {
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    work.refused(2, &["init"]).says("install-config.yaml and inventory.yaml already exist");
    work.remove("install-config.yaml");
    work.ok(&["create", "install-config"])
        .says("inventory.yaml already exists and is kept")
        .says("install-config.yaml written");
    assert_eq!(work.read("inventory.yaml"), INVENTORY);
}

/// With what is optional, too: the comments of the sample are meant to be taken off.
#[test]
fn the_sample_of_every_provider_is_whole() {
    for provider in Provider::ALL.iter().map(|provider| provider.name()) {
        let work = work::empty();
        work.ok(&["init", "--provider", provider, "--release", "sample"]);
        let text = work.read("inventory.yaml");
        let is_setting = |line: &str| line.contains(": ") || line.ends_with(':');
        let taken_off = |line: &str| match line.split_once("# ") {
            Some(("  ", rest)) if is_setting(rest) && !rest.starts_with("All of") => format!("  {rest}\n"),
            Some(("", rest)) if rest.starts_with("ignitionServer") => format!("{rest}\n"),
            _ => format!("{line}\n"),
        };
        let all: String = text.lines().map(taken_off).collect();
        assert_eq!(provider == "bare-metal", all != text, "{all}");
        for text in [&text, &all] {
            work.write("inventory.yaml", format!("{text}pki: {{keyAlgorithm: ECDSA-P256}}\n"));
            let ran = work.ok(&["create", "manifests", "--dry-run"]);
            ran.does_not_say("warning: machines").does_not_say("not to boot machines").does_not_say("-->");
        }
        let is_metal = text.contains("00:00:5e:00:53:64") && text.contains("/dev/disk/by-id");
        assert_eq!(provider == "bare-metal", is_metal && !text.contains("vda"), "{text}");
    }
}

#[test]
fn every_size_that_init_offers_can_be_created() {
    for (masters, workers) in [("1", "0"), ("3", "0"), ("5", "1"), ("9", "100")] {
        let work = work::empty();
        work.ok(&["init", "--masters", masters, "--workers", workers, "--provider", "bare-metal"]);
        let inventory = work.read("inventory.yaml") + "pki: {keyAlgorithm: ECDSA-P256}\n";
        work.write("inventory.yaml", inventory);
        work.ok(&["graph", "-o", "json"]);
    }
    let work = work::empty();
    work.refused(2, &["init", "--masters", "10"]);
    work.refused(2, &["init", "--masters", "0"]);
    work.refused(2, &["init", "--workers", "101"]);
}

#[test]
fn a_single_node_installs_itself() {
    let in_place = |work: &Work| {
        work.edit("install-config.yaml", "replicas: 3", "replicas: 1");
        work.edit("install-config.yaml", "replicas: 1\npull", "replicas: 0\npull");
        let config = work.read("install-config.yaml") + "bootstrapInPlace: {installationDisk: /dev/vda}\n";
        work.write("install-config.yaml", config);
        let hosts = work.read("inventory.yaml");
        let kept =
            |line: &&str| !["bootstrap", "master-1", "master-2", "worker-0"].iter().any(|h| line.contains(h));
        work.write(
            "inventory.yaml",
            hosts.lines().filter(kept).map(|l| l.to_owned() + "\n").collect::<String>(),
        );
    };
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    in_place(&work);

    work.refused(3, &["create", "ignition-configs"])
        .says("bootstrapInPlace: Forbidden: there is no bootstrap host")
        .says("--> install-config.yaml:23:1")
        .says("hardway create single-node-ignition-config");
    work.ok(&["create", "single-node-ignition-config"]).says("Single-Node-Ignition-Config created in: .");
    assert!(work.exists("bootstrap-in-place-for-live-iso.ign") && !work.exists("bootstrap.ign"));
    work.ok(&["create", "single-node-ignition-config"]).says("0 files made");

    let many = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    many.refused(3, &["create", "single-node-ignition-config"])
        .says("bootstrapInPlace")
        .says("--> install-config.yaml:");
}

/// As an earlier hardway drew them.
#[test]
fn signers_that_no_operator_can_sign_with_are_refused() {
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    work.ok(&["create", "manifests"]);
    assert!(work.read("secrets/etcd-signer.key").starts_with("-----BEGIN RSA PRIVATE KEY-----"));
    let ecdsa = work.read("secrets/admin-kubeconfig-signer.key");
    assert!(ecdsa.starts_with("-----BEGIN PRIVATE KEY-----"), "the inventory of tests asks for ECDSA");

    work.write("secrets/etcd-signer.key", &ecdsa);
    let before = Snapshot::of(work.root());
    work.refused(1, &["create", "manifests"])
        .says("secrets-damaged")
        .says("secrets/etcd-signer.key is an ECDSA key")
        .says("move secrets/ away")
        .does_not_say("root-ca");
    before.assert_untouched(&Snapshot::of(work.root()));
}
