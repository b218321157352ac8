//! What a machine provider wants done to this host, and doing it.
//!
//! ```text
//! Action       one wish: why, what to do, how to see that it holds, how to take it back   action.rs
//! shell()      a list of actions as a script a person could run                           script.rs
//! Executor     carries actions out, or takes them back, and writes down each              executor.rs
//! Host         the only place where they change the host                                  host.rs
//! ```
//!
//! Steps, programs and the ledger of what was done are the journal's (`hardway-journal`): what takes an action back is kept
//! there.
//!
//! A provider plans purely: inventory in, actions out. The executor first looks whether an action holds; then nothing is
//! done, and nothing is taken back later either, because what was there before belongs to somebody else.

mod action;
mod executor;
mod host;
mod script;

pub use action::{Action, ActionCheck};
pub use executor::{ActionListener, ActionOutcome, Executor, ExecutorError};
pub use hardway_journal::{Ledger, Owned, Program, Step};
pub use host::{Host, StepError};
pub use script::shell;
