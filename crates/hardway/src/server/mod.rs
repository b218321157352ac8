//! Serving: machines get their configs on their first boot, from a working folder or for a hosted cluster.
//!
//! ```text
//! options.rs     whom to serve, from where, and how
//! folder.rs      the working folder: hosts, pools, what tokens are made with
//! prepare.rs     options, folder → faces, certificates, addresses: everything that can be wrong beforehand
//! service.rs     the servers, and the loop that tells what happens
//! watch_list.rs  what is looked at again and again
//! media_paths.rs where install media are served, which nobody guesses
//! hosted.rs      the management cluster of hosted workers
//! background.rs  beside a command that boots machines meanwhile
//! ```

mod background;
mod folder;
mod hosted;
mod media_paths;
mod options;
mod prepare;
mod service;
mod watch_list;

pub(crate) use background::{Background, ServerEvent, words};
pub(crate) use folder::{ServedFolder, ServedHosts};
pub(crate) use media_paths::{drawn_media_paths, iso, media_paths, path_of_iso};
pub(crate) use options::{Certificate, ServeOptions};
pub(crate) use prepare::{Prepared, needs_folder, prepare};
pub(crate) use service::{Listener, ServedJournal, Service, failed};
