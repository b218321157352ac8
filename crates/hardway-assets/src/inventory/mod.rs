//! `inventory.yaml`: what install-config cannot say. Hosts, addresses, release, machine provider.

mod inventory_file;

pub use inventory_file::*;
