//! What the bootstrap host is doing, asked of the host itself.
//!
//! ```text
//! BootstrapHost    over ssh ([`crate::remote`]) or by its journal    bootstrap_host.rs
//!   look()         one look: script, answer                         probe.rs
//!   Gateway        its journal, over TLS with certificates          gateway.rs, gateway_verifier.rs, journal_entry.rs
//! HostWatch        look after look                                  bootstrap_host.rs
//! ServiceRecord    a line of a service's own record                 record.rs
//! BootstrapReport  stages, manifests, pods, as sentences            report.rs, stages.rs
//! reset            a failed bootkube begins anew                    reset.rs
//! ```
//!
//! The record that the host's services keep of themselves is in files and in the journal, so that stages are known either
//! way. Static pods, containers and why a manifest does not exist are known over ssh alone, and a reset needs a shell.

mod bootstrap_host;
mod gateway;
mod gateway_verifier;
mod journal_entry;
mod probe;
mod record;
mod report;
mod reset;
mod stages;
#[cfg(test)]
mod tests;

pub(crate) use bootstrap_host::RECORDER;
pub use bootstrap_host::{BootstrapHost, HostError, HostWatch};
pub use gateway::{GATEWAY_PORT, Gateway, GatewayError, Which};
pub use journal_entry::JournalEntry;
pub use probe::{look, read};
pub use record::{ServiceRecord, entries};
pub use report::{BootstrapReport, Manifests, Sentence, State};
pub use reset::{RESET, ResetAction, ResetError, reset};
pub use stages::{Stage, stages};
