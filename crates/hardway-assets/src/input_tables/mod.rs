//! The tables of the input files, and each as JSON Schema.

mod export;
mod hosted_inventory;
mod install_config;
mod inventory;

pub use export::{hosted_inventory_schema, install_config_schema, inventory_schema, json_schema};
pub use hosted_inventory::HOSTED_INVENTORY;
pub use install_config::INSTALL_CONFIG;
pub use inventory::INVENTORY;
