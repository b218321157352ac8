//! Machines that are there.

use super::ProviderRow;
use crate::schema::{Field, Kind};

pub(super) static ROW: ProviderRow = ProviderRow {
    name: "bare-metal",
    fields: &FIELDS,
    explanations: include_str!("bare_metal.md"),
    is_gateway_here: false,
    configures_cards: false,
    serves_machine_configs: true,
};

// What the provider reads: `settings.rs` of its folder in hardway-machines. A test there holds both together.
static FIELDS: [Field; 5] = [
    Field::new("boot", Kind::String).default("iso").allowed(&["iso", "pxe"]),
    Field::new("mediaUrl", Kind::String),
    Field::new("interface", Kind::String),
    Field::new("upstreamDNS", Kind::OneOrMany(&Kind::Ip)),
    Field::new("hosts", Kind::Object(&HOSTS)),
];

static HOSTS: [Field; 1] = [Field::new("<host>", Kind::Object(&HOST))];

static HOST: [Field; 1] = [Field::new("bmc", Kind::Object(&BMC))];

static BMC: [Field; 7] = [
    Field::new("address", Kind::String).required_by_rule(),
    Field::new("user", Kind::String).required_by_rule(),
    Field::new("passwordFile", Kind::String).required_by_rule(),
    Field::new("password", Kind::Any).secret().refused_by_rule(),
    Field::new("auth", Kind::String).default("basic").allowed(&["basic", "session"]),
    Field::new("caFile", Kind::String),
    Field::new("insecure", Kind::Bool).default("false"),
];
