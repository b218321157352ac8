//! `hardway hosted`: what can be typed.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use jiff::SignedDuration;

use super::arg_values::{account, endpoint, lifetime};
use super::{ControllerArgs, Format, ReconcileArgs, RemovalArgs, WorkersVerb};

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
    /// Kubeconfig of the management cluster [default: $KUBECONFIG, or the pod's service account]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Namespace of the HostedCluster; its control plane has one of its own
    #[arg(long, global = true, default_value = "clusters")]
    pub(crate) namespace: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HostedNoun {
    /// Write a sample hosted-inventory.yaml: the machines that workers are made of
    Init(HostedInitArgs),
    /// Bring up the workers of a hosted cluster: prerequisites, pools, machines, network, and a look from outside
    Up(Box<HostedUpArgs>),
    /// Check a hosted cluster from outside: API, nodes, operators, console, a test pod
    Verify(HostedVerifyArgs),
    /// Show which machines would be made or removed for the workers that NodePools want
    Plan(HostedPlanArgs),
    /// List machines that exist at the provider, and whom each was made for; those of nobody still cost money
    Leftovers {
        /// Output format
        #[arg(short, long, value_enum, default_value_t = Format::Text)]
        output: Format,
    },
    /// Create, inspect and delete hosted clusters with platform None
    #[command(subcommand)]
    Cluster(Box<ClusterVerb>),
    /// Create, inspect and delete pools of workers
    #[command(subcommand)]
    Nodepool(NodepoolVerb),
    /// Add, remove, replace and list workers: machines that become nodes
    #[command(subcommand)]
    Workers(WorkersVerb),
    /// Find out what keeps workers from joining, and how to fix it; exits with 1 if something is broken
    Doctor(DoctorArgs),
    /// Show who creates the certificate that ovnkube-control-plane needs, and create it if nothing else does
    Ovn(OvnArgs),
    /// Stand in for HyperShift's operators in a rehearsal: publish a config for a pool, and renew its tokens
    StandIn(StandInArgs),
    /// Keep a short-lived service account token of the hosted cluster fresh in a folder, until stopped
    Token(TokenArgs),
    /// Reconcile the workers of a hosted cluster until stopped
    Controller(Box<ControllerArgs>),
}

#[derive(Debug, Args)]
pub(crate) struct HostedInitArgs {
    /// Who makes the machines
    #[arg(long, value_enum, default_value_t = HostedProviderArg::Libvirt)]
    pub(crate) provider: HostedProviderArg,
    /// Name of the hosted cluster
    #[arg(long, default_value = "demo")]
    pub(crate) cluster: String,
    /// Name of its pool
    #[arg(long, default_value = "demo")]
    pub(crate) pool: String,
}

#[derive(Debug, Args)]
pub(crate) struct HostedUpArgs {
    #[command(flatten)]
    pub(crate) reconcile: ReconcileArgs,
    /// Workers in every pool of the inventory; written into the NodePools [default: what each NodePool says, or 1 for a new one]
    #[arg(long, value_name = "N")]
    pub(crate) replicas: Option<usize>,
    /// Image of the test pod; without one, no pod is started
    #[arg(long, value_name = "PULLSPEC")]
    pub(crate) image: Option<String>,
    /// Check that is not run at the end; can be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) skip_check: Vec<String>,
    /// Give up waiting for gates, and for workers, after this long
    #[arg(long, default_value = "30m", value_name = "DURATION")]
    pub(crate) timeout: SignedDuration,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

impl HostedUpArgs {
    /// The look at the end.
    pub(crate) fn verify(&self) -> HostedVerifyArgs {
        HostedVerifyArgs {
            cluster: self.reconcile.cluster.clone(),
            hosted_kubeconfig: self.reconcile.hosted_kubeconfig.clone(),
            image: self.image.clone(),
            skip_check: self.skip_check.clone(),
            output: self.output,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct HostedVerifyArgs {
    /// Name of the hosted cluster
    #[arg(long)]
    pub(crate) cluster: String,
    /// Kubeconfig of the hosted cluster [default: the one HyperShift created]
    #[arg(long, value_name = "FILE")]
    pub(crate) hosted_kubeconfig: Option<PathBuf>,
    /// Image of the test pod; without one, no pod is started
    #[arg(long, value_name = "PULLSPEC")]
    pub(crate) image: Option<String>,
    /// Check that is not run; can be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) skip_check: Vec<String>,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct HostedPlanArgs {
    /// Plan for this many workers in every pool, without asking the management cluster
    #[arg(long, value_name = "N")]
    pub(crate) replicas: Option<usize>,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

/// Providers that have machines for hosted clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HostedProviderArg {
    BareMetal,
    Gce,
    Libvirt,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ClusterVerb {
    /// Print the objects of a hosted cluster
    Render(HostedRenderArgs),
    /// Create a hosted cluster and its first pool
    Create(ClusterSpecArgs),
    /// Show the status of a hosted cluster and its pools
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
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct HostedRenderArgs {
    #[command(flatten)]
    pub(crate) cluster: ClusterSpecArgs,
    /// Include the values of Secrets, which are left out by default
    #[arg(long)]
    pub(crate) render_sensitive: bool,
}

/// The flags of `hypershift create cluster none`, where it has them.
#[derive(Debug, Args)]
pub(crate) struct ClusterSpecArgs {
    /// Name of the hosted cluster
    pub(crate) name: String,
    /// DNS name or IP address at which workers reach the management cluster's nodes. It cannot be changed later
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) external_api_server_address: String,
    /// First of four consecutive NodePorts: API, OAuth, Konnectivity, ignition [default: derived from the name, below 30086]
    #[arg(long, value_name = "PORT")]
    pub(crate) node_port_base: Option<u16>,
    /// Release of the control plane, and of pools that do not name their own
    #[arg(long, value_name = "PULLSPEC")]
    pub(crate) release_image: String,
    /// File with registry logins
    #[arg(long, value_name = "FILE")]
    pub(crate) pull_secret: PathBuf,
    /// File with an ssh public key for the nodes
    #[arg(long, value_name = "FILE")]
    pub(crate) ssh_key: Option<PathBuf>,
    /// Base domain: the cluster's names end in NAME.DOMAIN
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
    /// Run each part of the control plane once or three times
    #[arg(long, value_enum, default_value_t = AvailabilityArg::SingleReplica)]
    pub(crate) control_plane_availability_policy: AvailabilityArg,
    /// StorageClass for etcd volumes [default: the management cluster's default]
    #[arg(long)]
    pub(crate) etcd_storage_class: Option<String>,
    /// Size of each volume of etcd
    #[arg(long, default_value = "8Gi")]
    pub(crate) etcd_storage_size: String,
    /// Run nodes in FIPS mode
    #[arg(long)]
    pub(crate) fips: bool,
    /// File with additional CA certificates that nodes trust
    #[arg(long, value_name = "FILE")]
    pub(crate) additional_trust_bundle: Option<PathBuf>,
    /// Number of workers in the first pool, which is named like the cluster; a negative number creates no pool
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_name = "N")]
    pub(crate) node_pool_replicas: i32,
    /// Architecture of the first pool, as Go names it
    #[arg(long, default_value = "amd64")]
    pub(crate) arch: String,
    /// Infra ID, used in the names of external resources [default: derived from namespace and name]
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
    /// Create a pool, and wait until machines can boot with its config
    Create(Box<NodepoolCreateArgs>),
    /// List the pools of a cluster and the gate each is waiting at
    List {
        /// Name of the hosted cluster
        #[arg(long)]
        cluster: String,
        /// Output format
        #[arg(short, long, value_enum, default_value_t = Format::Text)]
        output: Format,
    },
    /// Show which gates of a pool are open, and why the others are not
    Status {
        /// Name of the pool
        name: String,
        /// Name of the hosted cluster
        #[arg(long)]
        cluster: String,
        /// Output format
        #[arg(short, long, value_enum, default_value_t = Format::Text)]
        output: Format,
    },
    /// Delete a pool and revoke its tokens
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
    /// Number of workers; `hardway hosted workers` creates them
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) replicas: u32,
    /// Release of its workers [default: the cluster's]
    #[arg(long, value_name = "PULLSPEC")]
    pub(crate) release_image: Option<String>,
    /// Architecture of its workers, as Go names it
    #[arg(long, default_value = "amd64")]
    pub(crate) arch: String,
    /// Upgrade workers in place, or replace them by new ones
    #[arg(long, value_enum, default_value_t = UpgradeArg::InPlace)]
    pub(crate) node_upgrade_type: UpgradeArg,
    /// Workers that may be unavailable during an upgrade: a number, or a percentage such as 25%
    #[arg(long, value_name = "N|N%")]
    pub(crate) max_unavailable: Option<String>,
    /// Replace workers that stay unhealthy
    #[arg(long)]
    pub(crate) auto_repair: bool,
    /// Label for every node: KEY=VALUE; can be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) node_label: Vec<String>,
    /// Taint for every node: KEY=VALUE:EFFECT or KEY:EFFECT; can be repeated
    #[arg(long, value_name = "TAINT")]
    pub(crate) taint: Vec<String>,
    /// How long to wait for the gates, such as 20m; 0s returns immediately
    #[arg(long, default_value = "20m", value_name = "DURATION")]
    pub(crate) timeout: SignedDuration,
    /// How long a config must be unchanged before machines boot with it
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
    /// Kubeconfig of the hosted cluster [default: the one HyperShift created]
    #[arg(long, value_name = "FILE")]
    pub(crate) hosted_kubeconfig: Option<PathBuf>,
    /// Console log of a machine; can be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Vec<PathBuf>,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct OvnArgs {
    /// Name of the hosted cluster
    #[arg(long)]
    pub(crate) cluster: String,
    /// Create the certificate if nothing else does. Reads the hosted cluster's own signer, and never overwrites a foreign
    /// Secret
    #[arg(long)]
    pub(crate) fix: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    /// The administrator's kubeconfig of the hosted cluster, as HyperShift writes it into a Secret
    #[arg(long, value_name = "FILE")]
    pub(crate) admin_kubeconfig: PathBuf,
    /// Service account of the token
    #[arg(long, value_name = "NAMESPACE/NAME", default_value = "kube-system/hardway-hosted", value_parser = account)]
    pub(crate) account: (String, String),
    /// Folder for the files `kubeconfig` and `token`; pass the former to `hardway hosted controller --hosted-kubeconfig`
    #[arg(long, value_name = "FOLDER")]
    pub(crate) into: PathBuf,
    /// How long a token lives, from 10 minutes to a day
    #[arg(long, value_name = "DURATION", default_value = "1h", value_parser = lifetime)]
    pub(crate) lifetime: SignedDuration,
    /// Write one token and exit, without renewing it
    #[arg(long)]
    pub(crate) once: bool,
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
    /// Where they fetch it: address of a `hardway serve --face hosted`
    #[arg(long, value_name = "HOST:PORT", value_parser = endpoint)]
    pub(crate) ignition_server: String,
    /// File with the CA of its certificate
    #[arg(long, value_name = "FILE")]
    pub(crate) ignition_ca: PathBuf,
    /// Release version of the config
    #[arg(long, default_value = "0.0.0", value_name = "VERSION")]
    pub(crate) release_version: String,
    /// Publish once and exit, without renewing tokens
    #[arg(long)]
    pub(crate) once: bool,
}
