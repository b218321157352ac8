//! A page to watch an install by, and to read it back afterwards.
//!
//! ```text
//! Content       what is shown: one document of what stays, and moments in order   content.rs
//! PageServer    gives it to browsers, over HTTP or TLS, and changes nothing        server.rs
//! Guard         who may ask: Host, Origin, token                                  guard.rs
//! static files  the page itself, written by hand and embedded                     static_files.rs
//! export()      all of it as one file                                             export.rs
//! ```
//!
//! A browser folds moments to what was known at one of them. It does not judge them: each moment carries the values that it
//! changes, as the program's own fold has them, so the page cannot come to another result than `hardway status`.
//!
//! What is shown is brought by the program; this crate knows neither journals nor clusters.

mod content;
mod export;
mod guard;
mod page_body;
mod server;
mod static_files;

pub use content::{Content, Live};
pub use export::export;
pub use server::{PageCertificate, PageOptions, PageServer, PageServerError};
