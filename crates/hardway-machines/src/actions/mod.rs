//! What a machine provider wants done to this host, and the doing of it.
//!
//! ```text
//! Action       one wish: why, what to do, how to see that it holds, how to take it back   action.rs
//! Step         a file to write, a command to run                                          step.rs
//! Program      a command line, as it is run and as it is shown                            program.rs
//! shell()      a list of actions as a script a person could run                           script.rs
//! Ledger       what was done and not yet taken back, folded from the journal              ledger.rs
//! Books        a ledger that is kept current                                              ledger.rs
//! Doer         carries actions out, or takes them back, and writes down each              doer.rs
//! Host         the only place that touches the host                                       host.rs
//! ```
//!
//! A provider plans purely: inventory in, actions out. The doer first looks whether an action holds; then nothing is
//! done, and nothing is taken back later either, because what was there before belongs to somebody else.

mod action;
mod doer;
mod host;
mod ledger;
mod program;
mod script;
mod step;

pub use action::{Action, Check};
pub use doer::{Doer, DoerError, Outcome, Progress};
pub use host::{Host, StepError};
pub use ledger::{ActionFinished, ActionStarted, ActionUndone, Books, Ledger, Owned};
pub use program::Program;
pub use script::shell;
pub use step::Step;
