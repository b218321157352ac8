//! `hardway hosted workers` and `hardway hosted controller`: what can be typed.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use jiff::SignedDuration;

use super::{Format, IgnitionArg, RegistryArgs, RemovalArgs};

#[derive(Debug, Subcommand)]
pub(crate) enum WorkersVerb {
    /// Make workers of the next free hosts of the inventory
    Add {
        /// How many more
        #[arg(short, long, value_name = "N")]
        number: usize,
        /// Name of the pool
        #[arg(long)]
        pool: String,
        #[command(flatten)]
        run: Box<WorkersArgs>,
    },
    /// Drain a worker, switch its machine off, and remove its node
    Remove {
        /// Name of the worker
        name: String,
        #[command(flatten)]
        removal: RemovalArgs,
        #[command(flatten)]
        run: Box<WorkersArgs>,
    },
    /// Put a new machine in the place of a worker
    Replace {
        /// Name of the worker
        name: String,
        #[command(flatten)]
        run: Box<WorkersArgs>,
    },
    /// Have this many workers in a pool
    Scale {
        /// How many
        number: usize,
        /// Name of the pool
        #[arg(long)]
        pool: String,
        #[command(flatten)]
        run: Box<WorkersArgs>,
    },
    /// Say where every worker stands, and why it does not come on
    List {
        /// Name of the hosted cluster
        #[arg(long)]
        cluster: String,
        /// Form of what is printed on standard output
        #[arg(short, long, value_enum, default_value_t = Format::Text)]
        output: Format,
    },
}

#[derive(Debug, Args)]
pub(crate) struct WorkersArgs {
    #[command(flatten)]
    pub(crate) reconcile: ReconcileArgs,
    /// Write down what is wanted, and leave the work to a controller that runs
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// Give up waiting after this long
    #[arg(long, default_value = "30m", value_name = "DURATION")]
    pub(crate) timeout: SignedDuration,
}

#[derive(Debug, Args)]
pub(crate) struct ControllerArgs {
    #[command(flatten)]
    pub(crate) reconcile: ReconcileArgs,
    /// Leave machines to another controller, such as one on the hypervisor; this one does the rest
    #[arg(long, conflicts_with = "machine_program")]
    pub(crate) no_machines: bool,
    /// Serve /metrics and /healthz there, over plain HTTP
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) metrics: Option<SocketAddr>,
}

/// `HOST:PORT`
pub(super) fn endpoint(text: &str) -> Result<String, String> {
    let (host, port) = text.rsplit_once(':').ok_or("a host and a port are needed, such as 10.0.0.5:22625")?;
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let is_host = hardway_hosted::render::is_address(bare) || hardway_assets::node_name::is_label(bare);
    match port.parse::<u16>() {
        Ok(1..) if is_host => Ok(text.to_owned()),
        Ok(1..) => Err(format!("{host:?} is no name and no address")),
        _ => Err(format!("{port:?} is no port")),
    }
}

/// What whoever keeps workers true goes by.
#[derive(Debug, Args)]
pub(crate) struct ReconcileArgs {
    /// Name of the hosted cluster
    #[arg(long)]
    pub(crate) cluster: String,
    /// How to reach the hosted cluster [default: the kubeconfig HyperShift made]
    #[arg(long, value_name = "FILE")]
    pub(crate) hosted_kubeconfig: Option<PathBuf>,
    /// A program that makes machines: PROGRAM boot NAME FILE, PROGRAM is-on NAME, PROGRAM remove NAME
    /// [default: the provider of the inventory]
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) machine_program: Option<PathBuf>,
    /// Machines fetch their config from this `hardway serve --face hosted` instead of HyperShift's own server
    #[arg(long, value_name = "HOST:PORT", requires = "ignition_ca", value_parser = endpoint)]
    pub(crate) ignition_server: Option<String>,
    /// File with who signed the certificate of --ignition-server
    #[arg(long, value_name = "FILE", requires = "ignition_server")]
    pub(crate) ignition_ca: Option<PathBuf>,
    /// Whether a new node must have fetched its config from `hardway serve` in this folder
    #[arg(long, value_enum, default_value_t = IgnitionArg::IfServed)]
    pub(crate) ignition: IgnitionArg,
    /// From being switched on to the first certificate request
    #[arg(long, default_value = "2h", value_name = "DURATION")]
    pub(crate) join_window: SignedDuration,
    /// How long a config must have stood before machines boot with it
    #[arg(long, default_value = "2m", value_name = "DURATION")]
    pub(crate) config_rest: SignedDuration,
    /// Machines that may be booting at the same time
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub(crate) boots_at_once: usize,
    /// A machine that is no node after this long is unwell
    #[arg(long, default_value = "20m", value_name = "DURATION")]
    pub(crate) startup_timeout: SignedDuration,
    /// A node that is not ready for this long is unwell
    #[arg(long, default_value = "16m", value_name = "DURATION")]
    pub(crate) unready_timeout: SignedDuration,
    /// With more unwell workers than this, none is replaced
    #[arg(long, default_value_t = 2, value_name = "N")]
    pub(crate) max_unhealthy: usize,
    /// Unwell workers that are replaced within an hour, at most
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub(crate) repairs_per_hour: usize,
    /// Pods get this long to leave a worker that goes
    #[arg(long, default_value = "10m", value_name = "DURATION")]
    pub(crate) drain_timeout: SignedDuration,
    /// Image of the machine-config-operator, for upgrades in place [default: the one in the pool's release, which is read with the
    /// cluster's own pull secret]
    #[arg(long, value_name = "PULLSPEC")]
    pub(crate) daemon_image: Option<String>,
    #[command(flatten)]
    pub(crate) registry: RegistryArgs,
    /// Leave nodes at the config they have
    #[arg(long)]
    pub(crate) no_upgrades: bool,
}
