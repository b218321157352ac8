//! From booting machines to a converged cluster: certificate policy, bootstrap progress, pivot, operators, diagnosis.

pub mod approver;
pub mod csr_policy;
pub mod simulation;
