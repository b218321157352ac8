//! Google Compute Engine.

use super::ProviderRow;
use crate::schema::{Field, FieldKind};

pub(super) static ROW: ProviderRow = ProviderRow {
    name: "gce",
    fields: &FIELDS,
    explanations: include_str!("gce.md"),
    is_gateway_here: false,
    configures_cards: true,
    serves_machine_configs: true,
    has_zones: true,
    no_hosted_workers: None,
};

// What the provider reads: `settings.rs` of its folder in hardway-machines. A test there holds both together.
static FIELDS: [Field; 13] = [
    Field::new("project", FieldKind::String).required_by_rule(),
    Field::new("zones", FieldKind::OneOrMany(&FieldKind::String)).required_by_rule(),
    Field::new("network", FieldKind::String).default("default"),
    Field::new("subnet", FieldKind::String),
    Field::new("machineType", FieldKind::String).default("n2-standard-4"),
    Field::new("diskType", FieldKind::String).default("pd-ssd"),
    Field::new("image", FieldKind::String),
    Field::new("imageProject", FieldKind::String),
    Field::new("imageFile", FieldKind::String),
    Field::new("bucket", FieldKind::String),
    Field::new("externalAddresses", FieldKind::Bool).default("true"),
    Field::new("sourceRanges", FieldKind::OneOrMany(&FieldKind::Cidr)),
    Field::new("serviceAccount", FieldKind::String),
];
