//! Certificates: what is presented, and what ends when.

use hardway_assets::pki::CertificateFacts;
use hardway_base::Judged;
use jiff::{SignedDuration, Timestamp};

use super::outcome::{Check, VerifyOutcome};
use crate::certificates::KnownCertificate;
use crate::handshake::HandshakeError;

/// What an endpoint presented, or why nothing could be trusted.
#[derive(Clone, Debug)]
pub struct Presented {
    /// Such as `api.ocp4.example.com:6443`.
    pub endpoint: String,
    /// The chain, the server's own first; verified against the kubeconfig's CAs and the name.
    pub chain: Result<Vec<CertificateFacts>, HandshakeError>,
}

/// Nothing may be expired; operators renew at 80 % of a lifetime, so that less than 10 % left means that nobody does.
pub fn judge_certificates(
    now: Timestamp,
    presented: &[Presented],
    secrets: &[KnownCertificate],
) -> VerifyOutcome {
    const FIX: &str = "the operators renew the control plane's certificates: check `oc get co` and the clocks; the load \
     balancer must not terminate TLS";
    let (mut wrong, mut near, mut seen) = (Vec::new(), Vec::new(), Vec::new());
    for Presented { endpoint, chain } in presented {
        let Some(own) = chain.as_ref().ok().and_then(|chain| chain.first()) else {
            wrong.push(match chain {
                Err(why) => format!("{endpoint}: {why}"),
                Ok(_) => format!("{endpoint} presents no certificate"),
            });
            continue;
        };
        let what = format!("{endpoint}: {} by {}", own.common_name, own.issuer_common_name);
        sort(now, &what, Some(own.not_before), own.not_after, (&mut wrong, &mut near));
        seen.push(format!("{what}, {}", left(now, own.not_after)));
    }
    for KnownCertificate { name, not_before, not_after, .. } in secrets {
        sort(now, &format!("secret {name}"), *not_before, *not_after, (&mut wrong, &mut near));
    }
    if let Some(next) = secrets.iter().min_by_key(|secret| secret.not_after) {
        seen.push(format!(
            "{} certificates in secrets; the next to expire is {}: {}",
            secrets.len(),
            next.name,
            left(now, next.not_after)
        ));
    }
    if !wrong.is_empty() {
        wrong.extend(near);
        return VerifyOutcome::failed(Check::Certificates, wrong, FIX);
    }
    if !near.is_empty() {
        return VerifyOutcome::warned(Check::Certificates, near, FIX);
    }
    VerifyOutcome { check: Check::Certificates, judged: Judged { seen, ..Judged::passed("") } }
}

fn sort(
    now: Timestamp,
    what: &str,
    not_before: Option<Timestamp>,
    not_after: Timestamp,
    (wrong, near): (&mut Vec<String>, &mut Vec<String>),
) {
    if not_after <= now {
        wrong.push(format!("{what} expired at {not_after:.0}"));
    } else if let Some(not_before) = not_before {
        if not_before > now {
            wrong.push(format!("{what} is valid from {not_before:.0}, but the clock here says {now:.0}"));
        } else if not_after.duration_since(now) < not_after.duration_since(not_before) / 10 {
            near.push(format!("{what} has {}", left(now, not_after)));
        }
    }
}

/// `29 days left`
fn left(now: Timestamp, not_after: Timestamp) -> String {
    let left: SignedDuration = not_after.duration_since(now);
    match left.as_hours() {
        hours if hours < 48 => format!("{hours} hours left"),
        hours => format!("{} days left", hours / 24),
    }
}
