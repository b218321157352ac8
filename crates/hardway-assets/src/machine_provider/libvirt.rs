//! Virtual machines of a libvirt host.

use super::ProviderRow;
use crate::schema::{Field, FieldKind};

pub(super) static ROW: ProviderRow = ProviderRow {
    name: "libvirt",
    fields: &FIELDS,
    explanations: include_str!("libvirt.md"),
    is_gateway_here: true,
    configures_cards: false,
    serves_machine_configs: true,
    has_zones: false,
    no_hosted_workers: None,
};

// What the provider reads: `settings.rs` of its folder in hardway-machines. A test there holds both together.
static FIELDS: [Field; 10] = [
    Field::new("uri", FieldKind::String).default("qemu:///system"),
    Field::new("pool", FieldKind::String).default("default"),
    Field::new("poolPath", FieldKind::String),
    Field::new("network", FieldKind::String),
    Field::new("bridge", FieldKind::String),
    Field::new("accelerator", FieldKind::String).default("auto").allowed(&["auto", "kvm", "tcg"]),
    Field::new("haproxy", FieldKind::String)
        .default("auto")
        .allowed(&["auto", "systemd", "podman", "daemon"]),
    Field::new("haproxyImage", FieldKind::String),
    Field::new("upstreamDNS", FieldKind::OneOrMany(&FieldKind::Ip)),
    Field::new("resolver", FieldKind::String).default("auto").allowed(&[
        "auto",
        "systemd-resolved",
        "network-manager",
        "none",
    ]),
];
