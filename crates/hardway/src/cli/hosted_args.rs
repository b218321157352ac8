//! `hardway hosted`: what can be typed.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use jiff::SignedDuration;

use super::{ControllerArgs, Format, RemovalArgs, WorkersVerb};

#[derive(Debug, Args)]
pub(crate) struct HostedArgs {
    #[command(flatten)]
    pub(crate) management: ManagementArgs,
    #[command(subcommand)]
    pub(crate) noun: HostedNoun,
}

/// How the management cluster is reached.
#[derive(Debug, Args)]
pub(crate) struct ManagementArgs {
    /// How to reach the management cluster [default: $KUBECONFIG, or the pod's service account]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Namespace of the HostedCluster; its control plane has one of its own
    #[arg(long, global = true, default_value = "clusters")]
    pub(crate) namespace: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HostedNoun {
    /// Make, look at and delete hosted clusters of platform None
    #[command(subcommand)]
    Cluster(Box<ClusterVerb>),
    /// Make, look at and delete pools of workers
    #[command(subcommand)]
    Nodepool(NodepoolVerb),
    /// Add, remove, replace and list workers: machines that become nodes
    #[command(subcommand)]
    Workers(WorkersVerb),
    /// Say what keeps workers of a hosted cluster from working, and what to do; exit 1 if something does
    Doctor(DoctorArgs),
    /// Say who makes the certificate that the network of a hosted cluster waits for, and make it where nobody else will
    Ovn(OvnArgs),
    /// Stand in for HyperShift's operators in a rehearsal without them: publish a config for a pool, and keep its tokens
    StandIn(StandInArgs),
    /// Keep a short-lived token of a service account of the hosted cluster fresh in a folder, until told to stop
    Token(TokenArgs),
    /// Keep the workers of a hosted cluster true, until told to stop
    Controller(Box<ControllerArgs>),
}

#[derive(Debug, Subcommand)]
pub(crate) enum ClusterVerb {
    /// Print the objects of a hosted cluster
    Render(HostedRenderArgs),
    /// Make a hosted cluster, and its first pool
    Create(ClusterSpecArgs),
    /// Say how a hosted cluster and its pools stand
    Status(ClusterNameArgs),
    /// Print the administrator's kubeconfig of a hosted cluster
    Kubeconfig {
        /// Name of the hosted cluster
        name: String,
    },
    /// Delete a hosted cluster with everything in it
    Delete {
        /// Name of the hosted cluster
        name: String,
        #[command(flatten)]
        removal: RemovalArgs,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ClusterNameArgs {
    /// Name of the hosted cluster
    pub(crate) name: String,
    /// Form of what is printed on standard output
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct HostedRenderArgs {
    #[command(flatten)]
    pub(crate) cluster: ClusterSpecArgs,
    /// Also print what is secret; without it, Secrets come without their values
    #[arg(long)]
    pub(crate) render_sensitive: bool,
}

/// The flags of `hypershift create cluster none`, where it has them.
#[derive(Debug, Args)]
pub(crate) struct ClusterSpecArgs {
    /// Name of the hosted cluster
    pub(crate) name: String,
    /// Address of the management cluster's nodes, as workers reach it: a DNS name or an IP address. It can never be changed
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) external_api_server_address: String,
    /// First of four NodePorts in a row: API, OAuth, Konnectivity, ignition [default: follows from the name, below 30086]
    #[arg(long, value_name = "PORT")]
    pub(crate) node_port_base: Option<u16>,
    /// Release of the control plane, and of pools that name no other
    #[arg(long, value_name = "PULLSPEC")]
    pub(crate) release_image: String,
    /// File with the logins of registries
    #[arg(long, value_name = "FILE")]
    pub(crate) pull_secret: PathBuf,
    /// File with a public key that may log in to nodes
    #[arg(long, value_name = "FILE")]
    pub(crate) ssh_key: Option<PathBuf>,
    /// Domain of the cluster: its names end in NAME.DOMAIN
    #[arg(long, default_value = "example.com")]
    pub(crate) base_domain: String,
    /// Network of the pods
    #[arg(long, default_value = "10.132.0.0/14", value_name = "CIDR")]
    pub(crate) cluster_cidr: String,
    /// Network of the services
    #[arg(long, default_value = "172.31.0.0/16", value_name = "CIDR")]
    pub(crate) service_cidr: String,
    /// Network of the workers
    #[arg(long, value_name = "CIDR")]
    pub(crate) machine_cidr: Option<String>,
    /// Whether each part of the control plane runs once or three times
    #[arg(long, value_enum, default_value_t = AvailabilityArg::SingleReplica)]
    pub(crate) control_plane_availability_policy: AvailabilityArg,
    /// StorageClass of the volumes of etcd [default: that of the management cluster]
    #[arg(long)]
    pub(crate) etcd_storage_class: Option<String>,
    /// Size of each volume of etcd
    #[arg(long, default_value = "8Gi")]
    pub(crate) etcd_storage_size: String,
    /// Nodes run in FIPS mode
    #[arg(long)]
    pub(crate) fips: bool,
    /// File with more certificate authorities that nodes trust
    #[arg(long, value_name = "FILE")]
    pub(crate) additional_trust_bundle: Option<PathBuf>,
    /// Workers of the first pool, which is called like the cluster; a negative number makes no pool
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_name = "N")]
    pub(crate) node_pool_replicas: i32,
    /// Architecture of the first pool, as Go names it
    #[arg(long, default_value = "amd64")]
    pub(crate) arch: String,
    /// In the names of whatever is made outside [default: follows from namespace and name]
    #[arg(long, value_name = "ID")]
    pub(crate) infra_id: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AvailabilityArg {
    #[value(name = "HighlyAvailable")]
    HighlyAvailable,
    #[value(name = "SingleReplica")]
    SingleReplica,
}

#[derive(Debug, Subcommand)]
pub(crate) enum NodepoolVerb {
    /// Make a pool, and wait until machines can boot with it
    Create(Box<NodepoolCreateArgs>),
    /// List the pools of a cluster, each with the gate that holds it
    List {
        /// Name of the hosted cluster
        #[arg(long)]
        cluster: String,
        /// Form of what is printed on standard output
        #[arg(short, long, value_enum, default_value_t = Format::Text)]
        output: Format,
    },
    /// Say which gates of a pool are open, and why the others are not
    Status {
        /// Name of the pool
        name: String,
        /// Name of the hosted cluster
        #[arg(long)]
        cluster: String,
        /// Form of what is printed on standard output
        #[arg(short, long, value_enum, default_value_t = Format::Text)]
        output: Format,
    },
    /// Delete a pool; its tokens end at once
    Delete {
        /// Name of the pool
        name: String,
        /// Name of the hosted cluster
        #[arg(long)]
        cluster: String,
        #[command(flatten)]
        removal: RemovalArgs,
    },
}

#[derive(Debug, Args)]
pub(crate) struct NodepoolCreateArgs {
    /// Name of the pool
    pub(crate) name: String,
    /// Name of the hosted cluster
    #[arg(long)]
    pub(crate) cluster: String,
    /// Workers that are wanted; `hardway hosted workers` makes them
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) replicas: u32,
    /// Release of its workers [default: the cluster's]
    #[arg(long, value_name = "PULLSPEC")]
    pub(crate) release_image: Option<String>,
    /// Architecture of its workers, as Go names it
    #[arg(long, default_value = "amd64")]
    pub(crate) arch: String,
    /// Whether an upgrade changes workers as they stand, or puts new ones in their place
    #[arg(long, value_enum, default_value_t = UpgradeArg::InPlace)]
    pub(crate) node_upgrade_type: UpgradeArg,
    /// Workers that may be away during an upgrade: a number or a share such as 25%
    #[arg(long, value_name = "N|N%")]
    pub(crate) max_unavailable: Option<String>,
    /// Replace workers that stay unwell
    #[arg(long)]
    pub(crate) auto_repair: bool,
    /// On every node: KEY=VALUE; can be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) node_label: Vec<String>,
    /// On every node: KEY=VALUE:EFFECT or KEY:EFFECT; can be given several times
    #[arg(long, value_name = "TAINT")]
    pub(crate) taint: Vec<String>,
    /// How long to wait for the gates, such as 20m; 0s does not wait
    #[arg(long, default_value = "20m", value_name = "DURATION")]
    pub(crate) timeout: SignedDuration,
    /// How long a config must have stood before machines boot with it
    #[arg(long, default_value = "2m", value_name = "DURATION")]
    pub(crate) config_rest: SignedDuration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum UpgradeArg {
    #[value(name = "InPlace")]
    InPlace,
    #[value(name = "Replace")]
    Replace,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Name of the hosted cluster
    #[arg(long)]
    pub(crate) cluster: String,
    /// How to reach the hosted cluster [default: the kubeconfig HyperShift made]
    #[arg(long, value_name = "FILE")]
    pub(crate) hosted_kubeconfig: Option<PathBuf>,
    /// Console log of a machine; can be given several times
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Vec<PathBuf>,
    /// Form of what is printed on standard output
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct OvnArgs {
    /// Name of the hosted cluster
    #[arg(long)]
    pub(crate) cluster: String,
    /// Make the certificate, if nobody else will. It reads the hosted cluster's own signer, and never writes over a Secret of others
    #[arg(long)]
    pub(crate) fix: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    /// The administrator's kubeconfig of the hosted cluster, as HyperShift writes it into a Secret
    #[arg(long, value_name = "FILE")]
    pub(crate) admin_kubeconfig: PathBuf,
    /// Whose token
    #[arg(long, value_name = "NAMESPACE/NAME", default_value = "kube-system/hardway-hosted", value_parser = account)]
    pub(crate) account: (String, String),
    /// Folder for the files `kubeconfig` and `token`; `hardway hosted controller --hosted-kubeconfig` takes the former
    #[arg(long, value_name = "FOLDER")]
    pub(crate) into: PathBuf,
    /// How long a token lives, from 10 minutes to a day
    #[arg(long, value_name = "DURATION", default_value = "1h", value_parser = lifetime)]
    pub(crate) lifetime: SignedDuration,
    /// Write one, and do not stay to renew it
    #[arg(long)]
    pub(crate) once: bool,
}

fn account(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('/').filter(|(namespace, name)| !namespace.is_empty() && !name.is_empty());
    let (namespace, name) = parts.ok_or("not NAMESPACE/NAME")?;
    Ok((namespace.to_owned(), name.to_owned()))
}

/// No API server gives one for less than ten minutes, and more than a day is a key.
fn lifetime(text: &str) -> Result<SignedDuration, String> {
    let lifetime: SignedDuration = text.parse().map_err(|error: jiff::Error| error.to_string())?;
    let range = SignedDuration::from_mins(10)..=SignedDuration::from_hours(24);
    if range.contains(&lifetime) { Ok(lifetime) } else { Err("not from 10m to 24h".to_owned()) }
}

#[derive(Debug, Args)]
pub(crate) struct StandInArgs {
    /// Name of the hosted cluster
    #[arg(long)]
    pub(crate) cluster: String,
    /// Name of the pool
    #[arg(long)]
    pub(crate) pool: String,
    /// Ignition config that the pool's machines get
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
    /// Where they fetch it: a `hardway serve --face hosted`
    #[arg(long, value_name = "HOST:PORT", value_parser = super::hosted_workers_args::endpoint)]
    pub(crate) ignition_server: String,
    /// File with who signed its certificate
    #[arg(long, value_name = "FILE")]
    pub(crate) ignition_ca: PathBuf,
    /// Version that the config is of
    #[arg(long, default_value = "0.0.0", value_name = "VERSION")]
    pub(crate) release_version: String,
    /// Publish, and do not stay to keep tokens
    #[arg(long)]
    pub(crate) once: bool,
}
