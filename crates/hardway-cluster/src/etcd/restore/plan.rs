//! Whether etcd may be restored, and on which master.

use serde::Serialize;

use super::MasterLook;
use crate::etcd::{EtcdStatus, MembersError, quorum};

/// A master, as it is seen before anything is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SeenMaster {
    /// As in the inventory.
    pub host: String,
    /// Its node, and so its member of etcd.
    pub node: String,
    /// The newest change that its etcd has; none where it does not answer.
    pub revision: Option<u64>,
    /// What is on it; none where nobody can log in there.
    pub look: Option<MasterLook>,
    /// Why nobody can.
    pub unreachable: Option<String>,
}

/// How much of etcd is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LostMembers {
    /// Somebody answers, but too few to agree on anything.
    Majority,
    /// Nobody answers.
    All,
}

/// What a restore would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RestorePlan {
    /// The case.
    pub lost: LostMembers,
    /// The master that gets the backup.
    pub recovery: SeenMaster,
    /// Masters that are there: they join anew, without their old data.
    pub returning: Vec<SeenMaster>,
    /// Masters that are not: their machines have to be replaced, and must not come back as they were.
    pub gone: Vec<SeenMaster>,
    /// Changes that a survivor has and the backup has not; none where nobody can tell.
    pub changes_lost: Option<u64>,
}

/// Why nothing is restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreRefused {
    /// etcd works.
    #[error(
        "etcd works: {healthy} of {voters} members are healthy, and {} are enough. A restore would discard every change since the backup",
        quorum(*voters)
    )]
    Quorum {
        /// Voters that answer.
        healthy: usize,
        /// All voters.
        voters: usize,
        /// The members that do not, by their nodes.
        lost: Vec<String>,
    },
    /// It runs where it cannot be stopped.
    #[error("etcd on {host} still runs, but nobody can log in there to stop it: {why}")]
    Unstoppable {
        /// Where.
        host: String,
        /// ssh's words.
        why: String,
    },
    /// There is none to restore on.
    #[error("no master can be used: {}", .0.join("; "))]
    NoMaster(Vec<String>),
    /// The one that was asked for cannot be used.
    #[error("{host} cannot be used: {why}")]
    Unfit {
        /// Which.
        host: String,
        /// Why.
        why: String,
    },
    /// etcd cannot be asked at all.
    #[error(transparent)]
    Etcd(MembersError),
}

impl RestorePlan {
    /// From what etcd and the masters say. `wanted` is the recovery host that a person named, `revision` that of the backup, `needed` the bytes
    /// that its data take.
    ///
    /// # Errors
    /// When etcd works, or runs where it cannot be stopped; or when no master can be used.
    pub fn of(
        status: Result<EtcdStatus, MembersError>,
        masters: Vec<SeenMaster>,
        wanted: Option<&str>,
        revision: u64,
        needed: u64,
    ) -> Result<Self, RestoreRefused> {
        let lost = match status {
            Ok(status) if status.has_quorum => return Err(works(&status)),
            Ok(_) => LostMembers::Majority,
            Err(MembersError::Nobody(_)) => LostMembers::All,
            Err(error) => return Err(RestoreRefused::Etcd(error)),
        };
        Self::on(lost, masters, wanted, revision, needed)
    }

    /// The same where the case is known, because a restore is under way.
    ///
    /// # Errors
    /// When etcd runs where it cannot be stopped, or no master can be used.
    pub fn on(
        lost: LostMembers,
        masters: Vec<SeenMaster>,
        wanted: Option<&str>,
        revision: u64,
        needed: u64,
    ) -> Result<Self, RestoreRefused> {
        let runs_on = |master: &&SeenMaster| master.revision.is_some() && master.look.is_none();
        if let Some(master) = masters.iter().find(runs_on) {
            return Err(RestoreRefused::Unstoppable {
                host: master.host.clone(),
                why: master.unreachable.clone().unwrap_or_default(),
            });
        }
        let newest = masters.iter().filter_map(|master| master.revision).max();
        let at = choose(&masters, wanted, needed)?;
        let mut others = masters;
        let recovery = others.remove(at);
        let (returning, gone) = others.into_iter().partition(|master| master.look.is_some());
        let changes_lost = newest.map(|newest| newest.saturating_sub(revision));
        Ok(Self { lost, recovery, returning, gone, changes_lost })
    }
}

/// The one that was asked for; else one whose etcd answers, and of those the one that knows most.
fn choose(masters: &[SeenMaster], wanted: Option<&str>, needed: u64) -> Result<usize, RestoreRefused> {
    if let Some(wanted) = wanted {
        let unfit = |why: String| RestoreRefused::Unfit { host: wanted.to_owned(), why };
        let at = masters.iter().position(|master| master.host == wanted);
        let at = at.ok_or_else(|| unfit("it is not a master in inventory.yaml".to_owned()))?;
        return masters[at].unfit(needed).map_or(Ok(at), |why| Err(unfit(why)));
    }
    let fit = (0..masters.len()).filter(|at| masters[*at].unfit(needed).is_none());
    // Of equals the first.
    let best = fit.max_by_key(|at| (masters[*at].revision, std::cmp::Reverse(*at)));
    best.ok_or_else(|| {
        let why =
            |master: &SeenMaster| format!("{}: {}", master.host, master.unfit(needed).unwrap_or_default());
        RestoreRefused::NoMaster(masters.iter().map(why).collect())
    })
}

impl SeenMaster {
    /// Why it cannot be the recovery host.
    fn unfit(&self, needed: u64) -> Option<String> {
        match &self.look {
            None => Some(self.unreachable.clone().unwrap_or_else(|| "nobody can log in there".to_owned())),
            Some(look) if !look.has_pod => {
                Some("it has no etcd-pod.yaml, so no etcd of this cluster ever ran on it".to_owned())
            }
            Some(look) if look.free < needed => Some(format!(
                "{} MB are free in /var/lib/etcd, and {} MB are needed",
                look.free / 1_000_000,
                needed.div_ceil(1_000_000)
            )),
            Some(_) => None,
        }
    }
}

fn works(status: &EtcdStatus) -> RestoreRefused {
    let voters = status.members.iter().filter(|one| !one.member.is_learner);
    let lost = status.members.iter().filter(|one| !one.member.is_healthy);
    RestoreRefused::Quorum {
        healthy: voters.clone().filter(|one| one.member.is_healthy).count(),
        voters: voters.count(),
        lost: lost.map(|one| one.member.name.clone()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::etcd::{Member, MemberStatus};

    fn master(host: &str, revision: Option<u64>, look: Option<(bool, u64)>) -> SeenMaster {
        SeenMaster {
            host: host.to_owned(),
            node: format!("{host}.example.com"),
            revision,
            look: look.map(|(has_pod, free)| MasterLook { has_pod, free, is_running: revision.is_some() }),
            unreachable: look.is_none().then(|| "no route to host".to_owned()),
        }
    }

    fn nobody() -> Result<EtcdStatus, MembersError> {
        Err(MembersError::Nobody(vec!["no answer".to_owned()]))
    }

    fn cut_off() -> Result<EtcdStatus, MembersError> {
        Ok(EtcdStatus::default())
    }

    #[test]
    fn a_quorum_is_never_restored_over() {
        let member = |name: &str, is_healthy| MemberStatus {
            member: Member { name: name.to_owned(), is_learner: false, is_healthy, client_urls: Vec::new() },
            id: String::new(),
            answer: None,
        };
        let members = vec![member("a", true), member("b", true), member("c", false)];
        let status = EtcdStatus { has_quorum: true, members, ..EtcdStatus::default() };
        let refused = RestorePlan::of(Ok(status), vec![master("a", Some(9), Some((true, 100)))], None, 5, 1);
        let refused = refused.unwrap_err();
        assert!(refused.to_string().contains("2 of 3 members are healthy, and 2 are enough"), "{refused}");
        assert!(matches!(refused, RestoreRefused::Quorum { lost, .. } if lost == ["c"]));
    }

    #[test]
    fn a_survivor_is_restored_on_and_what_it_knows_is_counted() {
        let masters = vec![
            master("a", None, Some((true, 100))),
            master("b", Some(120), Some((true, 100))),
            master("c", None, None),
        ];
        let plan = RestorePlan::of(cut_off(), masters.clone(), None, 100, 1).unwrap();
        assert_eq!((plan.lost, plan.recovery.host.as_str()), (LostMembers::Majority, "b"));
        assert_eq!((plan.returning[0].host.as_str(), plan.gone[0].host.as_str()), ("a", "c"));
        assert_eq!(plan.changes_lost, Some(20));
        let plan = RestorePlan::of(cut_off(), masters.clone(), Some("a"), 100, 1).unwrap();
        assert_eq!(plan.recovery.host, "a", "a person may name another");
        for (host, why) in [("c", "no route to host"), ("d", "not a master")] {
            let refused = RestorePlan::of(cut_off(), masters.clone(), Some(host), 100, 1).unwrap_err();
            assert!(refused.to_string().contains(why), "{refused}");
        }
    }

    #[test]
    fn with_nobody_left_the_first_that_is_fit_is_taken() {
        let masters = vec![
            master("a", None, Some((false, 100))),
            master("b", None, Some((true, 5))),
            master("c", None, Some((true, 100))),
            master("d", None, Some((true, 100))),
        ];
        let plan = RestorePlan::of(nobody(), masters.clone(), None, 100, 10).unwrap();
        assert_eq!((plan.lost, plan.recovery.host.as_str()), (LostMembers::All, "c"));
        assert_eq!((plan.changes_lost, plan.returning.len()), (None, 3));
        let refused =
            RestorePlan::of(nobody(), masters[..2].to_vec(), None, 100, 10).unwrap_err().to_string();
        assert!(refused.contains("a: it has no etcd-pod.yaml") && refused.contains("b: 0 MB"), "{refused}");
    }

    #[test]
    fn an_etcd_that_cannot_be_stopped_is_no_case_for_a_restore() {
        let masters = vec![master("a", Some(7), None), master("b", None, Some((true, 100)))];
        let refused = RestorePlan::of(cut_off(), masters, None, 1, 1).unwrap_err();
        assert!(matches!(refused, RestoreRefused::Unstoppable { host, .. } if host == "a"));
    }
}
