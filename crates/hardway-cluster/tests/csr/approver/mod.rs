//! The approver on a real control plane.

mod burst;
mod delivery;
mod joins;
mod kubelet;
mod lab;
mod lost_answers;
mod recovery;
mod rights;
mod troubles;
mod verified;
