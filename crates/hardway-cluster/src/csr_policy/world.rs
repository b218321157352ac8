//! What is known besides the request itself.

use std::collections::BTreeMap;
use std::net::IpAddr;

use hardway_journal::{Face, IgnitionRedeemed, Record};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::Node;

use crate::declared::Declared;
use crate::objects::created;

/// Everything the policy looks at. Nothing in it is read while a decision is taken, so the same world gives the same
/// decision.
#[derive(Clone, Copy, Debug)]
pub struct World<'w> {
    /// Who is expected.
    pub declared: &'w Declared,
    /// The nodes that are there, by name.
    pub nodes: &'w BTreeMap<String, SeenNode>,
    /// Who fetched which config.
    pub redemptions: &'w [Redemption],
    /// Whether any host fetched its config here, even if this one did not.
    pub is_serving: bool,
    /// Certificates that were approved, whoever did.
    pub approvals: &'w [Approval],
    /// Other pending requests for the same node and signer that have nothing wrong in themselves.
    pub rivals: &'w [Rival],
    /// The time.
    pub now: Timestamp,
    /// What can be set.
    pub settings: &'w PolicySettings,
}

/// A Node object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenNode {
    /// When it was registered.
    pub created: Timestamp,
    /// The addresses it reports. The node writes these itself: they can only ever speak against it.
    pub addresses: Vec<IpAddr>,
    /// When its kubelet last reported; none before it did. The node writes this itself, too.
    pub heard: Option<Timestamp>,
}

/// A host showed its token and got its config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redemption {
    /// As in the inventory.
    pub host: String,
    /// Where the request came from.
    pub source: IpAddr,
    /// When.
    pub at: Timestamp,
}

/// A worker of a hosted cluster showed its pool's token and got its config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedRedemption {
    /// Whose token it was: `<namespace>/<name>` of the NodePool. Every worker of the pool has the same.
    pub pool: String,
    /// Where the request came from.
    pub source: IpAddr,
    /// When.
    pub at: Timestamp,
}

/// A certificate that was approved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// Of the request.
    pub uid: String,
    /// Of which node.
    pub node: String,
    /// By which signer.
    pub signer: String,
    /// For which key.
    pub key_id: String,
    /// Who asked; empty where that is not known.
    pub username: String,
    /// When.
    pub at: Timestamp,
}

/// Another pending request for the same node and signer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rival {
    /// Of the object.
    pub name: String,
    /// When it was made.
    pub created: Timestamp,
    /// For which key.
    pub key_id: String,
}

/// What can be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicySettings {
    /// Whether a first client certificate needs proof that the host fetched its config.
    pub ignition: IgnitionEvidence,
    /// Also accept `system:bootstrap:<id>`: Kubernetes' own bootstrap tokens, which OpenShift does not use.
    pub bootstrap_tokens: bool,
    /// How long after it fetched its config a host may take to ask.
    pub join_window: SignedDuration,
    /// How far the clocks of this host and of the API server may differ.
    pub clock_skew: SignedDuration,
    /// How long a kubelet waits for an answer before it makes a new request with a new key
    /// (kubernetes `client-go/util/certificate/certificate_manager.go`).
    pub patience: SignedDuration,
    /// The longest lifetime that may be asked for.
    pub longest_lifetime: SignedDuration,
    /// Certificates of one kind that a node may get in an hour.
    pub budget_per_hour: usize,
    /// Nodes without an identity of their own that a person lets in again, and since when, in whole seconds: as the API
    /// server counts. One certificate uses it up, and what was asked before is not meant.
    pub rejoin: BTreeMap<String, Timestamp>,
    /// When the machines of nodes were switched on, in whole seconds, where that is known: machines that are made on demand and
    /// share their pool's token. Whoever asked before that is another machine, and what was fetched before that was another's.
    pub switched_on: BTreeMap<String, Timestamp>,
}

/// Whether fetching the config counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IgnitionEvidence {
    /// A host that has not fetched its config gets nothing.
    Required,
    /// The same, as soon as any host has: before that nobody serves configs here.
    IfServed,
    /// Configs come in another way.
    Ignored,
}

impl Default for PolicySettings {
    fn default() -> Self {
        Self {
            ignition: IgnitionEvidence::IfServed,
            bootstrap_tokens: false,
            join_window: SignedDuration::from_hours(2),
            clock_skew: SignedDuration::from_secs(60),
            patience: SignedDuration::from_mins(15),
            longest_lifetime: SignedDuration::from_hours(2 * 365 * 24),
            budget_per_hour: 3,
            rejoin: BTreeMap::new(),
            switched_on: BTreeMap::new(),
        }
    }
}

impl SeenNode {
    /// From the object.
    pub fn of(node: &Node) -> Self {
        let status = node.status.as_ref();
        let addresses = status.and_then(|status| status.addresses.as_deref()).unwrap_or_default();
        let conditions = status.and_then(|status| status.conditions.as_deref()).unwrap_or_default();
        // Others write conditions as well, and leave the heartbeat as it was.
        let ready = conditions.iter().find(|condition| condition.type_ == "Ready");
        Self {
            heard: ready.and_then(|ready| ready.last_heartbeat_time.as_ref()).map(|time| time.0),
            created: created(&node.metadata),
            addresses: addresses.iter().filter_map(|address| address.address.parse().ok()).collect(),
        }
    }
}

impl Redemption {
    /// From a record of the journal, when it is one of a host.
    pub fn of(record: &Record) -> Option<Self> {
        let fact = record.fact::<IgnitionRedeemed>()?.ok().filter(|fact| fact.face == Face::Host)?;
        Some(Self { host: fact.host, source: fact.source.to_canonical(), at: record.time })
    }
}

impl SharedRedemption {
    /// From a record of the journal, when it is one of a hosted worker.
    pub fn of(record: &Record) -> Option<Self> {
        let fact = record.fact::<IgnitionRedeemed>()?.ok().filter(|fact| fact.face == Face::Hosted)?;
        Some(Self { pool: fact.host, source: fact.source.to_canonical(), at: record.time })
    }
}
