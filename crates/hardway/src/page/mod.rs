//! What the page shows: gathered from the folder, and followed while an install goes on.
//!
//! ```text
//! Known         what the journal says at one moment, in rows: `status -o json` and the page       known.rs
//! Moments       each line of the journal as what it changes in those rows, and a sentence         moments.rs, sentence.rs
//! document()    what stays: phases, hosts, names, balancer, certificates, assets                  document.rs
//! Look          the cluster and its machines as they are now, by a process of its own              look.rs, looks.rs
//! bundle()      what a log bundle brings                                                          bundle.rs
//! Feed          brings all of it, and what comes, to whoever shows it                             feed.rs
//! ```

mod bundle;
mod document;
mod feed;
mod known;
mod log_lines;
mod look;
pub(crate) mod looks;
mod moments;
mod sentence;

pub(crate) use bundle::bundle;
pub(crate) use document::{Document, document};
pub(crate) use feed::Feed;
pub(crate) use known::{Known, Section};
pub(crate) use look::Look;
