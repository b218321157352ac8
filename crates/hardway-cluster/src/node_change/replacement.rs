//! The steps of replacing a master, or why it may not be; and what the etcd operator has to be told meanwhile.
//!
//! The steps are those of OpenShift's documentation (openshift/openshift-docs, replacing an unhealthy etcd member).

use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, DeleteParams, DynamicObject, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Client, Error};
use serde::Serialize;
use serde_json::{Value, json};

use super::NodeState;
use crate::etcd::{Loss, Member, QuorumError, guard_removal};

/// What is to be done, in order, and what it leaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Replacement {
    /// The node's name.
    pub node: String,
    /// The steps.
    pub steps: Vec<ReplacementStep>,
    /// Whether another member may fail meanwhile.
    pub has_spare: bool,
}

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplacementStep {
    /// Its pods leave.
    Drain,
    /// etcd goes on without it.
    RemoveMember,
    /// The operator accepts two members for a while.
    AllowTwoMembers,
    /// Its etcd certificates go.
    ForgetCertificates,
    /// What its machine booted with lets nobody in any more.
    EndIdentity,
    /// The node goes from the API.
    DeleteNode,
    /// The machine goes for good.
    TakeMachineAway,
    /// A new one boots and joins.
    BootMachine,
    /// The operator insists on three again.
    InsistOnThree,
}

impl Replacement {
    /// For a master whose etcd member has the node's name. A member that is gone already is not removed again: so a
    /// replacement that was cut off goes on.
    ///
    /// # Errors
    /// When etcd would stop, or nothing is known about it.
    pub fn plan(node: &str, members: &[Member], state: NodeState) -> Result<Self, QuorumError> {
        let (loss, is_member) = match guard_removal(members, node) {
            Ok(loss) => (loss, true),
            Err(QuorumError::NoSuchMember(_)) => (spare(members)?, false),
            Err(error) => return Err(error),
        };
        let mut steps = Vec::new();
        steps.extend((state == NodeState::Answers).then_some(ReplacementStep::Drain));
        steps.extend(is_member.then_some(ReplacementStep::RemoveMember));
        steps.extend([ReplacementStep::AllowTwoMembers, ReplacementStep::ForgetCertificates]);
        steps.extend(Self::leaving(state));
        steps.extend([ReplacementStep::BootMachine, ReplacementStep::InsistOnThree]);
        Ok(Self { node: node.to_owned(), steps, has_spare: loss == Loss::Spare })
    }

    /// For a worker, which has no part in etcd.
    pub fn of_worker(node: &str, state: NodeState) -> Self {
        let mut steps = Vec::new();
        steps.extend((state == NodeState::Answers).then_some(ReplacementStep::Drain));
        steps.extend(Self::leaving(state));
        steps.push(ReplacementStep::BootMachine);
        Self { node: node.to_owned(), steps, has_spare: true }
    }

    /// How node and machine go. On a silent node nothing ends because it is told to, so a drain would wait for ever; and it may only seem to be
    /// off. So its machine goes first: once the node is deleted, its pods are started elsewhere.
    fn leaving(state: NodeState) -> Vec<ReplacementStep> {
        let mut steps = vec![ReplacementStep::EndIdentity];
        steps.extend(match state {
            NodeState::Gone => &[ReplacementStep::TakeMachineAway][..],
            NodeState::Answers => &[ReplacementStep::DeleteNode, ReplacementStep::TakeMachineAway],
            NodeState::Silent => &[ReplacementStep::TakeMachineAway, ReplacementStep::DeleteNode],
        });
        steps
    }
}

/// Of a list that the member is no longer on.
fn spare(members: &[Member]) -> Result<Loss, QuorumError> {
    let voters = members.iter().filter(|member| !member.is_learner).count();
    let healthy = members.iter().filter(|member| !member.is_learner && member.is_healthy).count();
    let needed = crate::etcd::quorum(voters);
    match healthy {
        _ if healthy < needed || voters == 0 => {
            Err(QuorumError::Lost { what: "going on".to_owned(), left: healthy, voters, needed })
        }
        _ if healthy == needed => Ok(Loss::NoSpare),
        _ => Ok(Loss::Spare),
    }
}

impl ReplacementStep {
    /// What it is for.
    pub fn why(self) -> &'static str {
        match self {
            Self::Drain => "no new pods are scheduled, and running ones start elsewhere",
            Self::RemoveMember => {
                "etcd's quorum no longer counts it; this must happen before anything is switched off"
            }
            Self::AllowTwoMembers => "lets the etcd operator roll out while a member is missing",
            Self::ForgetCertificates => "lets a machine of the same name get its own certificates",
            Self::EndIdentity => {
                "what its machine booted with no longer lets anybody join under this name (not with stockPointer)"
            }
            Self::DeleteNode => "removes the node from the API",
            Self::TakeMachineAway => "the machine must stay off: with its old certificates it would rejoin",
            Self::BootMachine => {
                "a machine of that name is installed and joins; on a master, the operator adds its etcd member"
            }
            Self::InsistOnThree => "the etcd operator requires three members again",
        }
    }

    /// The same by hand.
    pub fn command(self, node: &str) -> String {
        const PATCH: &str = "oc patch etcd/cluster --type=merge -p";
        match self {
            Self::Drain => format!("oc adm drain {node} --ignore-daemonsets --delete-emptydir-data --force"),
            Self::RemoveMember => {
                format!("etcdctl member remove $(etcdctl member list | grep {node} | cut -d, -f1)")
            }
            Self::AllowTwoMembers => format!(
                "{PATCH} '{{\"spec\":{{\"unsupportedConfigOverrides\":{{\"useUnsupportedUnsafeNonHANonProductionUnstableEtcd\":true}}}}}}'"
            ),
            Self::ForgetCertificates => {
                format!(
                    "oc delete secret -n openshift-etcd etcd-peer-{node} etcd-serving-{node} etcd-serving-metrics-{node}"
                )
            }
            Self::EndIdentity => {
                "the next generation of the host in secrets/identity.json; only hardway does it".to_owned()
            }
            Self::DeleteNode => format!("oc delete node {node}"),
            Self::TakeMachineAway | Self::BootMachine => {
                "as machines.provider does it: hardway infra plan".to_owned()
            }
            Self::InsistOnThree => format!("{PATCH} '{{\"spec\":{{\"unsupportedConfigOverrides\":null}}}}'"),
        }
    }
}

const NAMESPACE: &str = "openshift-etcd";
const OVERRIDE: &str = "useUnsupportedUnsafeNonHANonProductionUnstableEtcd";

/// Lets the operator roll out with two members, or has it insist on three again.
///
/// # Errors
/// When the API server refuses.
pub async fn set_unsafe_etcd(client: &Client, is_unsafe: bool) -> Result<(), Error> {
    let resource = ApiResource::from_gvk_with_plural(
        &GroupVersionKind::gvk("operator.openshift.io", "v1", "Etcd"),
        "etcds",
    );
    let etcds: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let overrides = if is_unsafe { json!({OVERRIDE: true}) } else { Value::Null };
    let patch = Patch::Merge(json!({"spec": {"unsupportedConfigOverrides": overrides}}));
    etcds.patch("cluster", &PatchParams::default(), &patch).await.map(drop)
}

/// Deletes the certificates of a member that is gone: a machine of the same name gets new ones.
///
/// # Errors
/// When the API server refuses.
pub async fn forget_certificates(client: &Client, node: &str) -> Result<(), Error> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), NAMESPACE);
    for kind in ["etcd-peer", "etcd-serving", "etcd-serving-metrics"] {
        match secrets.delete(&format!("{kind}-{node}"), &DeleteParams::default()).await {
            Err(Error::Api(status)) if status.code == 404 => {}
            deleted => drop(deleted?),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, is_healthy: bool) -> Member {
        Member { name: name.to_owned(), is_learner: false, is_healthy, client_urls: Vec::new() }
    }

    #[test]
    fn the_member_goes_before_the_machine_and_the_guard_comes_back_last() {
        let members = [member("a", true), member("b", true), member("c", false)];
        let plan = Replacement::plan("c", &members, NodeState::Answers).unwrap();
        let place = |step| plan.steps.iter().position(|found| *found == step).unwrap();
        assert!(place(ReplacementStep::RemoveMember) < place(ReplacementStep::DeleteNode));
        assert!(place(ReplacementStep::EndIdentity) < place(ReplacementStep::DeleteNode));
        assert!(place(ReplacementStep::RemoveMember) < place(ReplacementStep::TakeMachineAway));
        assert!(place(ReplacementStep::TakeMachineAway) < place(ReplacementStep::BootMachine));
        assert_eq!(plan.steps.last(), Some(&ReplacementStep::InsistOnThree));
        assert!(!plan.has_spare, "two of two are needed");
    }

    #[test]
    fn a_machine_that_is_silent_is_not_drained_and_goes_before_its_node() {
        let members = [member("a", true), member("b", true), member("c", false)];
        let master = Replacement::plan("c", &members, NodeState::Silent).unwrap();
        for plan in [master, Replacement::of_worker("w", NodeState::Silent)] {
            assert!(!plan.steps.contains(&ReplacementStep::Drain), "nobody would end its pods");
            let place = |step| plan.steps.iter().position(|found| *found == step).unwrap();
            assert!(place(ReplacementStep::EndIdentity) < place(ReplacementStep::TakeMachineAway));
            assert!(place(ReplacementStep::TakeMachineAway) < place(ReplacementStep::DeleteNode));
            assert!(place(ReplacementStep::DeleteNode) < place(ReplacementStep::BootMachine));
        }
        let gone = Replacement::of_worker("w", NodeState::Gone).steps;
        let steps =
            [ReplacementStep::EndIdentity, ReplacementStep::TakeMachineAway, ReplacementStep::BootMachine];
        assert_eq!(gone, steps);
    }

    #[test]
    fn it_is_refused_when_etcd_would_stop() {
        let two_sick = [member("a", true), member("b", false), member("c", true)];
        assert!(matches!(
            Replacement::plan("c", &two_sick, NodeState::Answers),
            Err(QuorumError::Lost { left: 1, voters: 2, .. })
        ));
        assert!(Replacement::plan("b", &two_sick, NodeState::Silent).is_ok(), "the sick one may go");
        assert!(matches!(Replacement::plan("a", &[], NodeState::Answers), Err(QuorumError::Unknown)));
    }

    #[test]
    fn a_replacement_that_was_cut_off_goes_on() {
        let left = [member("a", true), member("b", true)];
        let plan = Replacement::plan("c", &left, NodeState::Gone).unwrap();
        assert_eq!(plan.steps[0], ReplacementStep::AllowTwoMembers);
        assert!(
            !plan.steps.contains(&ReplacementStep::RemoveMember)
                && !plan.steps.contains(&ReplacementStep::Drain)
        );
        let sick = [member("a", true), member("b", false)];
        assert!(matches!(Replacement::plan("c", &sick, NodeState::Gone), Err(QuorumError::Lost { .. })));
    }

    #[test]
    fn every_step_can_be_done_by_hand() {
        let members = [member("a", true), member("b", true), member("c", true)];
        for step in Replacement::plan("c", &members, NodeState::Answers).unwrap().steps {
            assert!(!step.why().is_empty() && !step.command("c").is_empty());
        }
    }
}
