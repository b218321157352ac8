//! What happened to a cluster, in order: `journal.jsonl` of the working folder.
//!
//! ```text
//! Entry     what somebody wants to have written                   entry.rs
//! Record    a line as it stands in the file, numbered and checked record.rs
//! Journal   the file, open for appending                          journal.rs
//! read()    every record; Follower: those since the last look     follower.rs
//! Fact      an event with a type, and those several crates share  fact.rs
//! ```
//!
//! The install, the ignition server and the approver are processes of their own and write to one file. So every append
//! takes the file's lock, is one write and one sync, and an entry counts from the moment `append` has returned: what a
//! killed process left half-written was promised to nobody, and the next append cuts it off. Anything else that does not
//! check is damage; nothing is dropped silently.

mod entry;
mod error;
mod fact;
mod follower;
mod journal;
mod record;

pub use entry::Entry;
pub use error::JournalError;
pub use fact::{Fact, IgnitionRedeemed, NodeJoined};
pub use follower::{Follower, read};
pub use journal::Journal;
pub use record::{Flaw, Record};

/// Its name in a working folder.
pub const FILE_NAME: &str = "journal.jsonl";
