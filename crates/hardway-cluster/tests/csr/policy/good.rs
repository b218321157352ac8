//! What must be approved.

use hardway_cluster::csr_policy::{CsrVerdict, Finding, IgnitionEvidence, RULES, ReasonCode};
use hardway_cluster::declared::Declared;

use crate::csr::support::key::GOOD;
use crate::csr::support::pkcs10::{dns, ip};
use crate::csr::support::request::{ADDRESS, Draft, NODE, ago};

/// The three asks of a kubelet, and ways in which they may differ, with every kind of key.
#[test]
fn what_kubelets_ask_for_is_approved() {
    let with = |draft: Draft, change: fn(&mut Draft)| {
        let mut draft = draft;
        change(&mut draft);
        draft
    };
    let none: fn(&mut Draft) = |_| {};
    let cases: Vec<(&str, Draft, ReasonCode)> = vec![
        ("first client", with(Draft::first_client(), none), ReasonCode::FirstClient),
        ("first client from a stock pointer", with(Draft::stock_client(), none), ReasonCode::FirstClient),
        (
            "first client of the second generation",
            with(Draft::first_client(), |d| d.next_generation(ago(700), false)),
            ReasonCode::FirstClient,
        ),
        (
            "old kubelet",
            with(Draft::first_client(), |d| d.request.usages.push("key encipherment".into())),
            ReasonCode::FirstClient,
        ),
        (
            "groups in another order",
            with(Draft::first_client(), |d| d.request.groups.reverse()),
            ReasonCode::FirstClient,
        ),
        ("no ignition server", with(Draft::first_client(), Draft::nobody_serves), ReasonCode::FirstClient),
        (
            "short lifetime",
            with(Draft::first_client(), |d| d.request.expiration_seconds = Some(3600)),
            ReasonCode::FirstClient,
        ),
        ("renewal", with(Draft::client_renewal(), none), ReasonCode::ClientRenewal),
        ("serving", with(Draft::serving(), none), ReasonCode::FirstServing),
        (
            "serving at its address only",
            with(Draft::serving(), |d| d.pkcs10.names = vec![ip(ADDRESS)]),
            ReasonCode::FirstServing,
        ),
        (
            "serving under its name only",
            with(Draft::serving(), |d| d.pkcs10.names = vec![dns(NODE)]),
            ReasonCode::FirstServing,
        ),
        (
            "serving before it reports",
            with(Draft::serving(), |d| d.nodes.get_mut(NODE).unwrap().addresses.clear()),
            ReasonCode::FirstServing,
        ),
        ("token", with(Draft::stock_client(), bootstrap_token), ReasonCode::FirstClient),
        (
            "any config",
            with(Draft::first_client(), |d| {
                d.settings.ignition = IgnitionEvidence::Ignored;
                d.nobody_serves();
            }),
            ReasonCode::FirstClient,
        ),
    ];
    for (name, draft, reason) in &cases {
        for (kind, key) in &*GOOD {
            let decision = draft.decide(key);
            assert_eq!(
                (decision.verdict(), decision.reason()),
                (CsrVerdict::Approve, *reason),
                "{name} {kind}: {decision:?}"
            );
        }
    }
}

fn bootstrap_token(draft: &mut Draft) {
    draft.settings.bootstrap_tokens = true;
    draft.request.username = "system:bootstrap:abc123".into();
    draft.request.groups = vec!["system:bootstrappers".into(), "system:authenticated".into()];
}

/// Both address families, and a host whose own address the API is reached at.
#[test]
fn addresses_are_compared_as_addresses() {
    let mut draft = Draft::serving();
    draft.declared.nodes[3].addresses.push("fd00::5".parse().unwrap());
    draft.pkcs10.names.push(ip("fd00:0:0:0::5"));
    assert_eq!(draft.decide(&GOOD[0].1).verdict(), CsrVerdict::Approve);
    draft.declared.other_addresses.iter_mut().for_each(|other| other.address = ADDRESS.parse().unwrap());
    assert_eq!(draft.decide(&GOOD[0].1).verdict(), CsrVerdict::Approve, "a single node is also the API");
}

#[test]
fn every_rule_tells_what_it_found() {
    let decision = Draft::serving().decide(&GOOD[0].1);
    let rules: Vec<&str> = RULES.iter().flat_map(|group| group.iter().map(|rule| rule.name)).collect();
    assert_eq!(decision.findings().iter().map(|found| found.rule).collect::<Vec<_>>(), rules);
    assert!(decision.findings().iter().all(|found| found.finding.objection().is_none()));
    let told =
        decision.findings().iter().filter(|found| matches!(found.finding, Finding::Fits { .. })).count();
    assert_eq!(decision.evidence().len(), told);
}

#[test]
fn what_is_declared_survives_its_file() {
    let declared = Draft::serving().declared;
    let text = serde_json::to_string(&declared).unwrap();
    assert_eq!(serde_json::from_str::<Declared>(&text).unwrap(), declared);
    assert_eq!(declared.nodes.len(), 5, "the bootstrap host is no node");
    assert!(text.contains(r#""identity":{"user":"hardway:host:worker-0:1"}"#), "{text}");
}

/// One of an older version says nothing about identities. Read as "none", it would let a host in with the shared one.
#[test]
fn what_does_not_say_who_a_host_asks_as_is_refused() {
    let document = |identity: &str| {
        format!(
            r#"{{"domain": "x.example", "nodes": [{{"node": "a.x.example", "host": "a", "addresses": ["10.0.0.1"]{identity}}}],
            "serviceNetworks": [], "podNetworks": [], "otherAddresses": []}}"#
        )
    };
    let error = serde_json::from_str::<Declared>(&document("")).unwrap_err();
    assert!(error.to_string().contains("missing field `identity`"), "{error}");
    let stock = serde_json::from_str::<Declared>(&document(r#", "identity": null"#)).unwrap();
    assert_eq!(stock.nodes[0].identity, None);
}
