//! The fields of `install-config.yaml` (installer `pkg/types/installconfig.go` and `machinepools.go`).
//!
//! Fields that only other platforms or later releases take are listed too: they are then refused by name and reason
//! instead of being called unknown.

use super::{Field, Kind, Table};

/// The table.
pub static INSTALL_CONFIG: Table = Table { file: "install-config.yaml", prefix: "", fields: &FIELDS };

const STRINGS: Kind = Kind::List(&Kind::String);

static FIELDS: [Field; 27] = [
    Field::new("apiVersion", Kind::String).required_by_rule().allowed(&["v1", "v1beta3", "v1beta4"]),
    Field::new("kind", Kind::String),
    Field::new("metadata", Kind::Object(&METADATA)).required_by_rule(),
    Field::new("baseDomain", Kind::String).required_by_rule(),
    Field::new("platform", Kind::Object(&PLATFORM)).required_by_rule(),
    Field::new("pullSecret", Kind::String).required_by_rule().secret(),
    Field::new("sshKey", Kind::String).secret(),
    Field::new("networking", Kind::Object(&NETWORKING)),
    Field::new("controlPlane", Kind::Object(&POOL)),
    Field::new("compute", Kind::List(&Kind::Object(&POOL))),
    Field::new("arbiter", Kind::AnyObject).since(4, 19),
    Field::new("proxy", Kind::Object(&PROXY)),
    Field::new("additionalTrustBundle", Kind::String).secret(),
    Field::new("additionalTrustBundlePolicy", Kind::String)
        .default("Proxyonly")
        .allowed(&["Proxyonly", "Always"]),
    Field::new("imageDigestSources", Kind::List(&Kind::Object(&IMAGE_DIGEST_SOURCE))),
    Field::new("imageContentSources", Kind::List(&Kind::Object(&IMAGE_CONTENT_SOURCE))),
    Field::new("publish", Kind::String).default("External").allowed(&["External", "Internal", "Mixed"]),
    Field::new("operatorPublishingStrategy", Kind::Object(&OPERATOR_PUBLISHING)),
    Field::new("fips", Kind::Bool).default("false"),
    Field::new("cpuPartitioningMode", Kind::String).default("None").allowed(&["None", "AllNodes"]),
    Field::new("credentialsMode", Kind::String).allowed(&["Mint", "Passthrough", "Manual"]),
    Field::new("bootstrapInPlace", Kind::Object(&BOOTSTRAP_IN_PLACE)),
    Field::new("capabilities", Kind::Object(&CAPABILITIES)),
    Field::new("featureSet", Kind::String).allowed(&[
        "",
        "CustomNoUpgrade",
        "DevPreviewNoUpgrade",
        "TechPreviewNoUpgrade",
    ]),
    Field::new("featureGates", STRINGS),
    Field::new("osImageStream", Kind::String).allowed(&["rhel-9", "rhel-10"]).since(4, 22),
    Field::new("pki", Kind::AnyObject).since(4, 23),
];

static METADATA: [Field; 5] = [
    Field::new("name", Kind::String).required_by_rule(),
    Field::new("namespace", Kind::String),
    Field::new("labels", Kind::AnyObject),
    Field::new("annotations", Kind::AnyObject),
    Field::new("creationTimestamp", Kind::Any),
];

static PLATFORM: [Field; 13] = [
    Field::new("none", Kind::Object(&[])),
    Field::new("aws", Kind::AnyObject),
    Field::new("azure", Kind::AnyObject),
    Field::new("baremetal", Kind::AnyObject),
    Field::new("external", Kind::AnyObject),
    Field::new("gcp", Kind::AnyObject),
    Field::new("ibmcloud", Kind::AnyObject),
    Field::new("nutanix", Kind::AnyObject),
    Field::new("openstack", Kind::AnyObject),
    Field::new("ovirt", Kind::AnyObject),
    Field::new("powervc", Kind::AnyObject).since(4, 21),
    Field::new("powervs", Kind::AnyObject),
    Field::new("vsphere", Kind::AnyObject),
];

static NETWORKING: [Field; 11] = [
    Field::new("networkType", Kind::String).default("OVNKubernetes"),
    Field::new("machineNetwork", Kind::List(&Kind::Object(&MACHINE_NETWORK)))
        .default(r#"[{"cidr": "10.0.0.0/16"}]"#),
    Field::new("clusterNetwork", Kind::List(&Kind::Object(&CLUSTER_NETWORK)))
        .default(r#"[{"cidr": "10.128.0.0/14", "hostPrefix": 23}]"#),
    Field::new("serviceNetwork", Kind::List(&Kind::Cidr)).default(r#"["172.30.0.0/16"]"#),
    Field::new("clusterNetworkMTU", Kind::Int(0, 0xffff_ffff)),
    Field::new("ovnKubernetesConfig", Kind::Object(&OVN)),
    Field::new("networkObservability", Kind::AnyObject).since(5, 1),
    Field::new("machineCIDR", Kind::Cidr),
    Field::new("serviceCIDR", Kind::Cidr),
    Field::new("clusterNetworks", Kind::List(&Kind::Object(&CLUSTER_NETWORK))),
    Field::new("type", Kind::String),
];

static MACHINE_NETWORK: [Field; 1] =
    [Field::new("cidr", Kind::Cidr).required("every machine network needs a cidr")];

static CLUSTER_NETWORK: [Field; 3] = [
    Field::new("cidr", Kind::Cidr).required("every cluster network needs a cidr"),
    Field::new("hostPrefix", Kind::Int(i32::MIN as i64, i32::MAX as i64)),
    Field::new("hostSubnetLength", Kind::Int(i32::MIN as i64, i32::MAX as i64)),
];

static OVN: [Field; 1] = [Field::new("ipv4", Kind::Object(&OVN_IPV4))];
static OVN_IPV4: [Field; 1] = [Field::new("internalJoinSubnet", Kind::Cidr).default("100.64.0.0/16")];

static POOL: [Field; 8] = [
    Field::new("name", Kind::String).allowed(&["master", "worker"]),
    Field::new("replicas", Kind::Int(i64::MIN, i64::MAX)).default("3"),
    Field::new("hyperthreading", Kind::String).default("Enabled").allowed(&["Disabled", "Enabled"]),
    // Its default is the release's, which the table cannot know.
    Field::new("architecture", Kind::String).allowed(&["amd64", "arm64", "ppc64le", "s390x"]),
    Field::new("platform", Kind::AnyObject),
    Field::new("fencing", Kind::AnyObject).since(4, 19),
    Field::new("diskSetup", Kind::List(&Kind::AnyObject)).since(4, 20),
    Field::new("management", Kind::String).allowed(&["ClusterAPI", "MachineAPI"]).since(4, 22),
];

static PROXY: [Field; 3] = [
    Field::new("httpProxy", Kind::String),
    Field::new("httpsProxy", Kind::String),
    Field::new("noProxy", Kind::String),
];

static IMAGE_DIGEST_SOURCE: [Field; 3] = [
    Field::new("source", Kind::String).required_by_rule(),
    Field::new("mirrors", STRINGS),
    Field::new("sourcePolicy", Kind::String)
        .allowed(&["NeverContactSource", "AllowContactingSource"])
        .since(4, 21),
];

static IMAGE_CONTENT_SOURCE: [Field; 2] =
    [Field::new("source", Kind::String).required_by_rule(), Field::new("mirrors", STRINGS)];

static OPERATOR_PUBLISHING: [Field; 2] = [
    Field::new("apiserver", Kind::String).default("External").allowed(&["Internal", "External"]),
    Field::new("ingress", Kind::String).default("External").allowed(&["Internal", "External"]),
];

static BOOTSTRAP_IN_PLACE: [Field; 1] = [Field::new("installationDisk", Kind::String).required_by_rule()];

static CAPABILITIES: [Field; 2] = [
    Field::new("baselineCapabilitySet", Kind::String).required_by_rule().allowed(&[
        "None", "v4.11", "v4.12", "v4.13", "v4.14", "v4.15", "v4.16", "v4.17", "v4.18", "vCurrent",
    ]),
    Field::new("additionalEnabledCapabilities", STRINGS),
];
