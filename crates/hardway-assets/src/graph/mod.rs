//! The asset graph: who makes which file from what, what is stale and why.
//!
//! ```text
//! Asset      a rule: named sources → files                      asset.rs
//! Source     a config field, release facet, secret or file      source.rs
//! Graph      all rules of a cluster, ordered by their files      order.rs
//! Lock       what was made last time, from which hashes          lock.rs
//! plan()     graph + lock + disk → what to write, and why        plan.rs
//! Stale      the typed reasons                                   stale.rs
//! ```
//!
//! A fingerprint is a keyed hash over the values of an asset's sources. It is compared, source by source, with the one
//! in `assets.lock`, so that the answer to "why is this made again?" is always a named source. What assets read from
//! each other are the files as they lie on disk: a file edited by hand is kept, and flows downstream.

mod asset;
mod lock;
mod order;
mod plan;
mod render;
mod source;
mod stale;

pub use asset::{Asset, Inputs, MakeError, Output};
pub use lock::{Lock, LockError, LockedRelease, Resolution};
pub use order::{Graph, GraphError};
pub use plan::{FileState, Plan, PlanError, PlanStep, World, plan, plan_around};
pub use render::{to_dot, to_json, to_mermaid};
pub use source::{Facet, Fingerprints, Source};
pub use stale::{Expiry, Stale};
