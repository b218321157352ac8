//! Is the cluster what the inventory says, and does it work from outside? Named checks, each with what was seen.
//!
//! ```text
//! VerifyOutcome     how each Check ended                                    outcome.rs
//! Verifier          asks the cluster and runs the checks                    verifier.rs, questions.rs
//! judges            pure: what was seen → verdict                           nodes.rs, control_plane.rs, certificates.rs, surroundings.rs
//! masters           each without the balancer, and who is behind it         masters.rs, balancer.rs
//! leftovers         what must be gone                                       leftovers.rs
//! console           its route, as a browser comes to it                     console.rs
//! Workload          a pod of its own: scheduled, logs, exec, gone again     workload.rs
//! what is around it Service, names in a pod, Route                          inside.rs, pod_view.rs
//! ```

mod balancer;
mod certificates;
mod console;
mod control_plane;
mod inside;
mod leftovers;
mod masters;
mod nodes;
mod outcome;
mod pod_view;
mod questions;
mod surroundings;
#[cfg(test)]
mod tests;
mod verifier;
mod workload;

pub use balancer::{BalancerSeen, judge_balancer};
pub use certificates::{Presented, judge_certificates};
pub use control_plane::{PodsOf, judge_control_plane, judge_etcd, judge_operators};
pub use leftovers::{judge_leftovers, judge_requests};
pub use masters::{MasterAnswer, judge_masters};
pub use nodes::judge_nodes;
pub use outcome::{Check, VerifyOutcome};
pub use questions::AskError;
pub use surroundings::{ResolvedName, judge_names, judge_registry};
pub use verifier::{Endpoint, Surroundings, Verifier};
