//! `hosted-inventory.yaml`: the machines that workers of hosted clusters are made of.
//!
//! ```text
//! HostedInventory   pools, each with its hosts, by range or by name     hosted_inventory_file.rs
//! read()            the text → a HostedInventory, or every mistake      read.rs, rules.rs, address_range.rs
//! cluster()         what whoever makes machines is told                 site.rs
//! ```
//!
//! A hosted cluster has its control plane elsewhere: nothing here needs an install-config, a bootstrap host, masters or virtual addresses.

mod address_range;
mod hosted_inventory_file;
mod read;
mod rules;
mod site;

pub use hosted_inventory_file::*;
pub use read::{ExaminedHosted, examine, read};
