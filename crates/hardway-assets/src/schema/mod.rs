//! The two input files as tables of fields: which names exist, what type each has, what is said about it.
//!
//! One table serves four readers: [`check`] finds every unknown or mistyped field of a file at once, [`json_schema`]
//! exports the table for editors, `explain` has a text for each row, and a test holds tables and texts together.

mod check;
mod export;
mod field;
mod install_config_table;
mod inventory_table;
mod read;

pub(crate) use check::walk;
pub use check::{check, too_new};
pub use export::{install_config_schema, inventory_schema, json_schema};
pub use field::{Field, Kind, Presence, Table};
pub use install_config_table::INSTALL_CONFIG;
pub use inventory_table::INVENTORY;
pub use read::{Findings, Read};
pub(crate) use read::{reasons, syntax};
