//! What operators take over from the bootstrap host. What is wrong with it shows late, and far from where it is.

use serde_json::Value;

use crate::bootstrap_progress::State;
use crate::diagnosis::evidence::Evidence;
use crate::objects::{Condition, Truth};
use crate::watch::WatchedKind;

/// Operators read the gates of the release's own version before anything else, and exit without them
/// (openshift/library-go pkg/operator/configobserver/featuregates). They are created before the ClusterVersion.
pub(in crate::diagnosis) fn no_feature_gates(evidence: &Evidence) -> Vec<String> {
    let (Some(gates), Some(version)) = (&evidence.seeds.feature_gates, &evidence.state.version) else {
        return Vec::new();
    };
    if evidence.state.is_bootstrap_complete() {
        return Vec::new();
    }
    let Some(gate) = gates.iter().find(|gate| gate["metadata"]["name"] == "cluster") else {
        return vec!["there is a ClusterVersion, but no featuregate cluster".to_owned()];
    };
    let mut history = version.status.history.iter().flatten();
    let wanted = history.next().and_then(|newest| newest.version.as_deref());
    let mut known = gate["status"]["featureGates"].as_array().into_iter().flatten();
    let is_known = known.any(|entry| wanted.is_none_or(|wanted| entry["version"] == wanted));
    let of = wanted.map_or_else(|| "any version".to_owned(), |wanted| format!("version {wanted}"));
    if is_known {
        Vec::new()
    } else {
        vec![format!("the status of featuregate cluster does not mention {of}")]
    }
}

pub(in crate::diagnosis) fn no_internal_address(evidence: &Evidence) -> Vec<String> {
    const FIELD: &str = "apiServerInternalURI";
    let Some(infrastructure) = &evidence.infrastructure else { return Vec::new() };
    let is_set = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    if is_set(&infrastructure["status"][FIELD]) {
        return Vec::new();
    }
    let mut lines = vec![format!("infrastructure cluster has no status.{FIELD}")];
    lines.extend(complaints(evidence, FIELD));
    lines
}

/// A young cluster has one authority for etcd. A second one is the operator's own: it did not accept the one that it found.
pub(in crate::diagnosis) fn other_etcd_signer(evidence: &Evidence) -> Vec<String> {
    let count = evidence.seeds.etcd_authorities.unwrap_or_default();
    if count < 2 || evidence.state.is_bootstrap_complete() {
        return Vec::new();
    }
    let mut lines = vec![format!("configmap openshift-etcd/etcd-ca-bundle has {count} CAs instead of one")];
    let etcd = evidence.state.control_plane.get(&WatchedKind::Etcd);
    let refused = etcd.and_then(|etcd| etcd.condition("ClusterMemberControllerDegraded"));
    lines.extend(refused.filter(|c| c.status == Truth::True).map(Condition::sentence));
    lines
}

/// The controller manager's operator makes them only when the API servers of the masters run, which wait for them
/// (openshift/cluster-kube-controller-manager-operator pkg/operator/targetconfigcontroller/satokensigner_controller.go).
pub(in crate::diagnosis) fn no_token_keys(evidence: &Evidence) -> Vec<String> {
    let missing = complaints(evidence, "sa-token-signing-certs");
    if evidence.seeds.has_token_keys || missing.is_empty() {
        return Vec::new();
    }
    let mut lines = vec!["there is no configmap openshift-config-managed/sa-token-signing-certs".to_owned()];
    lines.extend(missing);
    lines
}

/// The one that reports runs from the first boot on, so that there is a record of it long before there is an end.
pub(in crate::diagnosis) fn nobody_reports(evidence: &Evidence) -> Vec<String> {
    let Some(report) = &evidence.bootstrap else { return Vec::new() };
    if evidence.state.is_bootstrap_complete() || !evidence.is_stage("wait-for-ceo", State::Done) {
        return Vec::new();
    }
    let over = "bootkube.service has ended, but there is no configmap kube-system/bootstrap";
    match report.records.get("progress").and_then(|record| record.last()) {
        None => vec![format!("{over}: progress.service has not run")],
        Some(last) if last.is_failure() => {
            vec![format!("{over}: progress.service failed: {}", last.error().unwrap_or_default())]
        }
        Some(_) => Vec::new(),
    }
}

/// What operators of the control plane are Degraded for, where it is about this.
fn complaints(evidence: &Evidence, about: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for (kind, status) in &evidence.state.control_plane {
        let conditions = status.conditions.iter().flatten();
        let bad = conditions.filter(|c| c.status == Truth::True && c.r#type.ends_with("Degraded"));
        let told = bad.map(Condition::sentence).filter(|sentence| sentence.contains(about));
        lines.extend(told.map(|sentence| format!("{kind}: {sentence}")));
    }
    lines
}
