//! Operators on their way to a cluster that works.
//!
//! ```text
//! Index            the fold over everything that was seen   index.rs
//! chain()          what an operator waits for, link by link chain.rs, prerequisites.rs
//! OperatorProgress what was reached, and when               progress.rs
//! VersionProgress  how far the version operator is          version_progress.rs
//! Timeline         what happened                            timeline.rs
//! ```

mod chain;
mod index;
mod prerequisites;
mod progress;
#[cfg(test)]
mod tests;
mod timeline;
mod version_progress;
mod view;

pub use chain::{Prerequisite, chain, first_broken};
pub use index::{Index, STABLE_FOR};
pub use progress::OperatorProgress;
pub use timeline::{Moment, Timeline};
pub use version_progress::VersionProgress;
pub use view::{OperatorView, Stall};
