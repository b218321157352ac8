//! What every crate of hardway stands on. Nothing here knows what a cluster is.
//!
//! - [`files`]: replacing a file so that a crash leaves the old one or the new one (feature `files`)
//! - `archive`: the members of a tar archive that comes from elsewhere (feature `archives`)
//! - [`Secret`] and [`redaction`]: values that are not shown, and the one word that stands in their place
//! - [`Judged`]: how something that was looked at is
//! - [`error_sentence`]: an error with its causes, for people; [`error_cause`]: the one at the bottom
//! - `Anybody`: TLS with whoever answers; `http1_server_config`: TLS of a server (feature `tls`)
//! - `Listener`: takes connections, a bounded number at a time (feature `listener`)
//! - [`hex`], [`pem`], [`shell_word`]: small encodings; [`byte_range`]: the piece that a Range header asks for
//! - [`one_line`], [`counted`]: text for people
//! - [`Tally`]: how many lines are worth writing about what anybody can cause
//! - [`SshCall`]: how ssh is called, and whose host key it takes; [`podman`]: what podman has to be told on this host

#[cfg(feature = "archives")]
pub mod archive;
pub mod byte_range;
mod error_chain;
#[cfg(feature = "files")]
pub mod files;
pub mod hex;
mod judged;
#[cfg(feature = "listener")]
mod listener;
pub mod pem;
pub mod podman;
pub mod redaction;
mod ssh_call;
mod tally;
mod text;
#[cfg(feature = "tls")]
mod tls;

pub use error_chain::{error_cause, error_sentence};
pub use judged::{Judged, Verdict};
#[cfg(feature = "listener")]
pub use listener::{BoundListener, Listener};
pub use redaction::Secret;
pub use ssh_call::{HostKeyCheck, SshCall};
pub use tally::Tally;
pub use text::{counted, is_unprintable, one_line, shell_word};
#[cfg(feature = "tls")]
pub use tls::{Anybody, http1_server_config};
