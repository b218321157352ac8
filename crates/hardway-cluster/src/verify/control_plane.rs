//! The control plane: operators, static pods, etcd.

use std::collections::BTreeMap;

use kube::ResourceExt as _;

use super::outcome::{Check, VerifyOutcome};
use crate::etcd::{BOOTSTRAP_MEMBER, Member, MembersError};
use crate::objects::{ClusterOperator, ClusterVersion, Condition, Pod, StaticPodStatus, Truth};

/// The pods of one part of the control plane, and its operator's word.
#[derive(Clone, Debug, Default)]
pub struct PodsOf {
    /// Such as `kube-apiserver`.
    pub component: &'static str,
    /// Of its namespace.
    pub pods: Vec<Pod>,
    /// Of its operator's object `cluster`.
    pub status: Option<StaticPodStatus>,
}

/// ClusterVersion and ClusterOperators.
pub fn judge_operators(version: Option<&ClusterVersion>, operators: &[ClusterOperator]) -> VerifyOutcome {
    const FIX: &str = "hardway wait-for install-complete -o json names the first broken link";
    let mut wrong = Vec::new();
    match version {
        None => wrong.push("there is no ClusterVersion".to_owned()),
        Some(version) if !version.is_initialized() => {
            let said =
                ["Failing", "Progressing", "Available"].iter().filter_map(|kind| version.condition(kind));
            wrong.extend(said.map(Condition::sentence));
        }
        Some(_) => {}
    }
    if operators.is_empty() {
        wrong.push("there are no ClusterOperators".to_owned());
    }
    for operator in operators {
        for (kind, good) in [("Available", Truth::True), ("Degraded", Truth::False)] {
            if operator.truth(kind) != good {
                let said = operator
                    .condition(kind)
                    .map_or_else(|| format!("does not report {kind}"), Condition::sentence);
                wrong.push(format!("{}: {said}", operator.name_any()));
            }
        }
    }
    if let Some(left) = version.map(|version| version.overrides_besides(&[])).filter(|left| *left > 0) {
        wrong.push(format!("the ClusterVersion has {left} overrides, which block updates"));
    }
    VerifyOutcome::of(
        Check::Operators,
        wrong,
        FIX,
        format!("{} operators, all available and not degraded", operators.len()),
    )
}

/// One Ready pod of each part on every master, at the newest revision.
pub fn judge_control_plane(masters: &[String], parts: &[PodsOf]) -> VerifyOutcome {
    const FIX: &str =
        "run oc get pods -n openshift-<component> -o wide; the installer pod of a master that lags shows why";
    let mut wrong = Vec::new();
    if masters.is_empty() {
        wrong.push("there are no masters".to_owned());
    }
    for PodsOf { component, pods, status } in parts {
        let ready: BTreeMap<&str, &Pod> = pods
            .iter()
            .filter(|pod| {
                pod.is_ready() && pod.name_any().contains(component) && !pod.name_any().contains("guard")
            })
            .filter_map(|pod| Some((pod.spec.node_name.as_deref()?, pod)))
            .collect();
        for master in masters.iter().filter(|master| !ready.contains_key(master.as_str())) {
            wrong.push(format!("{component} has no Ready pod on {master}"));
        }
        let Some(status) = status else { continue };
        let newest = status.latest_available_revision.unwrap_or_default();
        for node in status.node_statuses.iter().flatten().filter(|node| node.current_revision != newest) {
            let (name, revision) = (&node.node_name, node.current_revision);
            wrong.push(format!("{component} is at revision {revision} on {name}, the newest is {newest}"));
        }
    }
    let good = format!("{} parts on {} masters, all at their newest revision", parts.len(), masters.len());
    VerifyOutcome::of(Check::ControlPlane, wrong, FIX, good)
}

/// As many healthy voters as masters, none of them the bootstrap host.
pub fn judge_etcd(masters: usize, asked: Result<&[Member], &MembersError>) -> VerifyOutcome {
    const FIX: &str =
        "oc -n openshift-etcd rsh <etcd pod> etcdctl member list -w table; etcdctl endpoint health --cluster";
    let members = match asked {
        Ok(members) => members,
        Err(why) => {
            return VerifyOutcome::failed(
                Check::Etcd,
                vec![why.to_string()],
                "open port 2379 of the masters to this host, or skip the check with --skip-check etcd",
            );
        }
    };
    let mut wrong = Vec::new();
    for member in members {
        let name = &member.name;
        if name == BOOTSTRAP_MEMBER {
            wrong.push(format!("{name} is still a member"));
        }
        if !member.is_healthy {
            wrong.push(format!("{name:?} is not healthy ({})", member.client_urls.join(", ")));
        }
        if member.is_learner {
            wrong.push(format!("{name} is a learner, without a vote"));
        }
    }
    if members.len() != masters {
        wrong.push(format!("{} members for {masters} masters", members.len()));
    }
    VerifyOutcome::of(Check::Etcd, wrong, FIX, format!("{} healthy voting members", members.len()))
}
