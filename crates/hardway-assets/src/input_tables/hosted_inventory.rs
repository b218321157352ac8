//! The fields of `hosted-inventory.yaml`. The file is ours: this table is its definition.

use crate::machine_provider::MACHINES;
use crate::schema::{Field, FieldKind, Table};

/// The table.
pub static HOSTED_INVENTORY: Table =
    Table { file: "hosted-inventory.yaml", prefix: "hosted-inventory ", fields: &FIELDS };

const ADDRESSES: FieldKind = FieldKind::OneOrMany(&FieldKind::Ip);

static FIELDS: [Field; 8] = [
    Field::new("apiVersion", FieldKind::String)
        .required("apiVersion: hardway.dev/v1alpha1 is required")
        .allowed(&["hardway.dev/v1alpha1"]),
    Field::new("kind", FieldKind::String)
        .required("kind: HostedInventory is required")
        .allowed(&["HostedInventory"]),
    Field::new("name", FieldKind::String).required("the name that machines and their network begin with"),
    Field::new("architecture", FieldKind::String).default("amd64").allowed(&["amd64", "arm64"]),
    Field::new("machines", FieldKind::Object(&MACHINES)).required("the provider of the machines"),
    Field::new("network", FieldKind::Object(&NETWORK)).required("the network of the workers"),
    Field::new("region", FieldKind::String),
    Field::new("pools", FieldKind::List(&FieldKind::Object(&POOL))).required("at least one pool is required"),
];

static NETWORK: [Field; 3] = [
    Field::new("machineNetwork", FieldKind::OneOrMany(&FieldKind::Cidr))
        .required("the network that the workers' addresses are in"),
    Field::new("gateway", ADDRESSES).required("the workers' default gateway"),
    Field::new("dns", ADDRESSES).required("at least one name server"),
];

static POOL: [Field; 13] = [
    Field::new("namespace", FieldKind::String).default("clusters"),
    Field::new("cluster", FieldKind::String).required("the HostedCluster that the workers are for"),
    Field::new("nodePool", FieldKind::String).required("the NodePool that the workers are for"),
    Field::new("names", FieldKind::String),
    Field::new("addresses", FieldKind::OneOrMany(&FieldKind::String)),
    Field::new("macPrefix", FieldKind::String),
    Field::new("interface", FieldKind::String),
    Field::new("installDisk", FieldKind::String),
    Field::new("cpus", FieldKind::Int(1, 4096)),
    Field::new("memoryGiB", FieldKind::Int(1, 65_536)),
    Field::new("diskGiB", FieldKind::Int(1, 1_048_576)),
    Field::new("zones", FieldKind::OneOrMany(&FieldKind::String)),
    Field::new("hosts", FieldKind::List(&FieldKind::Object(&HOST))),
];

static HOST: [Field; 6] = [
    Field::new("name", FieldKind::String).required("every host needs a name"),
    Field::new("ip", ADDRESSES).required("every host needs a fixed address"),
    Field::new("mac", FieldKind::String),
    Field::new("interface", FieldKind::String),
    Field::new("installDisk", FieldKind::String),
    Field::new("zone", FieldKind::String),
];
