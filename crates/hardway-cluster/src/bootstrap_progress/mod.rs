//! What the bootstrap host is doing, asked of the host itself.
//!
//! ```text
//! Remote           running a script there, over ssh                 remote.rs
//! look()           one look: script, answer                         probe.rs
//! HostWatch        look after look                                  host_watch.rs
//! Entry            a line of a service's own record                 record.rs
//! BootstrapReport  stages, manifests, pods, as sentences            report.rs, stages.rs
//! reset            a failed bootkube begins anew                    reset.rs
//! ```
//!
//! Why ssh and not the journal gateway of port 19531: the record that bootkube.sh keeps is a file, and so are the counts of
//! manifests; the journal has only the lines that were printed. A reset needs a shell anyway.

mod host_watch;
mod probe;
mod record;
mod remote;
mod report;
mod reset;
mod stages;
#[cfg(test)]
mod tests;

pub use host_watch::HostWatch;
pub use probe::{look, read};
pub use record::{Entry, entries};
pub use remote::{Remote, RemoteError};
pub use report::{BootstrapReport, Manifests, Sentence, State};
pub use reset::{RESET, ResetAction, ResetError, reset};
pub use stages::{Stage, stages};
