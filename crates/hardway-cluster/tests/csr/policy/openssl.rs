//! Requests that another program wrote.

use std::process::Command;

use hardway_cluster::csr_policy::{CsrVerdict, Examined, ReasonCode as R, Request};

use crate::csr::support::request::{Draft, NODE};

/// With a key of that kind, made by OpenSSL.
fn examined(draft: &Draft, key: &[&str], more: &[&str]) -> Examined {
    let subject = format!("/O=system:nodes/CN=system:node:{NODE}");
    let mut command = Command::new("openssl");
    command.args(["req", "-new", "-nodes", "-keyout", "/dev/null", "-subj", &subject, "-newkey"]);
    let output = command.args(key).args(more).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Examined::new(Request { pem: output.stdout, ..draft.request.clone() })
}

#[test]
fn keys_of_all_strengths() {
    let curve = |name: &'static str| vec!["ec", "-pkeyopt", name];
    let cases: [(Vec<&str>, R); 8] = [
        (vec!["rsa:1024"], R::KeyTooWeak),
        (vec!["rsa:2048"], R::FirstClient),
        (vec!["rsa:3072"], R::FirstClient),
        (curve("ec_paramgen_curve:P-224"), R::KeyNotAllowed),
        (curve("ec_paramgen_curve:P-256"), R::FirstClient),
        (curve("ec_paramgen_curve:P-384"), R::FirstClient),
        (curve("ec_paramgen_curve:secp256k1"), R::KeyNotAllowed),
        (vec!["ed25519"], R::KeyNotAllowed),
    ];
    let draft = Draft::first_client();
    for (key, reason) in cases {
        let decision = draft.judge(&examined(&draft, &key, &[]));
        assert_eq!(decision.reason(), reason, "{key:?}: {:?}", decision.evidence());
    }
}

#[test]
fn a_signature_with_sha1_counts_for_nothing() {
    let draft = Draft::first_client();
    let decision = draft.judge(&examined(&draft, &["rsa:2048"], &["-sha1"]));
    assert_eq!((decision.verdict(), decision.reason()), (CsrVerdict::Hold, R::KeyNotAllowed));
}

#[test]
fn names_are_read_as_openssl_writes_them() {
    let draft = Draft::serving();
    let names = |text: &str| format!("subjectAltName={text}");
    let cases = [
        ("DNS:worker-0.ocp4.example.com,IP:192.168.126.110", R::FirstServing),
        ("DNS:worker-0.ocp4.example.com,IP:192.168.126.101", R::AddressBelongsToAnother),
        ("DNS:worker-0.ocp4.example.com,email:a@b.c", R::NameKindNotAllowed),
        ("DNS:worker-0.ocp4.example.com,otherName:1.2.3.4;UTF8:x", R::NameKindNotAllowed),
        ("DNS:worker-0.ocp4.example.com,RID:1.2.3.4", R::NameKindNotAllowed),
    ];
    for (text, reason) in cases {
        let key = ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"];
        let decision = draft.judge(&examined(&draft, &key, &["-addext", &names(text)]));
        assert_eq!(decision.reason(), reason, "{text}: {:?}", decision.evidence());
    }
}
