//! What is seen of the cluster while phases wait for it, written down when it changes: operators, nodes, and etcd's members.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hardway_cluster::declared::Declared;
use hardway_cluster::etcd::MemberStatus;
use hardway_cluster::objects::{ClusterOperator, Truth};
use hardway_cluster::operators::{Prerequisite, WatchedCluster, chain};
use hardway_cluster::state::ClusterState;
use hardway_cluster::wait::{Sighting, Tell};
use hardway_cluster::watch::WatchedKind;
use hardway_journal::{
    ChainLink, Entry, EtcdMember, EtcdRole, EtcdSeen, History, Journal, NodeSeen, OperatorCondition,
    OperatorSeen,
};
use jiff::Timestamp;

use crate::clock;
use crate::terminal::Log;

/// Operators report many times a second while they roll out: more often than this nobody wants to read it.
const BETWEEN_LINES: Duration = Duration::from_secs(2);

/// Somebody who watches and writes.
pub(super) struct Witness {
    journal: Arc<Journal>,
    log: Log,
    /// As it stands in the journal.
    operators: BTreeMap<String, OperatorSeen>,
    nodes: BTreeMap<String, bool>,
    etcd: Vec<EtcdMember>,
    written: Option<Instant>,
}

impl Witness {
    /// What the journal says already is not said again.
    pub(super) fn new(journal: Arc<Journal>, log: Log) -> Self {
        let history = History::read(journal.path()).unwrap_or_default();
        let seen = history.cluster.operators().iter();
        Self {
            operators: seen.map(|(name, (_, seen))| (name.clone(), seen.clone())).collect(),
            nodes: history.cluster.nodes().clone(),
            etcd: history.cluster.etcd().map(|(_, members)| members.to_vec()).unwrap_or_default(),
            journal,
            log,
            written: None,
        }
    }

    /// For a wait.
    pub(super) fn teller<'s>(mut self) -> Tell<'s> {
        Box::new(move |sighting| self.see(&sighting, clock::now()))
    }

    fn see(&mut self, sighting: &Sighting<'_>, now: Timestamp) {
        let entries = match sighting {
            Sighting::Cluster(cluster) => self.cluster(cluster, now),
            Sighting::Members(members) => self.members(members, now),
        };
        if entries.is_empty() {
            return;
        }
        // A wait does not end because this could not be written: whatever it leads to will not be written either, and says so.
        if let Err(error) = self.journal.append(&entries) {
            self.log.line(&format!("what was seen of the cluster is not in the journal: {error}"));
        }
    }

    fn cluster(&mut self, cluster: &WatchedCluster, now: Timestamp) -> Vec<Entry> {
        if self.written.is_some_and(|written| written.elapsed() < BETWEEN_LINES) {
            return Vec::new();
        }
        let mut entries = Vec::new();
        for seen in operators_seen(cluster.state(), cluster.declared()) {
            if self.operators.get(&seen.operator) != Some(&seen) {
                entries.push(Entry::of(now, &seen));
                self.operators.insert(seen.operator.clone(), seen);
            }
        }
        // Until they were listed, none being there proves nothing.
        if cluster.is_fresh(WatchedKind::Nodes) {
            entries.extend(self.nodes(cluster.state()).iter().map(|seen| Entry::of(now, seen)));
        }
        if !entries.is_empty() {
            self.written = Some(Instant::now());
        }
        entries
    }

    /// One that is gone is no longer Ready; whether it comes back is another fact.
    fn nodes(&mut self, state: &ClusterState) -> Vec<NodeSeen> {
        let now: BTreeMap<&str, bool> =
            state.nodes.iter().map(|(name, node)| (name.as_str(), node.is_ready())).collect();
        let gone =
            self.nodes.iter().filter(|(name, is_ready)| **is_ready && !now.contains_key(name.as_str()));
        let gone = gone.map(|(name, _)| (name.clone(), false));
        let changed = now.iter().filter(|(name, is_ready)| self.nodes.get(**name) != Some(*is_ready));
        let news: BTreeMap<String, bool> =
            gone.chain(changed.map(|(name, is_ready)| ((*name).to_owned(), *is_ready))).collect();
        self.nodes.extend(news.clone());
        news.into_iter().map(|(node, is_ready)| NodeSeen { node, is_ready }).collect()
    }

    fn members(&mut self, members: &[MemberStatus], now: Timestamp) -> Vec<Entry> {
        let mut members: Vec<EtcdMember> = members.iter().map(member_seen).collect();
        members.sort();
        if members == self.etcd {
            return Vec::new();
        }
        self.etcd.clone_from(&members);
        vec![Entry::of(now, &EtcdSeen { members })]
    }
}

/// Every operator with what it waits for, as the journal has it.
pub(crate) fn operators_seen(state: &ClusterState, declared: &Declared) -> Vec<OperatorSeen> {
    let seen = |(name, operator): (&String, &ClusterOperator)| OperatorSeen {
        operator: name.clone(),
        available: condition(operator.truth("Available")),
        progressing: condition(operator.truth("Progressing")),
        degraded: condition(operator.truth("Degraded")),
        waits_for: chain(name, state, declared).into_iter().map(link).collect(),
    };
    state.operators.iter().map(seen).collect()
}

fn link(link: Prerequisite) -> ChainLink {
    let Prerequisite { subject, what, fix } = link;
    ChainLink { subject, what, fix }
}

fn condition(truth: Truth) -> OperatorCondition {
    match truth {
        Truth::False => OperatorCondition::False,
        Truth::True => OperatorCondition::True,
        Truth::Unknown => OperatorCondition::Unknown,
    }
}

/// As the journal has it.
pub(crate) fn member_seen(status: &MemberStatus) -> EtcdMember {
    let role = match &status.answer {
        _ if status.member.is_learner => EtcdRole::Learner,
        Some(answer) if answer.is_leader => EtcdRole::Leader,
        _ => EtcdRole::Voter,
    };
    EtcdMember { name: status.member.name.clone(), role, is_healthy: status.member.is_healthy }
}

#[cfg(test)]
mod tests {
    use hardway_cluster::etcd::{Member, StatusAnswer};
    use hardway_journal::read;
    use serde_json::json;

    use super::*;

    fn seen(name: &str, is_learner: bool, is_leader: bool) -> MemberStatus {
        let member = Member { name: name.to_owned(), is_learner, is_healthy: true, client_urls: Vec::new() };
        let answer = StatusAnswer {
            version: "3.5.21".to_owned(),
            db_size: 0,
            db_size_in_use: 0,
            is_leader,
            has_leader: true,
            revision: 1,
            raft_term: 1,
            raft_index: 1,
            raft_applied_index: 1,
            errors: Vec::new(),
        };
        MemberStatus { member, id: name.to_owned(), answer: Some(answer) }
    }

    #[test]
    fn a_node_is_written_when_it_becomes_ready_and_when_it_no_longer_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(hardway_journal::FILE_NAME);
        let journal = Arc::new(Journal::open(&path).unwrap());
        let log = Log::open(&dir.path().join("install.log")).unwrap();
        let mut witness = Witness::new(journal, log);
        let state = |nodes: &[(&str, &str)]| {
            let node = |(name, ready): &(&str, &str)| {
                let conditions = json!([{"type": "Ready", "status": ready}]);
                let node = json!({"metadata": {"name": name}, "status": {"conditions": conditions}});
                ((*name).to_owned(), serde_json::from_value(node).unwrap())
            };
            ClusterState { nodes: nodes.iter().map(node).collect(), ..ClusterState::default() }
        };
        let mut told = |nodes: &[(&str, &str)]| -> Vec<(String, bool)> {
            witness.nodes(&state(nodes)).into_iter().map(|seen| (seen.node, seen.is_ready)).collect()
        };
        let seen = |name: &str, is_ready: bool| (name.to_owned(), is_ready);
        assert_eq!(told(&[("a", "False"), ("b", "True")]), [seen("a", false), seen("b", true)]);
        assert_eq!(told(&[("a", "False"), ("b", "True")]), []);
        assert_eq!(told(&[("a", "True"), ("b", "True")]), [seen("a", true)]);
        assert_eq!(told(&[("a", "Unknown")]), [seen("a", false), seen("b", false)]);
        assert_eq!(told(&[("a", "Unknown")]), []);
    }

    #[test]
    fn members_are_written_once_and_again_when_they_change() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(hardway_journal::FILE_NAME);
        let journal = Arc::new(Journal::open(&path).unwrap());
        let log = Log::open(&dir.path().join("install.log")).unwrap();
        let now: Timestamp = "2026-11-15T06:00:00Z".parse().unwrap();
        let (bootstrap, learner) = (seen("etcd-bootstrap", false, true), seen("", true, false));
        // The second is a later run, which reads what the first has written.
        for _ in 0..2 {
            let mut witness = Witness::new(journal.clone(), log.clone());
            witness.see(&Sighting::Members(&[bootstrap.clone(), learner.clone()]), now);
            witness.see(&Sighting::Members(&[learner.clone(), bootstrap.clone()]), now);
        }
        assert_eq!(read(&path).unwrap().len(), 1);
        let mut witness = Witness::new(journal, log);
        witness.see(&Sighting::Members(&[bootstrap, seen("master-0", false, false)]), now);
        let history = History::read(&path).unwrap();
        let (_, members) = history.cluster.etcd().unwrap();
        let roles: Vec<_> = members.iter().map(|member| (member.name.as_str(), member.role)).collect();
        assert_eq!(roles, [("etcd-bootstrap", EtcdRole::Leader), ("master-0", EtcdRole::Voter)]);
    }
}
