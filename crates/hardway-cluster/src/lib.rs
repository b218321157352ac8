//! From booting machines to a converged cluster: certificate policy and approver, bootstrap progress, etcd, pivot, operators,
//! waiting, verification, diagnosis.

pub mod age;
pub mod api_error;
pub mod approver;
pub mod bootstrap_progress;
pub mod certificates;
pub mod clock;
pub mod csr_policy;
pub mod day_two;
pub mod declared;
pub mod diagnosis;
pub mod etcd;
pub mod gather;
mod handshake;
mod inline_kubeconfig;
pub mod kubeconfig;
pub mod leader_election;
pub mod node_change;
pub mod objects;
pub mod operators;
pub mod pivot;
pub mod recovery;
pub mod remote;
mod silence;
pub mod simulation;
pub mod state;
#[cfg(test)]
mod testing;
pub mod verify;
pub mod wait;
pub mod watch;

pub use handshake::{HandshakeError, NoAnswer, presented};

/// What breaks an install, and why requests are approved, held or denied, explained.
pub const EXPLANATIONS: &[(hardway_assets::explain::Kind, &str)] = &[
    (hardway_assets::explain::Kind::Decision, include_str!("../explanations/decisions.md")),
    (hardway_assets::explain::Kind::Diagnosis, include_str!("../explanations/diagnoses.md")),
];
