//! Is the cluster what the inventory says, and does it work from outside? Named checks, each with what was seen.
//!
//! ```text
//! VerifyOutcome     how each Check ended                                    outcome.rs
//! Verifier          asks the cluster and runs the checks                    verifier.rs, questions.rs
//! judges            pure: what was seen → verdict                           nodes.rs, control_plane.rs, certificates.rs, surroundings.rs
//! Workload          a pod of its own: scheduled, logs, exec, gone again     workload.rs
//! ```

mod certificates;
mod console;
mod control_plane;
mod nodes;
mod outcome;
mod questions;
mod surroundings;
#[cfg(test)]
mod tests;
mod verifier;
mod workload;

pub use certificates::{Expiring, Presented, judge_certificates};
pub use control_plane::{PodsOf, judge_control_plane, judge_etcd, judge_operators};
pub use nodes::judge_nodes;
pub use outcome::{Check, VerifyOutcome, VerifyVerdict};
pub use questions::AskError;
pub use surroundings::{Resolved, judge_names, judge_registry};
pub use verifier::{Endpoint, Surroundings, Verifier};
