//! Whether something keeps this host's clock right. Certificates begin at the second they are made.

use crate::check::{SHORT, ask_program};
use crate::preflight::Judged;
use crate::preflight::scene::Scene;

/// Who was asked, and whether the clock is synchronized; nothing where that cannot be told.
type Opinion = (&'static str, Option<bool>);

pub(in crate::preflight) fn clock(_: &Scene<'_>) -> Judged {
    let chrony = ask_program("chronyc", &["-n", "tracking"], SHORT);
    let systemd = ask_program("timedatectl", &["show", "--property=NTPSynchronized", "--value"], SHORT);
    judge(&[
        ("chrony", chrony.ok().and_then(|text| by_chrony(&text))),
        ("timedatectl", systemd.ok().and_then(|text| by_systemd(&text))),
    ])
}

/// `Leap status     : Normal`, or `Not synchronised`.
fn by_chrony(text: &str) -> Option<bool> {
    let line = text.lines().find(|line| line.starts_with("Leap status"))?;
    Some(!line.contains("Not synchronised"))
}

fn by_systemd(text: &str) -> Option<bool> {
    match text.trim() {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

/// One who says yes is believed: the others may look at a service that is not used.
fn judge(opinions: &[Opinion]) -> Judged {
    let fix = "start a time service: systemctl enable --now chronyd (or chrony, systemd-timesyncd)";
    if let Some((who, _)) = opinions.iter().find(|(_, is_synchronized)| *is_synchronized == Some(true)) {
        return Judged::passed(format!("{who} reports that the clock is synchronized"));
    }
    match opinions.iter().find(|(_, is_synchronized)| *is_synchronized == Some(false)) {
        Some((who, _)) => Judged::refused(format!("{who} reports that the clock is not synchronized"), fix),
        None => Judged::warned(
            vec!["neither chrony nor systemd can say whether the clock is synchronized".to_owned()],
            fix,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preflight::Verdict;

    #[test]
    fn who_says_no_is_named() {
        let opinions = |chrony: &str, systemd: &str| {
            [("chrony", by_chrony(chrony)), ("timedatectl", by_systemd(systemd))]
        };
        let normal = "Reference ID    : C0000201\nLeap status     : Normal\n";
        let not = "Leap status     : Not synchronised\n";
        assert_eq!(judge(&opinions(normal, "no\n")).verdict, Verdict::Passed);
        assert_eq!(judge(&opinions("", "yes\n")).verdict, Verdict::Passed);
        assert_eq!(judge(&opinions(not, "no")).seen, ["chrony reports that the clock is not synchronized"]);
        assert_eq!(
            judge(&opinions("", "no")).seen,
            ["timedatectl reports that the clock is not synchronized"]
        );
        assert_eq!(judge(&opinions("", "")).verdict, Verdict::Warned);
    }
}
