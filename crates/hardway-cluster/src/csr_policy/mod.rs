//! Which certificate requests of kubelets are approved: a pure function.
//!
//! ```text
//! Request    the object, as the API server keeps it               request.rs
//! Pkcs10     what stands in it, read strictly                     pkcs10.rs, key.rs
//! Declared   who is expected, from the two input files            crate::declared
//! World      nodes, fetched configs, earlier approvals, the time  world.rs
//! rules/     the table of rules, one file per group
//! decide()   all of that → Decision                               decision.rs, reason.rs
//! ```
//!
//! A host of the inventory asks for its first certificate with an identity of its own, of the current generation: whoever asks
//! otherwise is somebody else. Machines that boot from a stock pointer share an identity that works for everybody, so their
//! requests prove nothing about who made them; what is approved must then be worth nothing to anybody but the machine it is
//! for. In both cases it must be expected now. What is certain to be wrong is denied; what may be right is held for a person, with what they can do.
//!
//! The checks of a request's shape are those of the signers themselves (kubernetes `pkg/apis/certificates/helpers.go`) and of
//! openshift/cluster-machine-approver `pkg/controller/csr_check.go`, made stricter where those are loose.

mod case;
mod decision;
mod key;
mod pkcs10;
mod reason;
mod request;
mod rules;
mod world;

pub use case::Examined;
pub(crate) use case::NODE_PREFIX;
pub use decision::{Decision, Finding, RuleFinding};
pub use hardway_journal::CsrVerdict;
pub use key::{Key, Signature};
pub use pkcs10::{Name, Pkcs10, Pkcs10Error};
pub use reason::ReasonCode;
pub use request::{CLIENT_SIGNER, Request, RequestState, SERVING_SIGNER};
pub(crate) use rules::MOST_KEYS;
pub use rules::{RULES, Rule};
pub use world::{
    Approval, IgnitionEvidence, PolicySettings, Redemption, Rival, SeenNode, SharedRedemption, World,
};

use crate::declared::Declared;

/// Decides about one request.
pub fn decide(examined: &Examined, world: &World<'_>) -> Decision {
    rules::decide(examined, world)
}

/// Whether a pending request has nothing wrong in itself. Only such a one can be a [`Rival`]: a broken one must not be able
/// to take the place of a good one.
pub fn is_sound(examined: &Examined, declared: &Declared, settings: &PolicySettings) -> bool {
    rules::is_sound(examined, declared, settings)
}
