//! Node containers on this computer.

use super::ProviderRow;
use crate::schema::{Field, Kind};

pub(super) static ROW: ProviderRow = ProviderRow {
    name: "lab",
    fields: &FIELDS,
    explanations: include_str!("lab.md"),
    is_gateway_here: true,
    configures_cards: false,
    serves_machine_configs: false,
};

// What the provider reads: `settings.rs` of its folder in hardway-machines. A test there holds both together.
static FIELDS: [Field; 1] = [Field::new("name", Kind::String)];
