//! Machines that are there.

use super::ProviderRow;
use crate::schema::{Field, FieldKind};

pub(super) static ROW: ProviderRow = ProviderRow {
    name: "bare-metal",
    fields: &FIELDS,
    explanations: include_str!("bare_metal.md"),
    is_gateway_here: false,
    configures_cards: false,
    serves_machine_configs: true,
    has_zones: false,
    no_hosted_workers: None,
};

// What the provider reads: `settings.rs` of its folder in hardway-machines. A test there holds both together.
static FIELDS: [Field; 11] = [
    Field::new("boot", FieldKind::String).default("iso").allowed(&["iso", "pxe"]),
    Field::new("mediaUrl", FieldKind::String),
    Field::new("interface", FieldKind::String),
    Field::new("services", FieldKind::String).default("systemd").allowed(&["systemd", "daemon"]),
    Field::new("names", FieldKind::String).default("dnsmasq").allowed(&["dnsmasq", "bind", "unit"]),
    Field::new("upstreamDNS", FieldKind::OneOrMany(&FieldKind::Ip)),
    Field::new("dhcp", FieldKind::String).default("none").allowed(&["none", "dnsmasq", "kea", "unit"]),
    Field::new("ipxe", FieldKind::String),
    Field::new("balancers", FieldKind::Object(&BALANCERS)),
    Field::new("routerID", FieldKind::Int(1, 255)).default("51"),
    Field::new("hosts", FieldKind::Object(&HOSTS)),
];

static BALANCERS: [Field; 1] = [Field::new("<balancer>", FieldKind::Object(&BALANCER))];

static BALANCER: [Field; 3] = [
    Field::new("ip", FieldKind::Ip).required_by_rule(),
    Field::new("interface", FieldKind::String).required_by_rule(),
    Field::new("ssh", FieldKind::String),
];

static HOSTS: [Field; 1] = [Field::new("<host>", FieldKind::Object(&HOST))];

static HOST: [Field; 1] = [Field::new("bmc", FieldKind::Object(&BMC))];

static BMC: [Field; 7] = [
    Field::new("address", FieldKind::String).required_by_rule(),
    Field::new("user", FieldKind::String).required_by_rule(),
    Field::new("passwordFile", FieldKind::String).required_by_rule(),
    Field::new("password", FieldKind::Any).secret().refused_by_rule(),
    Field::new("auth", FieldKind::String).default("basic").allowed(&["basic", "session"]),
    Field::new("caFile", FieldKind::String),
    Field::new("insecure", FieldKind::Bool).default("false"),
];
