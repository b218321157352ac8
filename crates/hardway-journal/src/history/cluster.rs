//! What was last seen of the cluster itself.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::{EtcdMember, Event, NodeSeen, OperatorSeen};

/// What the journal says about operators, nodes and etcd.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterSeen {
    operators: BTreeMap<String, (Timestamp, OperatorSeen)>,
    /// Whether each is Ready, by name.
    nodes: BTreeMap<String, bool>,
    etcd: Option<(Timestamp, Vec<EtcdMember>)>,
}

impl ClusterSeen {
    /// What each operator said last and since when, by name.
    pub fn operators(&self) -> &BTreeMap<String, (Timestamp, OperatorSeen)> {
        &self.operators
    }

    /// Whether each node was Ready when that was last seen, by name.
    pub fn nodes(&self) -> &BTreeMap<String, bool> {
        &self.nodes
    }

    /// Who was last seen in etcd, and since when.
    pub fn etcd(&self) -> Option<(Timestamp, &[EtcdMember])> {
        self.etcd.as_ref().map(|(since, members)| (*since, members.as_slice()))
    }

    pub(super) fn apply(&mut self, event: &Event, at: Timestamp) {
        match event {
            Event::OperatorSeen(seen) => {
                self.operators.insert(seen.operator.clone(), (at, seen.clone()));
            }
            Event::NodeSeen(NodeSeen { node, is_ready }) => _ = self.nodes.insert(node.clone(), *is_ready),
            Event::EtcdSeen(seen) => self.etcd = Some((at, seen.members.clone())),
            _ => {}
        }
    }
}
