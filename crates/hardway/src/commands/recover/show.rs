//! What was found, for people and for programs.

use std::fmt::Write as _;

use hardway_cluster::recovery::{Kubelet, Recovered, Standing};
use serde_json::{Value, json};

use crate::cluster::{HandedOver, RecoveryDone};

/// For programs: one document.
pub(super) fn value(
    RecoveryDone { found, worn, handed_over, recovered }: &RecoveryDone,
    decisions: &[Value],
) -> Value {
    let recovered = recovered.as_ref().map(|Recovered { summary, back, silent }| {
        json!({"approved": summary.approved, "denied": summary.denied, "held": summary.held, "back": back, "silent": silent})
    });
    json!({
        "kubelets": found.kubelets,
        "canBeOffUntil": found.can_be_off_until().map(|(end, _)| end),
        "worn": worn,
        "handedOver": handed_over,
        "decisions": decisions,
        "recovered": recovered,
    })
}

/// For people: what was found.
pub(super) fn text(RecoveryDone { found, worn, .. }: &RecoveryDone) -> String {
    let mut text = String::new();
    for (certificate, end) in &worn.certificates {
        let _ = writeln!(text, "ended    {certificate:40} {end:.0}");
    }
    if !worn.files.is_empty() {
        let _ =
            writeln!(text, "         {} files must be made again: {}", worn.files.len(), few(&worn.files));
    }
    for one in &found.kubelets {
        let _ = writeln!(text, "{}", line(one));
    }
    if let Some((end, node)) = found.can_be_off_until() {
        let _ =
            writeln!(text, "the cluster can stay off until {end:.0}, when the certificate of {node} expires");
    }
    text
}

/// For people: who got an identity, and what is left to do by hand.
pub(super) fn identities(all: &[HandedOver]) -> String {
    let line = |one: &HandedOver| match &one.why_not {
        None => format!("identity {:40} put in place over ssh\n", one.host),
        Some(why) => format!(
            "identity {:40} not put in place: {why}\n         run this, or {} as root on the host:\n         {}\n",
            one.host, one.file, one.command
        ),
    };
    all.iter().map(line).collect()
}

fn line(one: &Kubelet) -> String {
    let standing = match one.standing {
        Standing::Absent => "absent",
        Standing::Reports => "reports",
        Standing::Silent => "silent",
    };
    let mut text = format!("{standing:8} {:40}", one.node);
    if let Some(last) = one.last_heard {
        let _ = write!(text, " last heard {last:.0}");
    }
    if let Some(end) = one.certificate_ends {
        let _ = write!(text, ", certificate until {end:.0}");
    }
    if !one.waiting.is_empty() {
        let waiting = one.waiting.iter().map(|one| format!("{} ({})", one.request, one.kind));
        let _ = write!(text, ", waits with {}", waiting.collect::<Vec<_>>().join(", "));
    }
    if !one.is_declared {
        text += ", not in the inventory";
    }
    text.trim_end().to_owned()
}

fn few(files: &[String]) -> String {
    let shown: Vec<&str> =
        files.iter().filter(|file| !file.starts_with("pki/")).map(String::as_str).collect();
    match shown.get(..6) {
        Some(first) if shown.len() > 6 => format!("{}, …", first.join(", ")),
        _ => shown.join(", "),
    }
}
