//! The object: whose business it is, how large, how long-lived, how old.

use super::Rule;
use crate::csr_policy::case::{Case, LARGEST_REQUEST};
use crate::csr_policy::{Finding, ReasonCode, State};

pub(super) const OURS: &[Rule] = &[
    Rule { name: "signer", about: "it is for one of the two signers of kubelets", check: signer },
    Rule { name: "pending", about: "nobody has decided about it", check: pending },
];

pub(super) const SHAPE: &[Rule] = &[
    Rule { name: "size", about: "it is not much larger than a kubelet's", check: size },
    Rule { name: "lifetime", about: "the certificate will not live too long", check: lifetime },
];

pub(super) const TIMING: &[Rule] = &[Rule {
    name: "age",
    about: "its kubelet still waits for it, and it is not from the future",
    check: age,
}];

fn signer(case: &Case<'_>) -> Finding {
    let signer = &case.request.signer;
    if case.request.is_a_kubelets() {
        Finding::fits(format!("it is for {signer}"))
    } else {
        Finding::objects(
            ReasonCode::SignerNotOurs,
            format!("it is for {signer:?}, which is no kubelet's signer"),
        )
    }
}

fn pending(case: &Case<'_>) -> Finding {
    match case.request.state {
        State::Pending => Finding::fits("nobody has decided about it yet"),
        State::Approved { at, .. } => {
            Finding::objects(ReasonCode::NotPending, format!("it was approved at {at}"))
        }
        State::Ended => Finding::objects(ReasonCode::NotPending, "it was denied, or its signer gave it up"),
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
        None => Finding::fits("it leaves its lifetime to the signer"),
        Some(seconds) if i64::from(seconds) > longest => Finding::objects(
            ReasonCode::LifetimeTooLong,
            format!("it asks for a certificate that lives {seconds} seconds; the longest is {longest}"),
        ),
        Some(seconds) => Finding::fits(format!("it asks for a certificate that lives {seconds} seconds")),
    }
}

fn age(case: &Case<'_>) -> Finding {
    let settings = case.world.settings;
    let age = case.world.now.duration_since(case.request.created);
    let (seconds, created) = (age.as_secs(), case.request.created);
    if age < -settings.clock_skew {
        Finding::objects(
            ReasonCode::FromTheFuture,
            format!("it was made at {created}, which is {} seconds from now", -seconds),
        )
    } else if age > settings.patience + settings.clock_skew {
        Finding::objects(
            ReasonCode::Abandoned,
            format!(
                "it was made at {created}, {seconds} seconds ago; a kubelet waits {} and then asks anew",
                settings.patience.as_secs()
            ),
        )
    } else {
        Finding::fits(format!("it was made {} seconds ago", seconds.max(0)))
    }
}
