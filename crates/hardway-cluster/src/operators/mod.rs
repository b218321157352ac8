//! Operators on their way to a cluster that works.
//!
//! ```text
//! WatchedCluster   the fold over everything that was seen   watched_cluster.rs
//! chain()          what an operator waits for, link by link chain.rs, prerequisites.rs
//! OperatorProgress what was reached, and when               progress.rs
//! VersionProgress  how far the version operator is          version_progress.rs
//! Timeline         what happened                            timeline.rs
//! ```

mod chain;
mod prerequisites;
mod progress;
#[cfg(test)]
mod tests;
mod timeline;
mod version_progress;
mod view;
mod watched_cluster;

pub use chain::{Prerequisite, blocking, chain};
pub use prerequisites::{usual_needs, usual_operators};
pub use progress::OperatorProgress;
pub use timeline::{Moment, Timeline};
pub use version_progress::VersionProgress;
pub use view::{OperatorView, Stall};
pub use watched_cluster::{STABLE_FOR, WatchedCluster};
