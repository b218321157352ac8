//! The fields of `install-config.yaml` (installer `pkg/types/installconfig.go` and `machinepools.go`).
//!
//! Fields that only other platforms or later releases take are listed too: they are then refused by name and reason
//! instead of being called unknown.

use crate::schema::{Field, FieldKind, Table};

/// The table.
pub static INSTALL_CONFIG: Table = Table { file: "install-config.yaml", prefix: "", fields: &FIELDS };

const STRINGS: FieldKind = FieldKind::List(&FieldKind::String);

static FIELDS: [Field; 27] = [
    Field::new("apiVersion", FieldKind::String).required_by_rule().allowed(&["v1", "v1beta3", "v1beta4"]),
    Field::new("kind", FieldKind::String),
    Field::new("metadata", FieldKind::Object(&METADATA)).required_by_rule(),
    Field::new("baseDomain", FieldKind::String).required_by_rule(),
    Field::new("platform", FieldKind::Object(&PLATFORM)).required_by_rule(),
    Field::new("pullSecret", FieldKind::String).required_by_rule().secret(),
    Field::new("sshKey", FieldKind::String).secret(),
    Field::new("networking", FieldKind::Object(&NETWORKING)),
    Field::new("controlPlane", FieldKind::Object(&POOL)),
    Field::new("compute", FieldKind::List(&FieldKind::Object(&POOL))),
    Field::new("arbiter", FieldKind::AnyObject).since(4, 19),
    Field::new("proxy", FieldKind::Object(&PROXY)),
    Field::new("additionalTrustBundle", FieldKind::String).secret(),
    Field::new("additionalTrustBundlePolicy", FieldKind::String)
        .default("Proxyonly")
        .allowed(&["Proxyonly", "Always"]),
    Field::new("imageDigestSources", FieldKind::List(&FieldKind::Object(&IMAGE_DIGEST_SOURCE))),
    Field::new("imageContentSources", FieldKind::List(&FieldKind::Object(&IMAGE_CONTENT_SOURCE))),
    Field::new("publish", FieldKind::String).default("External").allowed(&["External", "Internal", "Mixed"]),
    Field::new("operatorPublishingStrategy", FieldKind::Object(&OPERATOR_PUBLISHING)),
    Field::new("fips", FieldKind::Bool).default("false"),
    Field::new("cpuPartitioningMode", FieldKind::String).default("None").allowed(&["None", "AllNodes"]),
    Field::new("credentialsMode", FieldKind::String).allowed(&["Mint", "Passthrough", "Manual"]),
    Field::new("bootstrapInPlace", FieldKind::Object(&BOOTSTRAP_IN_PLACE)),
    Field::new("capabilities", FieldKind::Object(&CAPABILITIES)),
    Field::new("featureSet", FieldKind::String).allowed(&[
        "",
        "CustomNoUpgrade",
        "DevPreviewNoUpgrade",
        "TechPreviewNoUpgrade",
    ]),
    Field::new("featureGates", STRINGS),
    Field::new("osImageStream", FieldKind::String).allowed(&["rhel-9", "rhel-10"]).since(4, 22),
    Field::new("pki", FieldKind::AnyObject).since(4, 23),
];

static METADATA: [Field; 5] = [
    Field::new("name", FieldKind::String).required_by_rule(),
    Field::new("namespace", FieldKind::String),
    Field::new("labels", FieldKind::AnyObject),
    Field::new("annotations", FieldKind::AnyObject),
    Field::new("creationTimestamp", FieldKind::Any),
];

static PLATFORM: [Field; 13] = [
    Field::new("none", FieldKind::Object(&[])),
    Field::new("aws", FieldKind::AnyObject),
    Field::new("azure", FieldKind::AnyObject),
    Field::new("baremetal", FieldKind::AnyObject),
    Field::new("external", FieldKind::AnyObject),
    Field::new("gcp", FieldKind::AnyObject),
    Field::new("ibmcloud", FieldKind::AnyObject),
    Field::new("nutanix", FieldKind::AnyObject),
    Field::new("openstack", FieldKind::AnyObject),
    Field::new("ovirt", FieldKind::AnyObject),
    Field::new("powervc", FieldKind::AnyObject).since(4, 21),
    Field::new("powervs", FieldKind::AnyObject),
    Field::new("vsphere", FieldKind::AnyObject),
];

static NETWORKING: [Field; 11] = [
    Field::new("networkType", FieldKind::String).default("OVNKubernetes"),
    Field::new("machineNetwork", FieldKind::List(&FieldKind::Object(&MACHINE_NETWORK)))
        .default(r#"[{"cidr": "10.0.0.0/16"}]"#),
    Field::new("clusterNetwork", FieldKind::List(&FieldKind::Object(&CLUSTER_NETWORK)))
        .default(r#"[{"cidr": "10.128.0.0/14", "hostPrefix": 23}]"#),
    Field::new("serviceNetwork", FieldKind::List(&FieldKind::Cidr)).default(r#"["172.30.0.0/16"]"#),
    Field::new("clusterNetworkMTU", FieldKind::Int(0, 0xffff_ffff)),
    Field::new("ovnKubernetesConfig", FieldKind::Object(&OVN)),
    Field::new("networkObservability", FieldKind::AnyObject).since(5, 1),
    Field::new("machineCIDR", FieldKind::Cidr),
    Field::new("serviceCIDR", FieldKind::Cidr),
    Field::new("clusterNetworks", FieldKind::List(&FieldKind::Object(&CLUSTER_NETWORK))),
    Field::new("type", FieldKind::String),
];

static MACHINE_NETWORK: [Field; 1] =
    [Field::new("cidr", FieldKind::Cidr).required("every machine network needs a cidr")];

static CLUSTER_NETWORK: [Field; 3] = [
    Field::new("cidr", FieldKind::Cidr).required("every cluster network needs a cidr"),
    Field::new("hostPrefix", FieldKind::Int(i32::MIN as i64, i32::MAX as i64)),
    Field::new("hostSubnetLength", FieldKind::Int(i32::MIN as i64, i32::MAX as i64)),
];

static OVN: [Field; 1] = [Field::new("ipv4", FieldKind::Object(&OVN_IPV4))];
static OVN_IPV4: [Field; 1] = [Field::new("internalJoinSubnet", FieldKind::Cidr).default("100.64.0.0/16")];

static POOL: [Field; 8] = [
    Field::new("name", FieldKind::String).allowed(&["master", "worker"]),
    Field::new("replicas", FieldKind::Int(i64::MIN, i64::MAX)).default("3"),
    Field::new("hyperthreading", FieldKind::String).default("Enabled").allowed(&["Disabled", "Enabled"]),
    // Its default is the release's, which the table cannot know.
    Field::new("architecture", FieldKind::String).allowed(&["amd64", "arm64", "ppc64le", "s390x"]),
    Field::new("platform", FieldKind::AnyObject),
    Field::new("fencing", FieldKind::AnyObject).since(4, 19),
    Field::new("diskSetup", FieldKind::List(&FieldKind::AnyObject)).since(4, 20),
    Field::new("management", FieldKind::String).allowed(&["ClusterAPI", "MachineAPI"]).since(4, 22),
];

static PROXY: [Field; 3] = [
    Field::new("httpProxy", FieldKind::String),
    Field::new("httpsProxy", FieldKind::String),
    Field::new("noProxy", FieldKind::String),
];

static IMAGE_DIGEST_SOURCE: [Field; 3] = [
    Field::new("source", FieldKind::String).required_by_rule(),
    Field::new("mirrors", STRINGS),
    Field::new("sourcePolicy", FieldKind::String)
        .allowed(&["NeverContactSource", "AllowContactingSource"])
        .since(4, 21),
];

static IMAGE_CONTENT_SOURCE: [Field; 2] =
    [Field::new("source", FieldKind::String).required_by_rule(), Field::new("mirrors", STRINGS)];

static OPERATOR_PUBLISHING: [Field; 2] = [
    Field::new("apiserver", FieldKind::String).default("External").allowed(&["Internal", "External"]),
    Field::new("ingress", FieldKind::String).default("External").allowed(&["Internal", "External"]),
];

static BOOTSTRAP_IN_PLACE: [Field; 1] =
    [Field::new("installationDisk", FieldKind::String).required_by_rule()];

static CAPABILITIES: [Field; 2] = [
    Field::new("baselineCapabilitySet", FieldKind::String).required_by_rule().allowed(&[
        "None", "v4.11", "v4.12", "v4.13", "v4.14", "v4.15", "v4.16", "v4.17", "v4.18", "vCurrent",
    ]),
    Field::new("additionalEnabledCapabilities", STRINGS),
];
