//! Waiting for a cluster, as openshift-install does, with its words and its order (cmd/openshift-install/{create,waitfor}.go).
//!
//! ```text
//! Wait                  a wait that is going on            waiter.rs
//!   .bootstrap_complete()                                  bootstrap_complete.rs
//!   .install_complete()                                    install_complete.rs
//!   .holds(), .look()                                      condition.rs
//! WaitError             why it was given up                error.rs
//! Line                  what is said meanwhile             line.rs
//! ```
//!
//! What is different: without `--timeout` nothing ends by the clock on the wall, only when nothing new has happened for a
//! while; and the answer to "safe to remove" is that of [`crate::pivot`]. Nothing is kept between runs: a wait that was
//! cut off is simply begun again.

mod bootstrap_complete;
mod condition;
mod error;
mod install_complete;
mod line;
mod waiter;

pub use condition::Judgement;
pub use error::{GiveUp, WaitError};
pub use install_complete::Installed;
pub use line::{Level, Line};
pub use waiter::{Sighting, Tell, Wait, WaitOptions};
