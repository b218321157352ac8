//! What every crate of hardway stands on. Nothing here knows what a cluster is.
//!
//! - [`files`]: replacing a file so that a crash leaves the old one or the new one (feature `files`)
//! - `archive`: the members of a tar archive that comes from elsewhere (feature `archives`)
//! - [`Secret`] and [`redaction`]: values that are not shown, and the one word that stands in their place
//! - [`error_sentence`]: an error with its causes, for people; [`error_cause`]: the one at the bottom
//! - `Anybody`: TLS with whoever answers (feature `tls`)
//! - [`hex`], [`pem`], [`shell_word`]: small encodings
//! - [`SshCall`]: how ssh is called, and whose host key it takes

#[cfg(feature = "tls")]
mod anybody;
#[cfg(feature = "archives")]
pub mod archive;
mod error_chain;
#[cfg(feature = "files")]
pub mod files;
pub mod hex;
pub mod pem;
pub mod redaction;
mod secret;
mod shell_word;
mod ssh_call;

#[cfg(feature = "tls")]
pub use anybody::Anybody;
pub use error_chain::{error_cause, error_sentence};
pub use secret::Secret;
pub use shell_word::shell_word;
pub use ssh_call::{HostKeyCheck, SshCall};
