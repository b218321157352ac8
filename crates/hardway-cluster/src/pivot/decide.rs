//! The decision: which step is allowed now, or what is missing for it.

use serde::Serialize;

use super::facts::Facts;

/// What may be done to the bootstrap host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Allowed {
    /// Hands off: it still carries the cluster, or a part of it.
    Nothing,
    /// Take it out of the load balancer.
    LeaveLoadBalancer,
    /// Switch it off.
    PowerOff,
}

/// Which condition it is; a word in output and docs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PivotGate {
    /// The API answers.
    ApiHeard,
    /// kube-apiserver runs on enough masters.
    KubeApiserverOnMasters,
    /// kube-controller-manager runs on enough masters.
    KubeControllerManagerOnMasters,
    /// kube-scheduler runs on enough masters.
    KubeSchedulerOnMasters,
    /// The version operator manages everything.
    OverridesRestored,
    /// etcd runs on the masters.
    EtcdInCluster,
    /// Bootstrapping says so.
    BootstrapComplete,
    /// The etcd operator took the bootstrap member out.
    MemberRemoved,
    /// etcd itself says so.
    MemberList,
}

/// One condition, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Gate {
    /// Which.
    pub name: PivotGate,
    /// Whether it holds.
    pub holds: bool,
    /// What was seen.
    pub seen: String,
}

/// All gates in order, and what they allow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PivotDecision {
    /// In the order in which they must open.
    pub gates: Vec<Gate>,
    /// What may be done now.
    pub allowed: Allowed,
}

/// Judges. Every gate must hold at this very moment: one that opened and closed again is closed.
pub fn decide(facts: &Facts) -> PivotDecision {
    let gates = gates(facts);
    let allowed = match gates.iter().all(|gate| gate.holds) {
        false => Allowed::Nothing,
        true if facts.out_of_load_balancer => Allowed::PowerOff,
        true => Allowed::LeaveLoadBalancer,
    };
    PivotDecision { gates, allowed }
}

impl PivotDecision {
    /// Whether every gate holds: the masters carry the cluster, and the bootstrap host may begin to go.
    pub fn is_open(&self) -> bool {
        self.allowed >= Allowed::LeaveLoadBalancer
    }

    /// Whether the API answers. If not, the gates behind it say little.
    pub fn is_heard(&self) -> bool {
        self.gates.iter().any(|gate| gate.name == PivotGate::ApiHeard && gate.holds)
    }

    /// What is missing, a sentence each.
    pub fn missing(&self) -> impl Iterator<Item = &str> {
        self.gates.iter().filter(|gate| !gate.holds).map(|gate| gate.seen.as_str())
    }
}

fn gates(facts: &Facts) -> Vec<Gate> {
    let needed = facts.masters_needed.max(1);
    let rolled_out = |name, count: usize, what: &str| Gate {
        name,
        holds: count >= needed,
        seen: format!("{what} has a revision on {count} masters; {needed} needed"),
    };
    let (overrides, members) = (facts.overrides, facts.members.objection(needed));
    vec![
        Gate {
            name: PivotGate::ApiHeard,
            holds: facts.is_fresh,
            seen: said(facts.is_fresh, "the API answers", "the API does not answer; this may be out of date"),
        },
        rolled_out(PivotGate::KubeApiserverOnMasters, facts.api_servers, "kube-apiserver"),
        rolled_out(
            PivotGate::KubeControllerManagerOnMasters,
            facts.controller_managers,
            "kube-controller-manager",
        ),
        rolled_out(PivotGate::KubeSchedulerOnMasters, facts.schedulers, "kube-scheduler"),
        Gate {
            name: PivotGate::OverridesRestored,
            holds: overrides == Some(0),
            seen: match overrides {
                None => "the ClusterVersion is unknown".to_owned(),
                Some(0) => "the ClusterVersion has no overrides".to_owned(),
                Some(n) => format!("the ClusterVersion still has {n} overrides"),
            },
        },
        Gate {
            name: PivotGate::EtcdInCluster,
            holds: facts.etcd_in_cluster,
            seen: said(
                facts.etcd_in_cluster,
                "EtcdRunningInCluster is True",
                "EtcdRunningInCluster is not True",
            ),
        },
        Gate {
            name: PivotGate::BootstrapComplete,
            holds: facts.bootstrap_complete,
            seen: said(
                facts.bootstrap_complete,
                "ConfigMap kube-system/bootstrap reports complete",
                "ConfigMap kube-system/bootstrap does not report complete",
            ),
        },
        Gate {
            name: PivotGate::MemberRemoved,
            holds: facts.member_removed,
            seen: said(
                facts.member_removed,
                "EtcdBootstrapMemberRemoved is True",
                "EtcdBootstrapMemberRemoved is not True",
            ),
        },
        Gate {
            name: PivotGate::MemberList,
            holds: members.is_none(),
            seen: members.unwrap_or_else(|| facts.members.ground()),
        },
    ]
}

fn said(holds: bool, yes: &str, no: &str) -> String {
    if holds { yes.to_owned() } else { no.to_owned() }
}
