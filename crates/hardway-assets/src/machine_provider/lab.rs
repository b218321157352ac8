//! Node containers on this computer.

use super::ProviderRow;
use crate::schema::{Field, FieldKind};

pub(super) static ROW: ProviderRow = ProviderRow {
    name: "lab",
    fields: &FIELDS,
    explanations: include_str!("lab.md"),
    is_gateway_here: true,
    configures_cards: false,
    serves_machine_configs: false,
    has_zones: false,
    no_hosted_workers: Some("a lab has a control plane of its own: it has no machines for hosted clusters"),
};

// What the provider reads: `settings.rs` of its folder in hardway-machines. A test there holds both together.
static FIELDS: [Field; 2] = [
    Field::new("name", FieldKind::String),
    Field::new("operators", FieldKind::String).allowed(&["real", "stand-ins"]).default("stand-ins"),
];
