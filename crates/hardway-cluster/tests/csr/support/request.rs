//! Whole request objects, and a world in which a good one is approved.

use std::collections::BTreeMap;

use hardway_assets::example;
use hardway_cluster::csr_policy::{
    Approval, CLIENT_SIGNER, Decision, Examined, PolicySettings, Redemption, Request, RequestState, Rival,
    SERVING_SIGNER, SeenNode, World, decide,
};
use hardway_cluster::declared::{Declared, DeclaredNode, HostIdentity};
use jiff::{SignedDuration, Timestamp};

use super::key::TestKey;
use super::pkcs10::{Pkcs10Draft, dns, ip};

pub(crate) const NODE: &str = "worker-0.ocp4.example.com";
pub(crate) const ADDRESS: &str = "192.168.126.110";
pub(crate) const HOST_USER: &str = "hardway:host:worker-0:1";
pub(crate) const HOST_GROUPS: [&str; 2] = ["hardway:hosts", "system:authenticated"];
pub(crate) const BOOTSTRAPPER: &str =
    "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper";
pub(crate) const BOOTSTRAPPER_GROUPS: [&str; 3] = [
    "system:serviceaccounts",
    "system:serviceaccounts:openshift-machine-config-operator",
    "system:authenticated",
];

/// A request that is still being changed, and what is around it.
pub(crate) struct Draft {
    pub(crate) request: Request,
    pub(crate) pkcs10: Pkcs10Draft,
    /// Something that is done to the PEM text.
    pub(crate) edit_pem: fn(String) -> Vec<u8>,
    /// Another key signs than the one it is about.
    pub(crate) signed_by_a_stranger: bool,
    pub(crate) declared: Declared,
    pub(crate) nodes: BTreeMap<String, SeenNode>,
    pub(crate) redemptions: Vec<Redemption>,
    pub(crate) is_serving: bool,
    pub(crate) approvals: Vec<Approval>,
    pub(crate) rivals: Vec<Rival>,
    pub(crate) settings: PolicySettings,
}

/// The moment at which all of these are judged.
pub(crate) fn now() -> Timestamp {
    "2026-11-15T12:00:00Z".parse().unwrap()
}

pub(crate) fn ago(seconds: i64) -> Timestamp {
    now() - SignedDuration::from_secs(seconds)
}

impl Draft {
    /// worker-0's first, with its own identity: its config was fetched, its node is not there.
    pub(crate) fn first_client() -> Self {
        let cluster = example::cluster();
        let redeemed = Redemption { host: "worker-0".into(), source: ADDRESS.parse().unwrap(), at: ago(600) };
        Self {
            request: Request {
                name: "csr-x7k2p".into(),
                uid: "uid-of-csr-x7k2p".into(),
                created: ago(5),
                signer: CLIENT_SIGNER.into(),
                username: HOST_USER.into(),
                groups: HOST_GROUPS.map(str::to_owned).into(),
                usages: vec!["digital signature".into(), "client auth".into()],
                expiration_seconds: None,
                pem: Vec::new(),
                state: RequestState::Pending,
            },
            pkcs10: Pkcs10Draft::of_node(NODE, Vec::new()),
            edit_pem: String::into_bytes,
            signed_by_a_stranger: false,
            declared: Declared::new(&cluster.config, &cluster.inventory, &cluster.identity.generations),
            nodes: BTreeMap::new(),
            redemptions: vec![redeemed],
            is_serving: true,
            approvals: Vec::new(),
            rivals: Vec::new(),
            settings: PolicySettings::default(),
        }
    }

    /// The same of a worker-0 that boots from a stock pointer, with the identity that everybody can have.
    pub(crate) fn stock_client() -> Self {
        let mut draft = Self::first_client();
        draft.own().identity = None;
        draft.request.username = BOOTSTRAPPER.into();
        draft.request.groups = BOOTSTRAPPER_GROUPS.map(str::to_owned).into();
        draft
    }

    /// What is declared of worker-0.
    pub(crate) fn own(&mut self) -> &mut DeclaredNode {
        self.declared.nodes.iter_mut().find(|node| node.name == NODE).unwrap()
    }

    /// Hosts get their configs another way.
    pub(crate) fn nobody_serves(&mut self) {
        self.redemptions.clear();
        self.is_serving = false;
    }

    /// worker-0 is in its second generation, since then, and asks with it.
    pub(crate) fn next_generation(&mut self, since: Timestamp, in_place: bool) {
        let user = "hardway:host:worker-0:2".to_owned();
        self.request.username.clone_from(&user);
        self.own().identity = Some(HostIdentity { user, since: Some(since), in_place });
    }

    /// worker-0 is a node and wants to stay one.
    pub(crate) fn client_renewal() -> Self {
        let mut draft = Self::first_client();
        draft.joined();
        draft
    }

    /// worker-0 is a node and wants to serve.
    pub(crate) fn serving() -> Self {
        let mut draft = Self::first_client();
        draft.joined();
        draft.request.signer = SERVING_SIGNER.into();
        draft.request.usages = vec!["digital signature".into(), "server auth".into()];
        draft.pkcs10.names = vec![dns(NODE), ip(ADDRESS)];
        draft
    }

    fn joined(&mut self) {
        let seen = SeenNode { created: ago(60), addresses: vec![ADDRESS.parse().unwrap()], heard: None };
        self.nodes.insert(NODE.into(), seen);
        self.request.username = format!("system:node:{NODE}");
        self.request.groups = vec!["system:nodes".into(), "system:authenticated".into()];
    }

    pub(crate) fn examined(&self, key: &TestKey) -> Examined {
        let signer = if self.signed_by_a_stranger { &super::key::STRANGERS } else { key };
        let pem = (self.edit_pem)(self.pkcs10.to_pem(key, signer));
        Examined::new(Request { pem, ..self.request.clone() })
    }

    pub(crate) fn decide(&self, key: &TestKey) -> Decision {
        self.judge(&self.examined(key))
    }

    /// Decides about a request that was made before.
    pub(crate) fn judge(&self, examined: &Examined) -> Decision {
        let world = World {
            declared: &self.declared,
            nodes: &self.nodes,
            redemptions: &self.redemptions,
            is_serving: self.is_serving,
            approvals: &self.approvals,
            rivals: &self.rivals,
            now: now(),
            settings: &self.settings,
        };
        decide(examined, &world)
    }
}
