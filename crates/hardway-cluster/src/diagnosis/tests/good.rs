//! Clusters in which nothing is broken.

use std::net::{IpAddr, Ipv4Addr};

use hardway_assets::ignition::bootstrap_files::STAGES;
use serde_json::json;

use crate::bootstrap_progress::{BootstrapReport, entries};
use crate::diagnosis::evidence::{Api, ConfigFacts, Evidence, FolderFacts, NameFacts, Port};
use crate::handshake::NoAnswer;
use crate::testing::{all_nodes, at, bootstrap, declared, etcd, node, operator, version};
use crate::verify::ResolvedName;
use crate::watch::{ClusterEvent, WatchedKind};

pub(super) fn vip() -> IpAddr {
    Ipv4Addr::new(192, 168, 126, 10).into()
}

pub(super) fn resolved(name: &str) -> Option<ResolvedName> {
    Some(ResolvedName {
        name: format!("{name}.ocp4.example.com"),
        expected: vec![vip()],
        found: Ok(vec![vip()]),
    })
}

fn surroundings() -> Evidence {
    let stray = ResolvedName { found: Err(NoAnswer::Late), ..resolved("nobody").unwrap() };
    Evidence {
        now: Some(at(0)),
        declared: declared(),
        domain: Some("ocp4.example.com".to_owned()),
        api: Api::Answers,
        names: NameFacts {
            api: resolved("api"),
            api_int: resolved("api-int"),
            apps: resolved("x.apps"),
            stray: Some(stray),
        },
        ports: [6443, 22623].map(|port| Port { host: "api-int".to_owned(), port, open: Ok(()) }).into(),
        folder: FolderFacts {
            configs: [("master.ign".to_owned(), ConfigFacts::of(b"{\"ignition\":{\"version\":\"3.2.0\"}}"))]
                .into(),
            password_fits: Some(true),
            ..FolderFacts::default()
        },
        ..Evidence::default()
    }
}

/// The bootstrap host is at work, the masters are nodes.
pub(super) fn booting() -> Evidence {
    let mut evidence = surroundings();
    let masters = ["m0", "m1", "m2"].map(|name| node(name, "master", true));
    evidence.state.apply(&ClusterEvent::Listed(WatchedKind::Nodes, masters.into()));
    evidence.bootstrap = Some(report(""));
    evidence
}

/// Everything is over.
pub(super) fn settled() -> Evidence {
    let mut evidence = surroundings();
    evidence.state.apply(&all_nodes());
    evidence.state.apply(&bootstrap("complete").into());
    evidence.state.apply(&etcd(&["EtcdRunningInCluster", "EtcdBootstrapMemberRemoved"]).into());
    evidence.state.apply(&version("TFF", "Cluster version is 4.18.1").into());
    for name in ["authentication", "console", "etcd", "ingress", "monitoring", "network"] {
        evidence.state.apply(&operator(name, "TFF").into());
    }
    evidence.infrastructure =
        Some(json!({"status": {"apiServerInternalURI": "https://api-int.ocp4.example.com:6443",
            "controlPlaneTopology": "HighlyAvailable", "infrastructureTopology": "HighlyAvailable"}}));
    evidence
}

/// With these entries of bootkube's record.
pub(super) fn report(bootkube: &str) -> BootstrapReport {
    let mut report = BootstrapReport::new(STAGES, [("bootkube".to_owned(), entries(bootkube))].into());
    report.clock = Some(at(2));
    report
}
