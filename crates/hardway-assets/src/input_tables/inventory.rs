//! The fields of `inventory.yaml`. The file is ours: this table is its definition.

use crate::machine_provider::MACHINES;
use crate::schema::{Field, FieldKind, Table};

/// The table.
pub static INVENTORY: Table = Table { file: "inventory.yaml", prefix: "inventory ", fields: &FIELDS };

const ADDRESSES: FieldKind = FieldKind::OneOrMany(&FieldKind::Ip);

static FIELDS: [Field; 10] = [
    Field::new("apiVersion", FieldKind::String)
        .required("apiVersion: hardway.dev/v1alpha1 is required")
        .allowed(&["hardway.dev/v1alpha1"]),
    Field::new("kind", FieldKind::String).required("kind: Inventory is required").allowed(&["Inventory"]),
    Field::new("release", FieldKind::Object(&RELEASE)).required("the release to install"),
    Field::new("machines", FieldKind::Object(&MACHINES)).required("the provider of the machines"),
    Field::new("network", FieldKind::Object(&NETWORK)).required("the network of the hosts"),
    Field::new("ignitionServer", FieldKind::Object(&IGNITION_SERVER)),
    Field::new("pki", FieldKind::Object(&PKI)),
    Field::new("options", FieldKind::Object(&OPTIONS)),
    Field::new("day2", FieldKind::Object(&DAY_TWO)),
    Field::new("hosts", FieldKind::List(&FieldKind::Object(&HOST))).required("at least one host is required"),
];

static RELEASE: [Field; 3] = [
    Field::new("image", FieldKind::String).required(
        "a pull spec by tag or digest, a word such as \"4.18\", stable-4.18 or okd-scos, or sample",
    ),
    Field::new("graph", FieldKind::String),
    Field::new("repository", FieldKind::String),
];

static NETWORK: [Field; 5] = [
    Field::new("gateway", ADDRESSES).required("the hosts' default gateway"),
    Field::new("dns", ADDRESSES).required("at least one name server"),
    Field::new("apiVIP", ADDRESSES).required("the address of api and api-int"),
    Field::new("ingressVIP", ADDRESSES).required("the address of *.apps"),
    Field::new("loadBalancer", FieldKind::String).default("haproxy").allowed(&["haproxy", "external"]),
];

static IGNITION_SERVER: [Field; 1] = [Field::new("url", FieldKind::String)];

static PKI: [Field; 2] = [
    Field::new("keyAlgorithm", FieldKind::String).default("RSA-2048").allowed(&["RSA-2048", "ECDSA-P256"]),
    Field::new("shortLivedHours", FieldKind::Int(1, 8760)).default("24"),
];

static OPTIONS: [Field; 2] = [
    Field::new("kubeProxyOnMasters", FieldKind::Bool).default("false"),
    Field::new("networkPlugin", FieldKind::String),
];

static HOST: [Field; 10] = [
    Field::new("name", FieldKind::String).required("every host needs a name"),
    Field::new("role", FieldKind::String).one_of(&["bootstrap", "master", "worker"]),
    Field::new("ip", ADDRESSES).required("every host needs a fixed address"),
    Field::new("mac", FieldKind::String),
    Field::new("interface", FieldKind::String),
    Field::new("installDisk", FieldKind::String),
    Field::new("stockPointer", FieldKind::Bool).default("false"),
    Field::new("cpus", FieldKind::Int(1, 4096)),
    Field::new("memoryGiB", FieldKind::Int(1, 65_536)),
    Field::new("diskGiB", FieldKind::Int(1, 1_048_576)),
];

static DAY_TWO: [Field; 9] = [
    Field::new("identity", FieldKind::Object(&IDENTITY)),
    Field::new("certificates", FieldKind::Object(&CERTIFICATES)),
    Field::new("trust", FieldKind::Object(&TRUST)),
    Field::new("proxy", FieldKind::Object(&PROXY)),
    Field::new("time", FieldKind::Object(&TIME)),
    Field::new("sshKeys", FieldKind::Object(&SSH_KEYS)),
    Field::new("pullSecret", FieldKind::Object(&PULL_SECRET)),
    Field::new("registry", FieldKind::Object(&REGISTRY)),
    Field::new("monitoring", FieldKind::Object(&MONITORING)),
];

static IDENTITY: [Field; 4] = [
    Field::new("admin", FieldKind::String).required("the user who becomes cluster-admin"),
    Field::new("htpasswd", FieldKind::Object(&HTPASSWD)),
    Field::new("ldap", FieldKind::Object(&LDAP)),
    Field::new("openID", FieldKind::Object(&OPEN_ID)),
];

static HTPASSWD: [Field; 1] =
    [Field::new("users", FieldKind::List(&FieldKind::Object(&HTPASSWD_USER))).required("at least one user")];

static HTPASSWD_USER: [Field; 2] = [
    Field::new("name", FieldKind::String).required("every user needs a name"),
    Field::new("passwordFile", FieldKind::String).required("every user needs a file with a password"),
];

static LDAP: [Field; 4] = [
    Field::new("url", FieldKind::String).required("the server and where its users are"),
    Field::new("bindDN", FieldKind::String),
    Field::new("bindPasswordFile", FieldKind::String),
    Field::new("caFile", FieldKind::String),
];

static OPEN_ID: [Field; 4] = [
    Field::new("issuer", FieldKind::String).required("the URL of the single sign-on"),
    Field::new("clientID", FieldKind::String).required("what the cluster is called there"),
    Field::new("clientSecretFile", FieldKind::String).required("the file with the cluster's password there"),
    Field::new("caFile", FieldKind::String),
];

static CERTIFICATES: [Field; 2] = [
    Field::new("api", FieldKind::Object(&SERVING_PAIR)),
    Field::new("ingress", FieldKind::Object(&SERVING_PAIR)),
];

static SERVING_PAIR: [Field; 2] = [
    Field::new("certificateFile", FieldKind::String).required("the file with the certificate and its chain"),
    Field::new("keyFile", FieldKind::String).required("the file with the key of the certificate"),
];

static TRUST: [Field; 1] =
    [Field::new("bundleFile", FieldKind::String).required("the file with the certificates of the CAs")];

static PROXY: [Field; 3] = [
    Field::new("httpProxy", FieldKind::String),
    Field::new("httpsProxy", FieldKind::String),
    Field::new("noProxy", FieldKind::String),
];

static TIME: [Field; 1] =
    [Field::new("servers", FieldKind::List(&FieldKind::String)).required("at least one time server")];

static SSH_KEYS: [Field; 1] =
    [Field::new("file", FieldKind::String).required("the file with public keys, one in a line")];

static PULL_SECRET: [Field; 1] =
    [Field::new("file", FieldKind::String).required("the file with the pull secret, as JSON")];

static REGISTRY: [Field; 2] = [
    Field::new("sizeGiB", FieldKind::Int(1, 1_048_576)).required("the size of the volume"),
    Field::new("storageClass", FieldKind::String),
];

static MONITORING: [Field; 4] = [
    Field::new("retentionDays", FieldKind::Int(1, 3650)).default("15"),
    Field::new("sizeGiB", FieldKind::Int(1, 1_048_576)).required("the size of each volume"),
    Field::new("storageClass", FieldKind::String),
    Field::new("userWorkloads", FieldKind::Bool).default("false"),
];
