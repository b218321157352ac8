//! Certificates near their end: told, and renewed with the same keys.

use std::collections::BTreeMap;

use hardway_assets::pki::{CertificateFacts, inspect};
use hardway_testing::{INSTALL_CONFIG, INVENTORY, Snapshot, Work};

use crate::work;

/// The certificates that live a day (`shortLivedHours`), as openshift-install's do, and hosts' own identities.
const SHORT_LIVED: [&str; 13] = [
    "aggregator-ca",
    "aggregator-client",
    "aggregator-signer",
    "apiserver-proxy",
    "host-identity-master-0",
    "host-identity-master-1",
    "host-identity-master-2",
    "host-identity-worker-0",
    "kube-apiserver-internal-lb-server",
    "kube-apiserver-lb-server",
    "kube-apiserver-localhost-server",
    "kube-apiserver-service-network-server",
    "kubelet-signer",
];

/// The first certificate of every file in `pki/`, bundles aside.
fn certificates(work: &Work) -> BTreeMap<String, CertificateFacts> {
    let snapshot = Snapshot::of(work.root());
    let names = snapshot.paths().filter_map(|path| path.strip_prefix("pki/")?.strip_suffix(".crt"));
    let alone = names.filter(|name| !name.ends_with("-bundle"));
    let read = |name: &str| inspect(&work.read(&format!("pki/{name}.crt"))).unwrap().remove(0);
    alone.map(|name| (name.to_owned(), read(name))).collect()
}

/// Which certificates `status` says this about.
fn told(status: &str, what: &str) -> Vec<String> {
    let mut told: Vec<String> = status
        .split(['\n', ';'])
        .filter_map(|part| part.split_once("certificate ")?.1.split_once(what))
        .map(|(name, _)| name.to_owned())
        .collect();
    told.sort();
    told
}

#[test]
fn short_lived_certificates_are_renewed_with_their_keys() {
    let work = work::made();
    let later = "2026-11-15T20:00:00Z";
    let status = work.run_at(later, &["status", "--all"]).expect(0).stdout;
    assert_eq!(told(&status, " expires in 4 h"), SHORT_LIVED);
    let (files_before, before) = (Snapshot::of(work.root()), certificates(&work));

    work.run_at(later, &["create", "ignition-configs"]).expect(0).does_not_say("edited by hand");
    let (files_after, after) = (Snapshot::of(work.root()), certificates(&work));
    assert_eq!(before.len(), after.len());
    for (name, old) in &before {
        let new = &after[name];
        assert_eq!(old.public_key_info, new.public_key_info, "{name}");
        assert_eq!((&old.subject, &old.issuer, &old.sans), (&new.subject, &new.issuer, &new.sans), "{name}");
        let end = if SHORT_LIVED.contains(&name.as_str()) {
            "2026-11-16T20:00:00Z".parse().unwrap()
        } else {
            old.not_after
        };
        assert_eq!(new.not_after, end, "{name}");
    }
    for path in files_before.changes(&files_after) {
        let name = path.strip_prefix("pki/").map(|name| name.trim_end_matches(".crt"));
        let is_renewed = name.is_none_or(|name| name.ends_with("-bundle") || SHORT_LIVED.contains(&name));
        assert!(
            is_renewed && (!path.starts_with("secrets/") || path == "secrets/identity.json"),
            "{path} changed"
        );
    }
    let status = work.run_at(later, &["status", "--all"]).expect(0).stdout;
    assert!(!status.contains("stale"), "{status}");
    work.run_at(later, &["create", "ignition-configs"]).expect(0).says("0 files made");
    files_after.assert_untouched(&Snapshot::of(work.root()));
}

#[test]
fn expired_certificates_are_told_and_renewed() {
    let work = work::made();
    let later = "2026-11-16T06:00:00Z";
    let status = work.run_at(later, &["status", "--all"]).expect(0).stdout;
    assert_eq!(told(&status, " expired 6 h ago"), SHORT_LIVED);
    assert!(status.contains("certificate aggregator-signer expired at 2026-11-16T00:00:00Z"), "{status}");
    work.run_at(later, &["create", "ignition-configs", "--log-level", "debug"])
        .expect(0)
        .says("make-pki: kubelet-signer (certificate kubelet-signer expired 6 h ago)");
    let status = work.run_at(later, &["status", "--all"]).expect(0).stdout;
    assert!(!status.contains("expired"), "{status}");
}

#[test]
fn nothing_is_renewed_before_its_time() {
    let work = work::made();
    let before = Snapshot::of(work.root());
    work.run_at("2026-11-15T18:00:00Z", &["create", "ignition-configs"]).expect(0).says("0 files made");
    before.assert_untouched(&Snapshot::of(work.root()));
}

#[test]
fn a_longer_day_can_be_asked_for() {
    let inventory = INVENTORY.replace("ECDSA-P256", "ECDSA-P256\n  shortLivedHours: 72");
    let work = work::with_inputs(INSTALL_CONFIG, &inventory);
    work.ok(&["create", "manifests"]);
    let end = "2026-11-18T00:00:00Z".parse().unwrap();
    for (name, facts) in certificates(&work) {
        assert_eq!(
            SHORT_LIVED.contains(&name.as_str()),
            facts.not_after == end,
            "{name} ends {}",
            facts.not_after
        );
    }
    let status = work.run_at("2026-11-15T20:00:00Z", &["status", "--all"]).expect(0).stdout;
    assert_eq!(told(&status, " expires in"), [""; 0]);
    let status = work.run_at("2026-11-17T12:00:00Z", &["status", "--all"]).expect(0).stdout;
    assert_eq!(told(&status, " expires in 12 h"), SHORT_LIVED);
}
