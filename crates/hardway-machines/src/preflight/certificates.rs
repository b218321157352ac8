//! Certificates of the working folder.

use hardway_assets::graph::Expiry;

use super::Judged;
use super::scene::Scene;

const FIX: &str =
    "run `hardway create ignition-configs` to renew them; machines with the old configs need the new ones";

pub(super) fn certificates(scene: &Scene<'_>) -> Judged {
    judge(scene.site.certificates)
}

/// Machines that boot from configs with a certificate that has ended, or has not begun, never join.
fn judge(certificates: &[Expiry]) -> Judged {
    let made: Vec<&Expiry> = certificates.iter().filter(|end| end.is_on_disk).collect();
    let Some(first) = made.iter().min_by_key(|end| end.seconds_left) else {
        return Judged::not_applicable("none exist yet");
    };
    let mut wrong: Vec<String> = made.iter().filter(|end| end.has_ended()).map(|end| end.ending()).collect();
    let early = made.iter().filter(|end| end.is_early && end.seconds_left > 0);
    wrong.extend(early.map(|end| {
        format!(
            "{} is valid from a time in the future: the clock was ahead when it was made",
            end.certificate
        )
    }));
    let soon = made.iter().filter(|end| end.is_due && !end.is_early && end.seconds_left > 0);
    let odd = soon.map(|end| format!("{} ends in {}", end.certificate, span(end.seconds_left))).collect();
    Judged::of(
        wrong,
        odd,
        FIX,
        format!("{} expires first, in {}", first.certificate, span(first.seconds_left)),
    )
}

fn span(seconds: i64) -> String {
    match seconds {
        0..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preflight::Verdict;

    fn end(certificate: &str, seconds_left: i64) -> Expiry {
        Expiry {
            certificate: certificate.to_owned(),
            is_on_disk: true,
            not_after: jiff::Timestamp::constant(1_794_787_200, 0),
            seconds_left,
            is_early: false,
            due_from: jiff::Timestamp::constant(1_794_769_920, 0),
            is_due: seconds_left < 17_280,
        }
    }

    #[test]
    fn what_ends_is_named() {
        let good = judge(&[end("kubelet-signer", 72_000), end("root-ca", 300_000_000)]);
        assert_eq!(
            (good.verdict, good.seen[0].as_str()),
            (Verdict::Passed, "kubelet-signer expires first, in 20 h")
        );
        let over = judge(&[end("kubelet-signer", -5), end("root-ca", 300_000_000)]);
        assert_eq!(over.verdict, Verdict::Failed);
        assert_eq!(over.seen, ["kubelet-signer ended at 2026-11-16T00:00:00Z"]);
        let soon = judge(&[end("aggregator-client", 3600)]);
        assert_eq!(
            (soon.verdict, soon.seen[0].as_str()),
            (Verdict::Warned, "aggregator-client ends in 60 min")
        );
        let early = judge(&[Expiry { is_early: true, is_due: true, ..end("mcs", 90_000) }]);
        assert!(
            early.verdict == Verdict::Failed
                && early.seen[0].starts_with("mcs is valid from a time in the future")
        );
        assert_eq!(judge(&[Expiry { is_on_disk: false, ..end("mcs", -5) }]).verdict, Verdict::NotApplicable);
    }
}
