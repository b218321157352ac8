//! What was found, for people and for programs.

use std::fmt::Write as _;

use hardway_cluster::recovery::{Kubelet, Recovered, Standing};
use serde_json::{Value, json};

use super::Done;

/// When a node stays away.
pub(super) const SILENT_FIX: &str = "is the machine on, and is its clock right? its console and `journalctl -u kubelet` there say why it does not ask; what was held says \
                                     above why";

/// When the API server itself presents one that has ended. Its recovery certificate lives ten years, and so does the kubeconfig for it
/// (openshift/cluster-kube-apiserver-operator pkg/operator/certrotationcontroller, `localhost-recovery`).
pub(super) const EXPIRED_FIX: &str = "the API server runs with a certificate that has ended, and renews it once it reaches the others. Copy \
    /etc/kubernetes/static-pod-resources/kube-apiserver-certs/secrets/node-kubeconfigs/localhost-recovery.kubeconfig from a master, and then: \
    hardway recover certs --kubeconfig localhost-recovery.kubeconfig --server https://MASTER:6443";

/// For programs: one document.
pub(super) fn value(Done { found, worn, handed_over, recovered }: &Done, decisions: &[Value]) -> Value {
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
pub(super) fn text(Done { found, worn, .. }: &Done) -> String {
    let mut text = String::new();
    for (certificate, end) in &worn.certificates {
        let _ = writeln!(text, "ended    {certificate:40} {end:.0}");
    }
    if !worn.files.is_empty() {
        let _ =
            writeln!(text, "         {} files are to be made again: {}", worn.files.len(), few(&worn.files));
    }
    for one in &found.kubelets {
        let _ = writeln!(text, "{}", line(one));
    }
    if let Some((end, node)) = found.can_be_off_until() {
        let _ = writeln!(text, "the cluster can be off until {end:.0}: then the certificate of {node} ends");
    }
    text
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
