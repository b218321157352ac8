//! Google Compute Engine.

use super::ProviderRow;
use crate::schema::{Field, Kind};

pub(super) static ROW: ProviderRow = ProviderRow {
    name: "gce",
    fields: &FIELDS,
    explanations: include_str!("gce.md"),
    is_gateway_here: false,
    configures_cards: true,
    serves_machine_configs: true,
};

// What the provider reads: `settings.rs` of its folder in hardway-machines. A test there holds both together.
static FIELDS: [Field; 13] = [
    Field::new("project", Kind::String).required_by_rule(),
    Field::new("zones", Kind::OneOrMany(&Kind::String)).required_by_rule(),
    Field::new("network", Kind::String).default("default"),
    Field::new("subnet", Kind::String),
    Field::new("machineType", Kind::String).default("n2-standard-4"),
    Field::new("diskType", Kind::String).default("pd-ssd"),
    Field::new("image", Kind::String),
    Field::new("imageProject", Kind::String),
    Field::new("imageFile", Kind::String),
    Field::new("bucket", Kind::String),
    Field::new("externalAddresses", Kind::Bool).default("true"),
    Field::new("sourceRanges", Kind::OneOrMany(&Kind::Cidr)),
    Field::new("serviceAccount", Kind::String),
];
