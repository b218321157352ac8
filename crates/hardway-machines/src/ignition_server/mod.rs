//! The ignition server: gives a machine its config on its first boot, and to nobody else.
//!
//! ```text
//!  TCP ─► listener ─► tls ─► connection ─► router ─► faces/host     /ignition/<host>   our own nodes, a token each
//!         caps        hot      hyper,      one of   ├► faces/pool    /config/<pool>     as the machine-config-server
//!         drain      reload    timeouts    them     └► faces/hosted  /ignition          as HyperShift's ignition-server
//!                                             │
//!                                redemptions: on disk before the first byte of a config leaves
//! ```
//!
//! A face decides with data alone (`ConfigRequest` → [`ConfigDecision`]) and is tested so; whatever waits, connects or counts is
//! outside of it. Configs are prepared once ([`PreparedConfig`]); a request costs its check and the encryption.
//!
//! What Ignition makes of an answer (coreos/ignition `internal/resource/http.go`, `url.go`): 5xx and a broken connection
//! are tried again for ever, any other status but 200 ends the boot. So what may yet come right is 5xx, and 4xx is kept
//! for what never will.

pub mod accept;
mod answer;
mod config_request;
mod connection;
mod decision;
mod event;
pub mod faces;
pub mod hosted_tokens;
pub(crate) mod http1;
mod limits;
pub(crate) mod listener;
mod metrics;
mod paced_stream;
mod paths;
mod places;
mod prepared_config;
mod redemptions;
mod router;
mod server;
pub mod spec_version;
mod timed_io;
mod tls;
pub mod token_watch;
pub mod upstream;

pub use answer::Answer;
pub use config_request::ConfigRequest;
pub use decision::{ConfigDecision, Redemption};
pub use event::{ConfigEvent, Happened};
pub use limits::{Limits, SourceBuckets};
pub use metrics::Metrics;
pub use paths::{RequestPath, route};
pub(crate) use places::Activity;
pub use prepared_config::PreparedConfig;
pub use redemptions::{Recorder, Unrecorded};
pub use router::{Faces, Router};
pub use server::{Listen, Server, ServerError};
pub(crate) use timed_io::TimedIo;
pub use tls::{CertificateFiles, Certificates, TlsError};
