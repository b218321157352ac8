//! The object: whose business it is, how large, how long-lived, how old.

use super::Rule;
use crate::csr_policy::case::{Case, LARGEST_REQUEST};
use crate::csr_policy::{Finding, ReasonCode, RequestState};
use crate::objects::is_request_name;

pub(super) const OURS: &[Rule] = &[
    Rule { name: "signer", about: "it is for one of the two signers of kubelets", check: signer },
    Rule { name: "name of the request", about: "a kubelet could have named it so", check: name },
    Rule { name: "pending", about: "it is not decided yet", check: pending },
];

pub(super) const SHAPE: &[Rule] = &[
    Rule { name: "size", about: "it is not much larger than a kubelet's", check: size },
    Rule { name: "lifetime", about: "the certificate will not live too long", check: lifetime },
];

pub(super) const TIMING: &[Rule] = &[Rule {
    name: "age",
    about: "its kubelet still waits for it, and its time is not in the future",
    check: age,
}];

fn signer(case: &Case<'_>) -> Finding {
    let signer = &case.request.signer;
    if case.request.is_for_a_kubelets_signer() {
        Finding::fits(format!("it is for {signer}"))
    } else {
        Finding::objects(
            ReasonCode::SignerNotOurs,
            format!("it is for {signer:?}, which does not sign for kubelets"),
        )
    }
}

fn name(case: &Case<'_>) -> Finding {
    let name = &case.request.name;
    if is_request_name(name) {
        Finding::fits(format!("it is called {name}"))
    } else {
        Finding::objects(
            ReasonCode::RequestNameOdd,
            format!("it is called {name:?}, which no kubelet calls a request"),
        )
    }
}

fn pending(case: &Case<'_>) -> Finding {
    match case.request.state {
        RequestState::Pending => Finding::fits("it is not decided yet"),
        RequestState::Approved { at, .. } => {
            Finding::objects(ReasonCode::NotPending, format!("it was approved at {at}"))
        }
        RequestState::Ended => {
            Finding::objects(ReasonCode::NotPending, "it was denied, or its signer failed")
        }
    }
}

fn size(case: &Case<'_>) -> Finding {
    match case.request.pem.len() {
        bytes if bytes > LARGEST_REQUEST => Finding::objects(
            ReasonCode::RequestTooLarge,
            format!("it has {bytes} bytes, where a kubelet's has about 500"),
        ),
        bytes => Finding::fits(format!("it has {bytes} bytes")),
    }
}

fn lifetime(case: &Case<'_>) -> Finding {
    let longest = case.world.settings.longest_lifetime.as_secs();
    match case.request.expiration_seconds {
        None => Finding::fits("it does not request a lifetime"),
        Some(seconds) if i64::from(seconds) > longest => Finding::objects(
            ReasonCode::LifetimeTooLong,
            format!("it requests a lifetime of {seconds} seconds; the maximum is {longest}"),
        ),
        Some(seconds) => Finding::fits(format!("it requests a lifetime of {seconds} seconds")),
    }
}

fn age(case: &Case<'_>) -> Finding {
    let settings = case.world.settings;
    let age = case.world.now.duration_since(case.request.created);
    let (seconds, created) = (age.as_secs(), case.request.created);
    if age < -settings.clock_skew {
        Finding::objects(
            ReasonCode::FromTheFuture,
            format!("it was created at {created}, which is {} seconds in the future", -seconds),
        )
    } else if age > settings.patience + settings.clock_skew {
        Finding::objects(
            ReasonCode::Abandoned,
            format!(
                "it was created at {created}, {seconds} seconds ago; a kubelet waits {} and then sends a new one",
                settings.patience.as_secs()
            ),
        )
    } else {
        Finding::fits(format!("it was created {} seconds ago", seconds.max(0)))
    }
}
