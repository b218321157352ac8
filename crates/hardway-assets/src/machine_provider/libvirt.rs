//! Virtual machines of a libvirt host.

use super::ProviderRow;
use crate::schema::{Field, Kind};

pub(super) static ROW: ProviderRow = ProviderRow {
    name: "libvirt",
    fields: &FIELDS,
    explanations: include_str!("libvirt.md"),
    is_gateway_here: true,
    configures_cards: false,
    serves_machine_configs: true,
};

// What the provider reads: `settings.rs` of its folder in hardway-machines. A test there holds both together.
static FIELDS: [Field; 10] = [
    Field::new("uri", Kind::String).default("qemu:///system"),
    Field::new("pool", Kind::String).default("default"),
    Field::new("poolPath", Kind::String),
    Field::new("network", Kind::String),
    Field::new("bridge", Kind::String),
    Field::new("accelerator", Kind::String).default("auto").allowed(&["auto", "kvm", "tcg"]),
    Field::new("haproxy", Kind::String).default("auto").allowed(&["auto", "systemd", "podman", "daemon"]),
    Field::new("haproxyImage", Kind::String),
    Field::new("upstreamDNS", Kind::OneOrMany(&Kind::Ip)),
    Field::new("resolver", Kind::String).default("auto").allowed(&[
        "auto",
        "systemd-resolved",
        "network-manager",
        "none",
    ]),
];
