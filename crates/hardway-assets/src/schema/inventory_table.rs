//! The fields of `inventory.yaml`. The file is ours: this table is its definition.

use super::{Field, Kind, Table};
use crate::machine_provider::MACHINES;

/// The table.
pub static INVENTORY: Table = Table { file: "inventory.yaml", prefix: "inventory ", fields: &FIELDS };

const ADDRESSES: Kind = Kind::OneOrMany(&Kind::Ip);

static FIELDS: [Field; 9] = [
    Field::new("apiVersion", Kind::String)
        .required("apiVersion: hardway.dev/v1alpha1 is required")
        .allowed(&["hardway.dev/v1alpha1"]),
    Field::new("kind", Kind::String).required("kind: Inventory is required").allowed(&["Inventory"]),
    Field::new("release", Kind::Object(&RELEASE)).required("the release to install is required"),
    Field::new("machines", Kind::Object(&MACHINES)).required("who provides the machines is required"),
    Field::new("network", Kind::Object(&NETWORK)).required("the addresses around the hosts are required"),
    Field::new("ignitionServer", Kind::Object(&IGNITION_SERVER)),
    Field::new("pki", Kind::Object(&PKI)),
    Field::new("options", Kind::Object(&OPTIONS)),
    Field::new("hosts", Kind::List(&Kind::Object(&HOST))).required("at least one host is required"),
];

static RELEASE: [Field; 1] =
    [Field::new("image", Kind::String).required("a pull spec by tag or digest, or sample, is required")];

static NETWORK: [Field; 5] = [
    Field::new("gateway", ADDRESSES).required("the hosts' default route is required"),
    Field::new("dns", ADDRESSES).required("at least one name server is required"),
    Field::new("apiVIP", ADDRESSES).required("the address that api and api-int point at is required"),
    Field::new("ingressVIP", ADDRESSES).required("the address that *.apps points at is required"),
    Field::new("loadBalancer", Kind::String).default("haproxy").allowed(&["haproxy", "external"]),
];

static IGNITION_SERVER: [Field; 1] = [Field::new("url", Kind::String)];

static PKI: [Field; 2] = [
    Field::new("keyAlgorithm", Kind::String).default("RSA-2048").allowed(&["RSA-2048", "ECDSA-P256"]),
    Field::new("shortLivedHours", Kind::Int(1, 8760)).default("24"),
];

static OPTIONS: [Field; 2] = [
    Field::new("kubeProxyOnMasters", Kind::Bool).default("false"),
    Field::new("networkPlugin", Kind::String),
];

static HOST: [Field; 10] = [
    Field::new("name", Kind::String).required("every host needs a name"),
    Field::new("role", Kind::String).one_of(&["bootstrap", "master", "worker"]),
    Field::new("ip", ADDRESSES).required("every host needs a fixed address"),
    Field::new("mac", Kind::String),
    Field::new("interface", Kind::String),
    Field::new("installDisk", Kind::String),
    Field::new("stockPointer", Kind::Bool).default("false"),
    Field::new("cpus", Kind::Int(1, 4096)),
    Field::new("memoryGiB", Kind::Int(1, 65_536)),
    Field::new("diskGiB", Kind::Int(1, 1_048_576)),
];
