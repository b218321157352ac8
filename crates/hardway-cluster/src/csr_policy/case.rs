//! A request, taken apart once; and with the world around it, what a rule looks at.

use jiff::Timestamp;

use super::{Pkcs10, Pkcs10Error, Request, RequestState, Rival, SeenNode, World};
use crate::declared::{DeclaredNode, HostIdentity};

/// A request and what stands in it. Reading it checks a signature, so it is done once and kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examined {
    /// The object.
    pub request: Request,
    /// What stands in it.
    pub pkcs10: Result<Pkcs10, Pkcs10Error>,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// To become a client, with an identity that is not the node's own.
    FirstClient,
    /// To stay a client.
    ClientRenewal,
    /// To serve.
    Serving,
}

/// What a rule looks at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case<'c> {
    pub(crate) request: &'c Request,
    pub(crate) pkcs10: Result<&'c Pkcs10, &'c Pkcs10Error>,
    pub(crate) world: &'c World<'c>,
}

/// How the user name of a node begins.
pub(crate) const NODE_PREFIX: &str = "system:node:";

/// Larger than any kubelet's by far; what is larger is not read at all.
pub(crate) const LARGEST_REQUEST: usize = 8 << 10;

impl Examined {
    /// Reads what stands in a request.
    pub fn new(request: Request) -> Self {
        let pkcs10 = if request.pem.len() > LARGEST_REQUEST {
            Err(Pkcs10Error::TooLarge)
        } else {
            Pkcs10::read(&request.pem)
        };
        Self { request, pkcs10 }
    }

    /// The node it is about, as far as it says so.
    pub fn node(&self) -> Option<&str> {
        match self.pkcs10.as_ref().ok()?.common_names.as_slice() {
            [name] => name.strip_prefix(NODE_PREFIX).filter(|node| !node.is_empty()),
            _ => None,
        }
    }

    /// The key it is about.
    pub fn key_id(&self) -> Option<&str> {
        self.pkcs10.as_ref().ok().map(|read| read.key_id.as_str())
    }

    /// As it looks to others that ask for the same.
    pub fn as_rival(&self) -> Option<Rival> {
        let (name, created) = (self.request.name.clone(), self.request.created);
        (self.request.state == RequestState::Pending).then_some(()).and(self.key_id()).map(|key_id| Rival {
            name,
            created,
            key_id: key_id.to_owned(),
        })
    }
}

impl<'c> Case<'c> {
    pub(crate) fn new(examined: &'c Examined, world: &'c World<'c>) -> Self {
        Self { request: &examined.request, pkcs10: examined.pkcs10.as_ref(), world }
    }

    pub(crate) fn ask(&self) -> Ask {
        match self.request.is_serving() {
            true => Ask::Serving,
            false if self.request.username.starts_with(NODE_PREFIX) => Ask::ClientRenewal,
            false => Ask::FirstClient,
        }
    }

    /// The node's name, when there is exactly one. Also an empty one: that is for a rule to object to.
    pub(crate) fn node_name(&self) -> Option<&'c str> {
        match self.pkcs10.ok()?.common_names.as_slice() {
            [name] => name.strip_prefix(NODE_PREFIX),
            _ => None,
        }
    }

    /// The expected node of that name.
    pub(crate) fn declared(&self) -> Option<&'c DeclaredNode> {
        self.world.declared.node(self.node_name()?)
    }

    /// Who the machine of that node asks as until it is one; `None` where it has no identity of its own.
    pub(crate) fn identity(&self) -> Option<&'c HostIdentity> {
        self.declared()?.identity.as_ref()
    }

    /// When its machine was switched on, where that is known.
    pub(crate) fn switched_on(&self) -> Option<Timestamp> {
        self.world.settings.switched_on.get(self.node_name()?).copied()
    }

    /// The Node object of that name.
    pub(crate) fn node(&self) -> Option<&'c SeenNode> {
        self.world.nodes.get(self.node_name()?)
    }
}
