//! Any bytes as a certificate request: the reader comes back, and what is approved is worth nothing to anybody but its node.
//!
//! The first byte says which kind of request the API server keeps; the rest is DER. No fuzzer signs anything, so each request
//! is also judged as if its key had signed it: that is what somebody with a key of their own can do.
#![no_main]

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::OnceLock;

use base64::Engine as _;
use hardway_cluster::csr_policy::{
    CLIENT_SIGNER, Declared, Examined, IgnitionEvidence, Name, Request, SERVING_SIGNER, SeenNode, Settings,
    Signature, State, CsrVerdict, World, decide,
};
use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;
use serde_json::json;

const NODE: &str = "worker-0.ocp4.example.com";
const ADDRESS: &str = "192.168.126.110";
const BOOTSTRAPPER: &str = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper";

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, der)) = bytes.split_first() else { return };
    judge(&Examined::new(request(*kind, bytes.to_vec())), *kind);
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    let lines: Vec<&str> =
        text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).expect("base64")).collect();
    let pem = format!(
        "-----BEGIN CERTIFICATE REQUEST-----\n{}\n-----END CERTIFICATE REQUEST-----\n",
        lines.join("\n")
    );
    let mut examined = Examined::new(request(*kind, pem.into_bytes()));
    judge(&examined, *kind);
    if let Ok(read) = &mut examined.pkcs10 {
        read.signature = Signature::Good;
        judge(&examined, *kind);
    }
});

fn judge(examined: &Examined, kind: u8) {
    static DECLARED: OnceLock<Declared> = OnceLock::new();
    let declared = DECLARED.get_or_init(declared);
    let address: IpAddr = ADDRESS.parse().expect("an address");
    let created = Timestamp::UNIX_EPOCH;
    let joined = BTreeMap::from([(NODE.to_owned(), SeenNode { created, addresses: vec![address] })]);
    let nodes = if kind % 3 == 0 { BTreeMap::new() } else { joined };
    let settings = Settings { ignition: IgnitionEvidence::Ignored, ..Settings::default() };
    let (redemptions, approvals, rivals) = (&[], &[], &[]);
    let world =
        World { declared, nodes: &nodes, redemptions, approvals, rivals, now: now(), settings: &settings };
    let decision = decide(examined, &world);
    assert!(decision.evidence().iter().all(|line| line.len() < 4000 && !line.contains('\n')));
    if decision.verdict() != CsrVerdict::Approve {
        return;
    }
    let read = examined.pkcs10.as_ref().expect("what cannot be read is not approved");
    let node =
        examined.node().and_then(|name| declared.node(name)).expect("only expected nodes are approved");
    assert_eq!(read.organizations, ["system:nodes"]);
    assert!(
        !read.asks_for_ca && read.other_attributes.is_empty() && read.signature == Signature::Good,
        "{read:?}"
    );
    assert!(examined.request.is_serving() || read.names.is_empty(), "{read:?}");
    for name in &read.names {
        match name {
            Name::Dns(name) => assert!(*name == node.name || *name == node.host, "{name}"),
            Name::Ip(ip) => assert!(node.addresses.contains(ip), "{ip}"),
            Name::Other(other) => panic!("{other}"),
        }
    }
}

fn request(kind: u8, pem: Vec<u8>) -> Request {
    let (signer, username, usage) = match kind % 3 {
        0 => (CLIENT_SIGNER, BOOTSTRAPPER.to_owned(), "client auth"),
        1 => (CLIENT_SIGNER, format!("system:node:{NODE}"), "client auth"),
        _ => (SERVING_SIGNER, format!("system:node:{NODE}"), "server auth"),
    };
    let groups: &[&str] = match kind % 3 {
        0 => &[
            "system:serviceaccounts",
            "system:serviceaccounts:openshift-machine-config-operator",
            "system:authenticated",
        ],
        _ => &["system:nodes", "system:authenticated"],
    };
    Request {
        name: "csr-fuzz".to_owned(),
        uid: "uid-fuzz".to_owned(),
        created: now(),
        signer: signer.to_owned(),
        username,
        groups: groups.iter().map(|group| (*group).to_owned()).collect(),
        usages: vec!["digital signature".to_owned(), usage.to_owned()],
        expiration_seconds: None,
        pem,
        state: State::Pending,
    }
}

fn now() -> Timestamp {
    Timestamp::from_second(1_800_000_000).expect("a time")
}

fn declared() -> Declared {
    let declared = json!({"domain": "ocp4.example.com", "serviceNetworks": ["172.30.0.0/16"], "podNetworks": ["10.128.0.0/14"],
        "nodes": [{"node": NODE, "host": "worker-0", "addresses": [ADDRESS]},
            {"node": "master-0.ocp4.example.com", "host": "master-0", "addresses": ["192.168.126.101"]}],
        "otherAddresses": [{"address": "192.168.126.10", "of": "the API"}]});
    serde_json::from_value(declared).expect("it is of the right form")
}
