//! The cluster's own parts.

use hardway_assets::inventory::Role;
use jiff::SignedDuration;
use serde_json::Value;

use crate::diagnosis::evidence::Evidence;
use crate::objects::{ClusterOperator, Condition, Node, Truth};
use crate::operators::chain;
use crate::watch::WatchedKind;

pub(in crate::diagnosis) fn network_unconfigured(evidence: &Evidence) -> Vec<String> {
    says(evidence, "network", &["No networks.operator.openshift.io cluster found"])
}

pub(in crate::diagnosis) fn no_topology(evidence: &Evidence) -> Vec<String> {
    let Some(infrastructure) = &evidence.infrastructure else { return Vec::new() };
    let empty = ["controlPlaneTopology", "infrastructureTopology"]
        .into_iter()
        .filter(|field| infrastructure["status"][field].as_str().unwrap_or_default().is_empty());
    empty.map(|field| format!("infrastructure cluster has no status.{field}")).collect()
}

pub(in crate::diagnosis) fn bootstrap_member_unknown(evidence: &Evidence) -> Vec<String> {
    const ANNOTATION: &str = "alpha.installer.openshift.io/etcd-bootstrap";
    if evidence.is_bootstrap_over() || !masters_registered(evidence) {
        return Vec::new();
    }
    match &evidence.state.endpoints {
        Some(map) if map.annotation(ANNOTATION).is_none() => {
            vec![format!("configmap openshift-etcd/etcd-endpoints lacks {ANNOTATION}")]
        }
        _ => Vec::new(),
    }
}

/// The member is waited for only after the end of bootstrapping was reported.
pub(in crate::diagnosis) fn bootstrap_member_stays(evidence: &Evidence) -> Vec<String> {
    let Some(etcd) = evidence.state.control_plane.get(&WatchedKind::Etcd) else { return Vec::new() };
    let is_done = etcd.is_true("EtcdBootstrapMemberRemoved");
    if is_done || !evidence.state.is_bootstrap_complete() || !masters_registered(evidence) {
        return Vec::new();
    }
    let told = ["EtcdBootstrapMemberRemoved", "EtcdRunningInCluster", "BootstrapTeardownDegraded"]
        .into_iter()
        .filter_map(|kind| etcd.condition(kind).map(Condition::sentence));
    let mut lines = vec!["bootstrapping is complete, but EtcdBootstrapMemberRemoved is not True".to_owned()];
    lines.extend(told);
    lines
}

/// The member's name is the one that the bootstrap host gives itself.
pub(in crate::diagnosis) fn bootstrap_member_dead(evidence: &Evidence) -> Vec<String> {
    let operator = evidence.state.operators.get("etcd").map(ClusterOperator::conditions).unwrap_or_default();
    let is_it = |text: &String| text.contains("etcd-bootstrap") && text.contains("unhealthy");
    operator.iter().map(Condition::sentence).filter(is_it).collect()
}

/// A version that says it is there, of which no part has said a word.
pub(in crate::diagnosis) fn none_reported(evidence: &Evidence) -> Vec<String> {
    let is_available =
        evidence.state.version.as_ref().is_some_and(|version| version.is("Available", Truth::True));
    match is_available && evidence.state.operators.is_empty() {
        true => vec!["the ClusterVersion is Available, but no ClusterOperator has reported".to_owned()],
        false => Vec::new(),
    }
}

pub(in crate::diagnosis) fn rendered_config_missing(evidence: &Evidence) -> Vec<String> {
    pools_say(evidence, |text| text.contains("rendered-") && text.contains("not found"))
}

pub(in crate::diagnosis) fn file_differs(evidence: &Evidence) -> Vec<String> {
    pools_say(evidence, |text| {
        text.contains("unexpected on-disk state") || text.contains("content mismatch for file")
    })
}

pub(in crate::diagnosis) fn nowhere_for_routers(evidence: &Evidence) -> Vec<String> {
    let takes_pods = |node: &&Node| node.is_ready() && (node.has_role("worker") || !node.has_role("master"));
    let is_down =
        evidence.state.operators.get("ingress").is_some_and(|o| o.truth("Available") != Truth::True);
    if !is_down || evidence.state.nodes.values().any(|node| takes_pods(&node)) {
        return Vec::new();
    }
    vec!["ingress is not Available, and no node for ordinary pods is Ready".to_owned()]
}

pub(in crate::diagnosis) fn canary_fails(evidence: &Evidence) -> Vec<String> {
    says(evidence, "ingress", &["CanaryChecksRepetitiveFailures", "Canary route checks"])
}

pub(in crate::diagnosis) fn login_unreachable(evidence: &Evidence) -> Vec<String> {
    says(evidence, "authentication", &["OAuthServerRouteEndpointAccessibleController", "RouteHealth"])
}

pub(in crate::diagnosis) fn console_unreachable(evidence: &Evidence) -> Vec<String> {
    says(evidence, "console", &["RouteHealth"])
}

/// Only when nothing that it needs is broken itself.
pub(in crate::diagnosis) fn monitoring(evidence: &Evidence) -> Vec<String> {
    let links = chain("monitoring", &evidence.state, &evidence.declared);
    match links.as_slice() {
        [only] if evidence.state.operators.contains_key("monitoring") => vec![only.what.clone()],
        _ => Vec::new(),
    }
}

/// The operator that most others wait for. Rolling something out is no fault.
pub(in crate::diagnosis) fn unwell(evidence: &Evidence) -> Vec<String> {
    let is_broken = |operator: &ClusterOperator| {
        operator.truth("Available") != Truth::True || operator.truth("Degraded") == Truth::True
    };
    if !evidence.state.operators.values().any(is_broken) {
        return Vec::new();
    }
    let first = crate::operators::blocking(&evidence.state, &evidence.declared);
    first.map(|(link, _)| link.what).into_iter().collect()
}

pub(in crate::diagnosis) fn version_fails(evidence: &Evidence) -> Vec<String> {
    let conditions =
        evidence.state.version.iter().flat_map(|version| version.status.conditions.iter().flatten());
    let failing = conditions.into_iter().filter(|c| c.r#type == "Failing" && c.status == Truth::True);
    failing.map(Condition::sentence).collect()
}

/// Operators of control planes roll out revisions for a while after the version says that it is there. Later a rollout is
/// somebody's wish, and no fault.
pub(in crate::diagnosis) fn rolls_out(evidence: &Evidence) -> Vec<String> {
    let since = evidence.state.version.as_ref().and_then(|version| {
        let conditions = version.status.conditions.iter().flatten();
        let available = conditions.into_iter().find(|c| c.r#type == "Available" && c.status == Truth::True);
        available.and_then(|available| available.last_transition_time)
    });
    let (Some(since), Some(now)) = (since, evidence.now) else { return Vec::new() };
    if now.duration_since(since) > SignedDuration::from_hours(1) {
        return Vec::new();
    }
    let parts = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];
    let operators = parts.iter().filter_map(|name| Some((name, evidence.state.operators.get(*name)?)));
    let rolling = operators.filter_map(|(name, operator)| {
        let progressing = operator.conditions().iter().find(|c| c.r#type == "Progressing")?;
        (progressing.status == Truth::True).then(|| format!("{name}: {}", progressing.sentence()))
    });
    let told: Vec<String> = rolling.collect();
    match told.is_empty() {
        true => told,
        false => {
            [vec![format!("the version was reached at {since:.0}, but the cluster is not stable")], told]
                .concat()
        }
    }
}

fn masters_registered(evidence: &Evidence) -> bool {
    evidence.declared.with_role(Role::Master).all(|node| evidence.state.nodes.contains_key(&node.name))
}

/// Conditions of an operator that is not well and says one of these.
fn says(evidence: &Evidence, operator: &str, texts: &[&str]) -> Vec<String> {
    let Some(found) = evidence.state.operators.get(operator) else { return Vec::new() };
    if found.truth("Available") == Truth::True && found.truth("Degraded") != Truth::True {
        return Vec::new();
    }
    let sentences = found.conditions().iter().map(Condition::sentence);
    let told = sentences.filter(|sentence| texts.iter().any(|text| sentence.contains(text)));
    told.map(|sentence| format!("{operator}: {sentence}")).collect()
}

fn pools_say(evidence: &Evidence, fits: impl Fn(&str) -> bool) -> Vec<String> {
    let mut lines = Vec::new();
    for pool in &evidence.pools {
        let name = pool["metadata"]["name"].as_str().unwrap_or_default();
        let conditions = pool["status"]["conditions"].as_array().into_iter().flatten();
        let bad = conditions
            .filter(|c| c["status"] == "True" && c["type"].as_str().is_some_and(|t| t.ends_with("Degraded")));
        let messages = bad.filter_map(|condition: &Value| condition["message"].as_str());
        lines.extend(messages.filter(|text| fits(text)).map(|text| format!("pool {name}: {text}")));
    }
    lines
}
