//! Hostile and odd requests, each with every kind of key: none is approved, and each is refused for its own reason.

use hardway_cluster::csr_policy::{CsrVerdict, ReasonCode as R};

use crate::csr::support::corpus::{CASES, CLIENT, RENEWAL, SERVING, STOCK};
use crate::csr::support::key::{ED25519, GOOD};
use crate::csr::support::pkcs10::ip;
use crate::csr::support::request::Draft;

#[test]
fn none_is_approved_and_each_has_its_reason() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for (name, base, spoil, reason) in CASES {
        for (kind, key) in &*GOOD {
            let mut draft = base();
            spoil(&mut draft);
            let decision = draft.decide(key);
            count += 1;
            if decision.verdict() == CsrVerdict::Approve || decision.reason() != *reason {
                wrong.push(format!(
                    "{name} ({kind}): {} where {reason} is right: {:?}",
                    decision.reason(),
                    decision.evidence()
                ));
            }
            assert_eq!(decision.verdict(), decision.reason().verdict());
            assert!(!decision.evidence().is_empty(), "{name}: nothing is told");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 300, "only {count} requests");
}

/// What is spoilt is the only thing wrong with it: without it, the same request is approved.
#[test]
fn what_they_are_made_from_is_good() {
    for base in [CLIENT, STOCK, RENEWAL, SERVING] {
        for (kind, key) in &*GOOD {
            let decision = base().decide(key);
            assert_eq!(decision.verdict(), CsrVerdict::Approve, "{kind}: {decision:?}");
        }
    }
}

#[test]
fn a_good_key_that_kubelets_do_not_make_is_held() {
    for base in [CLIENT, RENEWAL, SERVING] {
        let decision = base().decide(&ED25519);
        assert_eq!((decision.verdict(), decision.reason()), (CsrVerdict::Hold, R::KeyNotAllowed));
    }
}

/// Two things wrong at once: the graver counts, and both are told.
#[test]
fn a_denial_goes_before_a_hold() {
    let mut draft = Draft::serving();
    draft.nodes.clear();
    draft.pkcs10.names.push(ip("8.8.8.8"));
    draft.pkcs10.names.push(ip("127.0.0.1"));
    let decision = draft.decide(&GOOD[0].1);
    assert_eq!((decision.verdict(), decision.reason()), (CsrVerdict::Deny, R::AddressReserved));
    let told = decision.evidence().join(" ");
    assert!(
        told.contains("8.8.8.8") && told.contains("127.0.0.1") && told.contains("does not exist"),
        "{told}"
    );
}
