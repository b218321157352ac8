//! Everything that is generated is explained, and nothing is explained that is not generated.

use std::collections::BTreeSet;

use super::{Catalogue, Kind};
use crate::kubeconfigs::KUBECONFIGS;
use crate::pki::catalogue::{BUNDLES, CertificateSpec, Holder, KEY_PAIRS, SSH_KEY, certificates};
use crate::{example, host_identity};

#[test]
fn every_explanation_has_all_five_lines() {
    for e in Catalogue::of_assets().iter() {
        for (label, text) in [
            ("what", e.what),
            ("why", e.why),
            ("readers", e.readers),
            ("without", e.without),
            ("source", e.source),
        ] {
            assert!(!text.is_empty(), "{:?} {}: no `{label}:` line", e.kind, e.name);
        }
    }
}

#[test]
fn no_name_stands_twice_within_a_kind() {
    let mut seen = BTreeSet::new();
    for e in Catalogue::of_assets().iter() {
        assert!(seen.insert((e.kind, e.name)), "{:?} {} is explained twice", e.kind, e.name);
    }
}

#[test]
fn certificates_bundles_and_key_pairs_are_explained() {
    let cluster = example::cluster();
    let host = cluster.node_name(cluster.bootstrap_host());
    let name = |row: CertificateSpec| match row.holder {
        Holder::Cluster | Holder::Operator => row.name.replace(&host, "<host>"),
        Holder::Host => host_identity::certificate("<host>"),
    };
    let rows = certificates(&cluster).into_iter().map(name);
    let others = BUNDLES.iter().map(|bundle| bundle.name).chain(KEY_PAIRS.iter().copied());
    let others = others.map(str::to_owned).chain([SSH_KEY.to_owned(), host_identity::ssh_host_key("<host>")]);
    assert_same(Kind::Certificate, rows.chain(others));
}

#[test]
fn kubeconfigs_are_explained() {
    assert_same(
        Kind::Kubeconfig,
        KUBECONFIGS.iter().map(|row| row.path.to_owned()).chain([host_identity::kubeconfig("<host>")]),
    );
}

/// The names of a kind and the generated things are the same set.
fn assert_same(kind: Kind, generated: impl Iterator<Item = String>) {
    let catalogue = Catalogue::of_assets();
    let explained: BTreeSet<&str> = catalogue.iter().filter(|e| e.kind == kind).map(|e| e.name).collect();
    let generated: BTreeSet<String> = generated.collect();
    let missing: Vec<&String> = generated.iter().filter(|name| !explained.contains(name.as_str())).collect();
    let idle: Vec<&&str> = explained.iter().filter(|name| !generated.contains(**name)).collect();
    assert!(missing.is_empty() && idle.is_empty(), "{kind:?}: unexplained {missing:?}, not made {idle:?}");
}
