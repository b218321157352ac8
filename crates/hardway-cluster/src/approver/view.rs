//! What the approver knows, folded from watch events and the journal. Plain data: no clock, no network.

use std::collections::btree_map;
use std::collections::{BTreeMap, BTreeSet};

use hardway_journal::{CsrDecided, CsrIntended, Event, NodeJoined, Record};
use jiff::Timestamp;
use k8s_openapi::api::certificates::v1::CertificateSigningRequest;
use k8s_openapi::api::core::v1::Node;

use super::our_condition::OurCondition;
use super::record::{self, Found};
use super::redemptions::Redemptions;
use super::{Expected, Written};
use crate::csr_policy::{
    self, Approval, CsrVerdict, Decision, Examined, NODE_PREFIX, Request, Rival, SeenNode, Settings, State,
    World,
};
use crate::declared::Declared;

/// Everything known about the cluster that bears on requests.
#[derive(Clone, Debug)]
pub struct ClusterView {
    declared: Declared,
    settings: Settings,
    requests: BTreeMap<String, Examined>,
    /// Sound pending requests, by what they ask for.
    rivals: BTreeMap<Ask, BTreeMap<String, Rival>>,
    nodes: BTreeSet<String>,
    approvals: BTreeMap<String, Vec<Approval>>,
    /// What an approver of ours wrote into a request, by name.
    ours: BTreeMap<String, OurCondition>,
    /// What was about to be written into requests, by uid.
    intended: BTreeMap<String, CsrDecided>,
    /// Requests whose decision is in the journal, by uid.
    recorded: BTreeSet<String>,
    redemptions: Redemptions,
    /// By node.
    pools: BTreeMap<String, String>,
    joined: BTreeMap<String, Timestamp>,
}

/// Node, signer, and whether the node itself asks. Whoever else asks is a rival of everybody else, under whatever name.
type Ask = (String, String, bool);

impl ClusterView {
    /// Knows the inventory, and nothing of the cluster.
    pub fn new(declared: Declared, settings: Settings) -> Self {
        Self {
            declared,
            settings,
            requests: BTreeMap::new(),
            rivals: BTreeMap::new(),
            nodes: BTreeSet::new(),
            approvals: BTreeMap::new(),
            ours: BTreeMap::new(),
            intended: BTreeMap::new(),
            recorded: BTreeSet::new(),
            redemptions: Redemptions::default(),
            pools: BTreeMap::new(),
            joined: BTreeMap::new(),
        }
    }

    /// Others are expected from now on.
    pub fn expect(&mut self, expected: &Expected) {
        let known = (&self.declared, &self.settings.rejoin, &self.pools);
        if known == (&expected.declared, &expected.rejoin, &expected.pools) {
            return;
        }
        self.declared = expected.declared.clone();
        self.pools.clone_from(&expected.pools);
        self.settings.rejoin.clone_from(&expected.rejoin);
        // Whether a request is sound depends on who is expected.
        self.rivals.clear();
        let pending: Vec<Examined> =
            self.requests.values().filter(|one| one.request.state == State::Pending).cloned().collect();
        pending.iter().for_each(|examined| self.note_rival(examined));
    }

    /// A request as the watch tells it. Those of other signers are not looked at.
    pub fn see_request(&mut self, object: &CertificateSigningRequest) {
        let Some(examined) = self.examine(object) else { return };
        self.forget_rival(&examined);
        if let Some(ours) = OurCondition::of(object) {
            self.ours.insert(examined.request.name.clone(), ours);
        }
        match examined.request.state {
            State::Pending => self.note_rival(&examined),
            State::Approved { at, .. } => self.note_approval(&examined, at),
            State::Ended => {}
        }
        self.requests.insert(examined.request.name.clone(), examined);
    }

    /// A request as it was just read, taken apart. It is not kept: what the watch told meanwhile may be newer.
    pub fn examine(&self, object: &CertificateSigningRequest) -> Option<Examined> {
        let request = Request::of(object);
        if !request.is_a_kubelets() {
            return None;
        }
        // What stands in a request never changes: read once, and its signature checked once.
        let known = self
            .requests
            .get(&request.name)
            .filter(|known| known.request.uid == request.uid && known.request.pem == request.pem);
        Some(match known.map(|known| known.pkcs10.clone()) {
            Some(pkcs10) => Examined { request, pkcs10 },
            None => Examined::new(request),
        })
    }

    /// A request that is gone.
    pub fn forget_request(&mut self, name: &str) {
        self.ours.remove(name);
        if let Some(gone) = self.requests.remove(name) {
            self.forget_rival(&gone);
        }
    }

    /// After a new list: whatever was not in it is gone.
    pub fn keep_requests(&mut self, names: &BTreeSet<String>) {
        let gone: Vec<String> = self.requests.keys().filter(|name| !names.contains(*name)).cloned().collect();
        gone.iter().for_each(|name| self.forget_request(name));
    }

    /// A node that is there. Whether that is news.
    pub fn see_node(&mut self, name: &str) -> bool {
        self.nodes.insert(name.to_owned())
    }

    /// A node that is gone.
    pub fn forget_node(&mut self, name: &str) {
        self.nodes.remove(name);
    }

    /// After a new list of nodes.
    pub fn keep_nodes(&mut self, names: &BTreeSet<String>) {
        self.nodes.retain(|name| names.contains(name));
    }

    /// A line of the journal.
    pub fn read(&mut self, record: &Record) {
        self.redemptions.read(record);
        match Event::of(record) {
            Some(Event::NodeJoined(NodeJoined { host })) => _ = self.joined.insert(host, record.time),
            Some(Event::CsrIntended(CsrIntended(decided))) => self.intend(decided),
            Some(Event::CsrDecided(decided)) => {
                self.intended.remove(&decided.uid);
                self.recorded.insert(decided.uid.clone());
                if decided.verdict == CsrVerdict::Approve {
                    self.add(record::approval(&decided, record.time));
                }
            }
            _ => {}
        }
    }

    /// Decides about a request that was just read, with its node as it just was.
    pub fn decide(&self, examined: &Examined, node: Option<&Node>, now: Timestamp) -> Decision {
        let name = examined.node().unwrap_or_default();
        let nodes = node.map(|node| (name.to_owned(), SeenNode::of(node))).into_iter().collect();
        let rivals: Vec<Rival> = ask_of(examined)
            .and_then(|ask| self.rivals.get(&ask))
            .into_iter()
            .flat_map(BTreeMap::values)
            .filter(|rival| rival.name != examined.request.name)
            .cloned()
            .collect();
        let redemptions = self.redemptions.for_node(self.declared.node(name), self.pool(name));
        let world = World {
            declared: &self.declared,
            nodes: &nodes,
            redemptions: &redemptions,
            approvals: self.approvals.get(name).map_or(&[], Vec::as_slice),
            rivals: &rivals,
            now,
            settings: &self.settings,
        };
        csr_policy::decide(examined, &world)
    }

    /// Notes what was just written into a request; the watch tells it only later.
    pub fn note_written(&mut self, examined: &Examined, verdict: CsrVerdict, at: Timestamp) {
        match verdict {
            CsrVerdict::Approve => self.note_approval(examined, at),
            CsrVerdict::Deny | CsrVerdict::Hold | CsrVerdict::Leave => self.forget_rival(examined),
        }
    }

    fn note_approval(&mut self, examined: &Examined, at: Timestamp) {
        if let (Some(node), Some(key_id)) = (examined.node(), examined.key_id()) {
            let request = &examined.request;
            self.add(Approval {
                uid: request.uid.clone(),
                node: node.to_owned(),
                signer: request.signer.clone(),
                key_id: key_id.to_owned(),
                username: request.username.clone(),
                at,
            });
        }
        self.forget_rival(examined);
    }

    /// A request, as last seen.
    pub fn request(&self, name: &str) -> Option<&Examined> {
        self.requests.get(name)
    }

    /// Whether the API server vouches for who asks: the node itself, or its host with the identity it has now.
    pub(crate) fn is_vouched_for(&self, name: &str) -> bool {
        self.requests.get(name).is_some_and(|examined| {
            let (user, node) = (&examined.request.username, examined.node().unwrap_or_default());
            let identity = self.declared.node(node).and_then(|declared| declared.identity.as_ref());
            user.strip_prefix(NODE_PREFIX) == Some(node)
                || identity.is_some_and(|identity| identity.user == *user)
        })
    }

    /// Pending requests, in order of their making.
    pub fn pending(&self) -> Vec<String> {
        let mut pending: Vec<&Request> = self.requests.values().map(|examined| &examined.request).collect();
        pending.retain(|request| request.state == State::Pending);
        pending.sort_by_key(|request| (request.created, &request.name));
        pending.into_iter().map(|request| request.name.clone()).collect()
    }

    /// Whether such a node is expected at all.
    pub fn is_declared(&self, node: &str) -> bool {
        self.declared.node(node).is_some()
    }

    /// The pool whose token its machine shows, if it shares one.
    fn pool(&self, node: &str) -> Option<&str> {
        self.pools.get(node).map(String::as_str)
    }

    /// Sound pending requests of a node.
    pub fn pending_of(&self, node: &str) -> Vec<String> {
        let from = (node.to_owned(), String::new(), false);
        let asks = self.rivals.range(from..).take_while(|((name, _, _), _)| name == node);
        asks.flat_map(|(_, rivals)| rivals.keys().cloned()).collect()
    }

    /// Hosts that have become nodes since the journal last said so: the node is there, and its serving certificate, which
    /// only the holder of its client certificate can ask for, was issued after the host last fetched its config.
    pub fn newly_joined(&self) -> Vec<NodeJoined> {
        let mut hosts = BTreeSet::new();
        for examined in self.requests.values().filter(|examined| examined.request.is_serving()) {
            let State::Approved { at, issued: true } = examined.request.state else { continue };
            let Some(node) = examined.node().filter(|node| self.nodes.contains(*node)) else { continue };
            let Some(declared) = self.declared.node(node) else { continue };
            let fetched = self.redemptions.last(declared, self.pool(node));
            let is_since = |moment: &Timestamp| fetched.is_none_or(|fetched| *moment >= fetched);
            if is_since(&at) && !self.joined.get(&declared.host).is_some_and(is_since) {
                hosts.insert(declared.host.clone());
            }
        }
        hosts.into_iter().map(|host| NodeJoined { host }).collect()
    }

    /// Whether there is something that the journal does not say yet.
    pub fn has_news(&self) -> bool {
        self.unrecorded().next().is_some() || !self.newly_joined().is_empty()
    }

    /// Notes what is about to be recorded.
    pub fn note_joined(&mut self, host: &str, at: Timestamp) {
        self.joined.insert(host.to_owned(), at);
    }

    /// Notes that a decision is about to be recorded, or is not after all.
    pub(crate) fn note_recorded(&mut self, uid: &str, is_recorded: bool) {
        if is_recorded {
            self.recorded.insert(uid.to_owned());
        } else {
            self.recorded.remove(uid);
        }
    }

    /// Notes what is about to be written into a request.
    pub(crate) fn intend(&mut self, decided: CsrDecided) {
        self.intended.insert(decided.uid.clone(), decided);
    }

    /// Decisions in the cluster that an approver of ours took and did not record: it was ended in between, or never heard
    /// that they were written. Each is given once. What was intended says more than what stands in the request, where it is
    /// known and the same.
    pub(crate) fn take_unrecorded(&mut self) -> Vec<Found> {
        let found = |(examined, ours): (&Examined, &OurCondition)| {
            let request = &examined.request;
            let intended = self.intended.get(&request.uid).filter(|one| one.verdict == ours.verdict());
            let decided = intended.cloned().unwrap_or_else(|| record::found(examined, ours));
            Found { time: ours.at().unwrap_or(request.created), decided, written: Written::Yes }
        };
        let all: Vec<Found> = self.unrecorded().map(found).collect();
        self.recorded.extend(all.iter().map(|found| found.decided.uid.clone()));
        all
    }

    fn unrecorded(&self) -> impl Iterator<Item = (&Examined, &OurCondition)> {
        let ours = self.ours.iter().filter_map(|(name, ours)| Some((self.requests.get(name)?, ours)));
        ours.filter(|(examined, _)| !self.recorded.contains(&examined.request.uid))
    }

    fn note_rival(&mut self, examined: &Examined) {
        if let (Some(ask), Some(rival)) = (ask_of(examined), examined.as_rival())
            && csr_policy::is_sound(examined, &self.declared, &self.settings)
        {
            self.rivals.entry(ask).or_default().insert(rival.name.clone(), rival);
        }
    }

    fn forget_rival(&mut self, examined: &Examined) {
        if let Some(btree_map::Entry::Occupied(mut rivals)) =
            ask_of(examined).map(|ask| self.rivals.entry(ask))
        {
            rivals.get_mut().remove(&examined.request.name);
            if rivals.get().is_empty() {
                rivals.remove();
            }
        }
    }

    fn add(&mut self, approval: Approval) {
        let known = self.approvals.entry(approval.node.clone()).or_default();
        if !known.iter().any(|one| one.uid == approval.uid) {
            known.push(approval);
        }
    }
}

fn ask_of(examined: &Examined) -> Option<Ask> {
    let request = &examined.request;
    let node = examined.node()?;
    let is_the_node = request.username.strip_prefix(NODE_PREFIX) == Some(node);
    Some((node.to_owned(), request.signer.clone(), is_the_node))
}
