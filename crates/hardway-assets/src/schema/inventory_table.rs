//! The fields of `inventory.yaml`. The file is ours: this table is its definition.

use super::{Field, Kind, Table};

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

static MACHINES: [Field; 5] = [
    Field::new("provider", Kind::String)
        .required("one of bare-metal, gce, lab, libvirt is required")
        .allowed(&["bare-metal", "gce", "lab", "libvirt"]),
    Field::new("bare-metal", Kind::Object(&BARE_METAL)),
    Field::new("gce", Kind::Object(&GCE)),
    Field::new("lab", Kind::Object(&LAB)),
    Field::new("libvirt", Kind::Object(&LIBVIRT)),
];

// What the providers read: crates/hardway-machines/src/providers/*/settings.rs. A test there holds both together.

static BARE_METAL: [Field; 5] = [
    Field::new("boot", Kind::String).default("iso").allowed(&["iso", "pxe"]),
    Field::new("mediaUrl", Kind::String),
    Field::new("interface", Kind::String),
    Field::new("upstreamDNS", ADDRESSES),
    Field::new("hosts", Kind::Object(&BARE_METAL_HOSTS)),
];

static BARE_METAL_HOSTS: [Field; 1] = [Field::new("<host>", Kind::Object(&BARE_METAL_HOST))];

static BARE_METAL_HOST: [Field; 1] = [Field::new("bmc", Kind::Object(&BMC))];

static BMC: [Field; 7] = [
    Field::new("address", Kind::String).required_by_rule(),
    Field::new("user", Kind::String).required_by_rule(),
    Field::new("passwordFile", Kind::String).required_by_rule(),
    Field::new("password", Kind::Any).secret().refused_by_rule(),
    Field::new("auth", Kind::String).default("basic").allowed(&["basic", "session"]),
    Field::new("caFile", Kind::String),
    Field::new("insecure", Kind::Bool).default("false"),
];

static GCE: [Field; 13] = [
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

static LAB: [Field; 1] = [Field::new("name", Kind::String)];

static LIBVIRT: [Field; 10] = [
    Field::new("uri", Kind::String).default("qemu:///system"),
    Field::new("pool", Kind::String).default("default"),
    Field::new("poolPath", Kind::String),
    Field::new("network", Kind::String),
    Field::new("bridge", Kind::String),
    Field::new("accelerator", Kind::String).default("auto").allowed(&["auto", "kvm", "tcg"]),
    Field::new("haproxy", Kind::String).default("auto").allowed(&["auto", "systemd", "podman", "daemon"]),
    Field::new("haproxyImage", Kind::String),
    Field::new("upstreamDNS", ADDRESSES),
    Field::new("resolver", Kind::String).default("auto").allowed(&[
        "auto",
        "systemd-resolved",
        "network-manager",
        "none",
    ]),
];

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

static OPTIONS: [Field; 1] = [Field::new("kubeProxyOnMasters", Kind::Bool).default("false")];

static HOST: [Field; 9] = [
    Field::new("name", Kind::String).required("every host needs a name"),
    Field::new("role", Kind::String).required("one of bootstrap, master, worker is required").allowed(&[
        "bootstrap",
        "master",
        "worker",
    ]),
    Field::new("ip", ADDRESSES).required("every host needs a fixed address"),
    Field::new("mac", Kind::String),
    Field::new("interface", Kind::String),
    Field::new("installDisk", Kind::String),
    Field::new("cpus", Kind::Int(1, 4096)),
    Field::new("memoryGiB", Kind::Int(1, 65_536)),
    Field::new("diskGiB", Kind::Int(1, 1_048_576)),
];
