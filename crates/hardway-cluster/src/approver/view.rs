//! What the approver knows, folded from watch events and the journal. Plain data: no clock, no network.

use std::cmp::Reverse;
use std::collections::btree_map;
use std::collections::{BTreeMap, BTreeSet};

use hardway_journal::{Appended, CsrDecided, Event, NodeJoined, Record};
use jiff::Timestamp;
use k8s_openapi::api::certificates::v1::CertificateSigningRequest;
use k8s_openapi::api::core::v1::Node;

use super::Expected;
use super::our_condition::OurCondition;
use super::record::{self, FoundDecision};
use super::redemptions::Redemptions;
use super::refusals::Asker;
use super::unrecorded::Unrecorded;
use crate::csr_policy::{
    self, Approval, CsrVerdict, Decision, Examined, NODE_PREFIX, PolicySettings, Redemption, Request,
    RequestState, Rival, SeenNode, World,
};
use crate::declared::Declared;

/// Everything known about the cluster that bears on requests.
#[derive(Clone, Debug)]
pub struct ClusterView {
    declared: Declared,
    settings: PolicySettings,
    requests: BTreeMap<String, Examined>,
    /// Sound pending requests, by what they ask for.
    rivals: BTreeMap<Ask, BTreeMap<String, Rival>>,
    nodes: BTreeSet<String>,
    /// By node: those that stand in a request, or were just written into one.
    approvals: BTreeMap<String, Vec<Approval>>,
    /// By node: those that the journal tells of. Requests are gone after an hour.
    recorded_approvals: BTreeMap<String, Vec<Approval>>,
    unrecorded: Unrecorded,
    redemptions: Redemptions,
    /// Of the journal of whoever serves configs, where that is another.
    served_elsewhere: Redemptions,
    /// By node.
    pools: BTreeMap<String, String>,
    /// By node: what others saw.
    fetched: BTreeMap<String, Timestamp>,
}

/// A host that has become a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// For the journal.
    pub fact: NodeJoined,
    /// Since when it is what it is: by the clock of whoever let it in.
    since: Timestamp,
}

/// Of one ask. Whoever holds a host's identity could ask without end: [`csr_policy`] denies all but the newest few, and more than these need
/// not be known for that.
const MOST_RIVALS: usize = 4 * csr_policy::MOST_KEYS;

/// Node, signer, and whether the node itself asks. Whoever else asks is a rival of everybody else, under whatever name.
type Ask = (String, String, bool);

impl ClusterView {
    /// Knows the inventory, and nothing of the cluster.
    pub fn new(declared: Declared, settings: PolicySettings) -> Self {
        Self {
            declared,
            settings,
            requests: BTreeMap::new(),
            rivals: BTreeMap::new(),
            nodes: BTreeSet::new(),
            approvals: BTreeMap::new(),
            recorded_approvals: BTreeMap::new(),
            unrecorded: Unrecorded::default(),
            redemptions: Redemptions::default(),
            served_elsewhere: Redemptions::default(),
            pools: BTreeMap::new(),
            fetched: BTreeMap::new(),
        }
    }

    /// Others are expected from now on.
    pub fn expect(&mut self, expected: &Expected) {
        let Expected { declared, rejoin, pools, switched_on, fetched } = expected;
        let settings = &self.settings;
        let known = (&self.declared, &settings.rejoin, &self.pools, &settings.switched_on, &self.fetched);
        if known == (declared, rejoin, pools, switched_on, fetched) {
            return;
        }
        self.declared = declared.clone();
        self.pools.clone_from(pools);
        self.fetched.clone_from(fetched);
        self.settings.rejoin.clone_from(rejoin);
        self.settings.switched_on.clone_from(switched_on);
        // Whether a request is sound depends on who is expected.
        self.rivals.clear();
        let pending: Vec<Examined> = self
            .requests
            .values()
            .filter(|one| one.request.state == RequestState::Pending)
            .cloned()
            .collect();
        pending.iter().for_each(|examined| self.note_rival(examined));
    }

    /// A request as the watch tells it. Those that cannot be a kubelet's are not looked at.
    pub fn see_request(&mut self, object: &CertificateSigningRequest) {
        let Some(examined) = self.examine(object) else { return };
        self.forget_rival(&examined);
        if let Some(ours) = OurCondition::of(object) {
            self.unrecorded.see(&examined.request.name, ours);
        }
        match examined.request.state {
            RequestState::Pending => self.note_rival(&examined),
            RequestState::Approved { at, .. } => self.note_approval(&examined, at),
            RequestState::Ended => {}
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
        let gone = self.requests.remove(name);
        self.unrecorded.forget(name, gone.as_ref().map(|gone| gone.request.uid.as_str()));
        if let Some(gone) = gone {
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

    /// What was appended to the journal of whoever serves configs, where that is another. It is read for nothing else.
    pub fn follow_fetches(&mut self, appended: &Appended) {
        if appended.began_anew {
            self.served_elsewhere = Redemptions::default();
        }
        appended.records.iter().for_each(|record| self.served_elsewhere.read(record));
    }

    /// What was appended to the journal. One that began anew says nothing of what was in the one before: this approver knows no more then
    /// than one that is started now.
    pub fn follow(&mut self, appended: &Appended) {
        if appended.began_anew {
            self.redemptions = Redemptions::default();
            self.recorded_approvals.clear();
            self.unrecorded.begin_anew();
        }
        appended.records.iter().for_each(|record| self.read(record));
    }

    /// A line of the journal.
    pub fn read(&mut self, record: &Record) {
        self.redemptions.read(record);
        let Some(event) = Event::of(record) else { return };
        self.unrecorded.read(&event, record.time);
        if let Event::CsrDecided(decided) = &event
            && decided.verdict == CsrVerdict::Approve
        {
            add(&mut self.recorded_approvals, record::approval(decided, record.time));
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
        let (redemptions, approvals) = (self.redemptions_of(name), self.approvals_of(name));
        let world = World {
            declared: &self.declared,
            nodes: &nodes,
            redemptions: &redemptions,
            is_serving: self.is_serving() || !redemptions.is_empty(),
            approvals: &approvals,
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
            let approval = Approval {
                uid: request.uid.clone(),
                node: node.to_owned(),
                signer: request.signer.clone(),
                key_id: key_id.to_owned(),
                username: request.username.clone(),
                at,
            };
            add(&mut self.approvals, approval);
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

    /// Who asked for what was decided.
    pub(crate) fn asker(&self, decided: &CsrDecided) -> Asker {
        match self.is_declared(&decided.node) {
            true if self.is_vouched_for(&decided.request) => Asker::ItsOwn,
            true => Asker::Another,
            false => Asker::OfNobodyExpected,
        }
    }

    /// Pending requests, in order of their making.
    pub fn pending(&self) -> Vec<String> {
        let mut pending: Vec<&Request> = self.requests.values().map(|examined| &examined.request).collect();
        pending.retain(|request| request.state == RequestState::Pending);
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

    /// Whether anybody fetched a config.
    fn is_serving(&self) -> bool {
        !self.redemptions.is_empty() || !self.served_elsewhere.is_empty()
    }

    /// Each once.
    fn approvals_of(&self, node: &str) -> Vec<Approval> {
        let of = |known: &BTreeMap<String, Vec<Approval>>| known.get(node).cloned().unwrap_or_default();
        let mut all = of(&self.approvals);
        let recorded = of(&self.recorded_approvals);
        all.extend(recorded.into_iter().filter(|one| !is_among(one, self.approvals.get(node))));
        all
    }

    /// What a node's host fetched: what the journals say, and what others saw.
    fn redemptions_of(&self, node: &str) -> Vec<Redemption> {
        let Some(declared) = self.declared.node(node) else { return Vec::new() };
        let mut all = self.redemptions.for_node(declared, self.pool(node));
        all.extend(self.served_elsewhere.for_node(declared, self.pool(node)));
        let elsewhere = self.fetched.get(node).zip(declared.addresses.first());
        all.extend(elsewhere.map(|(at, source)| Redemption {
            host: declared.host.clone(),
            source: *source,
            at: *at,
        }));
        all
    }

    /// Sound pending requests of a node.
    pub fn pending_of(&self, node: &str) -> Vec<String> {
        let from = (node.to_owned(), String::new(), false);
        let asks = self.rivals.range(from..).take_while(|((name, _, _), _)| name == node);
        asks.flat_map(|(_, rivals)| rivals.keys().cloned()).collect()
    }

    /// Hosts that have become nodes since the journal last said so: the node is there, and its serving certificate, which
    /// only the holder of its client certificate can ask for, was approved after its own identity had let it in; or, of a host without
    /// one, after it last fetched its config. A host that fetches again and again must not put the end of its token off by that.
    pub fn newly_joined(&self) -> Vec<Joined> {
        let mut joined: BTreeMap<String, Timestamp> = BTreeMap::new();
        let asked = self.asked_as_hosts();
        for examined in self.requests.values().filter(|examined| examined.request.is_serving()) {
            let RequestState::Approved { at, .. } = examined.request.state else { continue };
            let Some(node) = examined.node().filter(|node| self.nodes.contains(*node)) else { continue };
            let Some(declared) = self.declared.node(node) else { continue };
            let own = declared.identity.as_ref().filter(|own| !own.in_place);
            let (moment, since) = match own.and_then(|own| asked.get(&(node, own.user.as_str()))) {
                // Both by the API server's clock.
                Some(asked) => (examined.request.created, Some(*asked)),
                None => {
                    let let_in = own.and_then(|own| {
                        let approvals = self.approvals_of(node);
                        approvals.iter().filter(|one| one.username == own.user).map(|one| one.at).max()
                    });
                    let pool = self.pool(node);
                    let fetched =
                        self.redemptions.last(declared, pool).max(self.served_elsewhere.last(declared, pool));
                    (at, let_in.or(fetched))
                }
            };
            // Which counts in whole seconds.
            let is_since =
                |moment: &Timestamp| since.is_none_or(|since| moment.as_second() >= since.as_second());
            if is_since(&moment) && !self.unrecorded.joined(&declared.host).as_ref().is_some_and(is_since) {
                let known = joined.entry(declared.host.clone()).or_insert(moment);
                *known = since.unwrap_or(moment).max(*known);
            }
        }
        joined.into_iter().map(|(host, since)| Joined { fact: NodeJoined { host }, since }).collect()
    }

    /// When the requests were made with which hosts were let in as themselves, by node and user: the last of each.
    fn asked_as_hosts(&self) -> BTreeMap<(&str, &str), Timestamp> {
        let mut asked = BTreeMap::new();
        for examined in self.requests.values().filter(|examined| !examined.request.is_serving()) {
            let RequestState::Approved { .. } = examined.request.state else { continue };
            let Some(node) = examined.node() else { continue };
            let last =
                asked.entry((node, examined.request.username.as_str())).or_insert(examined.request.created);
            *last = examined.request.created.max(*last);
        }
        asked
    }

    /// Whether there is something that the journal does not say yet.
    pub fn has_news(&self) -> bool {
        self.unrecorded.has_decisions(&self.requests) || !self.newly_joined().is_empty()
    }

    /// Notes what is about to be recorded.
    pub fn note_joined(&mut self, joined: &Joined, at: Timestamp) {
        // The API server's clock may be ahead: told once is told.
        self.unrecorded.note_joined(&joined.fact.host, at.max(joined.since));
    }

    /// Notes that a decision is about to be recorded, or is not after all.
    pub(crate) fn note_recorded(&mut self, uid: &str, is_recorded: bool) {
        self.unrecorded.note_recorded(uid, is_recorded);
    }

    /// Notes what is about to be written into a request.
    pub(crate) fn intend(&mut self, decided: CsrDecided) {
        self.unrecorded.intend(decided);
    }

    /// Decisions in the cluster that are missing from the journal, each once.
    pub(crate) fn take_unrecorded(&mut self) -> Vec<FoundDecision> {
        self.unrecorded.take(&self.requests)
    }

    fn note_rival(&mut self, examined: &Examined) {
        if let (Some(ask), Some(rival)) = (ask_of(examined), examined.as_rival())
            && csr_policy::is_sound(examined, &self.declared, &self.settings)
        {
            let rivals = self.rivals.entry(ask).or_default();
            rivals.insert(rival.name.clone(), rival);
            if rivals.len() > MOST_RIVALS
                && let Some(one_too_many) = one_too_many(rivals)
            {
                rivals.remove(&one_too_many);
            }
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
}

fn add(approvals: &mut BTreeMap<String, Vec<Approval>>, approval: Approval) {
    let known = approvals.entry(approval.node.clone()).or_default();
    if !is_among(&approval, Some(known)) {
        known.push(approval);
    }
}

/// Whether that of the same request is among them.
fn is_among(approval: &Approval, known: Option<&Vec<Approval>>) -> bool {
    known.is_some_and(|known| known.iter().any(|one| one.uid == approval.uid))
}

/// The oldest of the key that has most: as long as there are two keys, there are two that contest each other.
fn one_too_many(rivals: &BTreeMap<String, Rival>) -> Option<String> {
    let mut of_key: BTreeMap<&str, usize> = BTreeMap::new();
    rivals.values().for_each(|rival| *of_key.entry(&rival.key_id).or_default() += 1);
    let ranked = rivals
        .values()
        .map(|rival| (Reverse(of_key.get(rival.key_id.as_str())), rival.created, rival.name.as_str()));
    ranked.min().map(|(_, _, name)| name.to_owned())
}

fn ask_of(examined: &Examined) -> Option<Ask> {
    let request = &examined.request;
    let node = examined.node()?;
    let is_the_node = request.username.strip_prefix(NODE_PREFIX) == Some(node);
    Some((node.to_owned(), request.signer.clone(), is_the_node))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flood with one key does not push out the one request that contests it, though that is the oldest.
    #[test]
    fn of_too_many_rivals_the_one_with_another_key_stays() {
        let rival = |name: &str, second: i64, key_id: &str| Rival {
            name: name.to_owned(),
            created: Timestamp::from_second(second).unwrap(),
            key_id: key_id.to_owned(),
        };
        let mut rivals = BTreeMap::from([("csr-own".to_owned(), rival("csr-own", 0, "own"))]);
        for n in 1..1_000 {
            let name = format!("csr-{n}");
            rivals.insert(name.clone(), rival(&name, n, "flood"));
            if rivals.len() > MOST_RIVALS {
                rivals.remove(&one_too_many(&rivals).unwrap());
            }
        }
        assert_eq!(rivals.len(), MOST_RIVALS);
        assert!(rivals.contains_key("csr-own") && rivals.contains_key("csr-999"));
    }
}
