//! What the decision is made from.

use serde::Serialize;

use crate::declared::Declared;
use crate::etcd::{BOOTSTRAP_MEMBER, Member, MembersError};
use crate::state::ClusterState;
use crate::watch::WatchedKind;

/// Observed at one moment. Everything is false or unknown until it was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Facts {
    /// The API was heard of just now, and not only once upon a time.
    pub is_fresh: bool,
    /// Masters that must carry a control plane: 2, or 1 on a single node.
    pub masters_needed: usize,
    /// Masters with a revision of the API server rolled out.
    pub api_servers: usize,
    /// The same of the controller manager.
    pub controller_managers: usize,
    /// The same of the scheduler.
    pub schedulers: usize,
    /// Objects that the version operator is told to leave alone and the user did not ask for; none before the ClusterVersion was seen.
    pub overrides: Option<usize>,
    /// `EtcdRunningInCluster`
    pub etcd_in_cluster: bool,
    /// kube-system/bootstrap says `complete`.
    pub bootstrap_complete: bool,
    /// `EtcdBootstrapMemberRemoved`
    pub member_removed: bool,
    /// Who is in etcd.
    pub members: MemberList,
    /// The bootstrap host is in no back end of the load balancer any more.
    pub out_of_load_balancer: bool,
}

/// Who is in etcd, as far as is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum MemberList {
    /// etcd itself told.
    Told(Vec<Member>),
    /// etcd cannot be asked from here, but its operator has taken the bootstrap address out of `etcd-endpoints`, which it
    /// does after the member is gone and all revisions are stable (cluster-etcd-operator
    /// pkg/operator/etcdendpointscontroller).
    Inferred {
        /// Why etcd did not tell.
        unasked: String,
    },
    /// Neither.
    Unknown(String),
}

impl Default for MemberList {
    fn default() -> Self {
        Self::Unknown("no member has been asked yet".to_owned())
    }
}

/// The annotation of `etcd-endpoints` with the bootstrap host's address.
const ANNOTATION: &str = "alpha.installer.openshift.io/etcd-bootstrap";

impl Facts {
    /// From what watching told. The member list comes from etcd, or is inferred; the load balancer's state is known to
    /// who runs it.
    pub fn of(
        state: &ClusterState,
        declared: &Declared,
        is_fresh: bool,
        asked: Result<Vec<Member>, MembersError>,
        out_of_load_balancer: bool,
    ) -> Self {
        let masters = |kind| state.control_plane.get(&kind).map_or(0, |status| status.masters().count());
        let etcd = |condition| {
            state.control_plane.get(&WatchedKind::Etcd).is_some_and(|status| status.is_true(condition))
        };
        let members = match asked {
            Ok(members) => MemberList::Told(members),
            Err(why) if is_forgotten(state) => MemberList::Inferred { unasked: why.to_string() },
            Err(why) => MemberList::Unknown(why.to_string()),
        };
        Self {
            is_fresh,
            masters_needed: declared.masters_needed(),
            api_servers: masters(WatchedKind::KubeApiServer),
            controller_managers: masters(WatchedKind::KubeControllerManager),
            schedulers: masters(WatchedKind::KubeScheduler),
            overrides: state.version.as_ref().map(|version| version.overrides_besides(&declared.overrides)),
            etcd_in_cluster: etcd("EtcdRunningInCluster"),
            bootstrap_complete: state.is_bootstrap_complete(),
            member_removed: etcd("EtcdBootstrapMemberRemoved"),
            members,
            out_of_load_balancer,
        }
    }
}

/// `etcd-endpoints` lists masters, and no longer names the bootstrap host.
fn is_forgotten(state: &ClusterState) -> bool {
    state.endpoints.as_ref().is_some_and(|map| {
        map.annotation(ANNOTATION).is_none() && map.data.as_ref().is_some_and(|data| !data.is_empty())
    })
}

impl MemberList {
    /// How it is known that the bootstrap member is gone, once it is.
    pub(super) fn ground(&self) -> String {
        match self {
            Self::Inferred { unasked } => format!(
                "etcd could not be reached ({unasked}); its operator has dropped the bootstrap address from etcd-endpoints"
            ),
            Self::Told(_) | Self::Unknown(_) => {
                "etcd's member list no longer has the bootstrap host".to_owned()
            }
        }
    }

    /// Why the bootstrap member cannot be said to be gone. None: it is gone.
    pub(super) fn objection(&self, masters_needed: usize) -> Option<String> {
        match self {
            Self::Inferred { .. } => None,
            Self::Unknown(why) => Some(format!("etcd's member list is not known: {why}")),
            Self::Told(members) => {
                // A member that was added and has not started yet has no name; it might be anybody.
                let is_suspect = |member: &&Member| member.name == BOOTSTRAP_MEMBER || member.name.is_empty();
                if let Some(member) = members.iter().find(is_suspect) {
                    return Some(format!("etcd's member list still has {}", member.shown()));
                }
                let voters = members.iter().filter(|member| !member.is_learner).count();
                (voters < masters_needed)
                    .then(|| format!("etcd has {voters} voting members, {masters_needed} needed"))
            }
        }
    }
}
