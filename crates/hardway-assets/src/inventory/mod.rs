//! `inventory.yaml`: what install-config cannot say. Hosts, addresses, release, machine provider.
//!
//! INPUT: the text of the file and, if there is one, the install-config it goes with. OUTPUT: an [`Inventory`] with
//! all defaults, or everything that is wrong with the file and between the two files, at once.

mod draft;
mod inventory_file;
mod read;
pub(crate) mod rules;
mod server_url;

pub use crate::machine_provider::Provider;
pub use inventory_file::*;
pub use read::{Errors, document, read, read_both};
pub use server_url::{DEFAULT_PORT, ServerUrl, ServerUrlError};
