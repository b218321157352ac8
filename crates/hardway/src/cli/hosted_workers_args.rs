//! `hardway hosted workers` and `hardway hosted controller`: what can be typed.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use jiff::SignedDuration;

use super::arg_values::{endpoint, listen_address};
use super::{Format, RegistryArgs, RemovalArgs};

#[derive(Debug, Subcommand)]
pub(crate) enum WorkersVerb {
    /// Raise the number of workers in a pool: the next free hosts of the inventory become workers
    Add {
        /// Number of workers to add
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
    /// Replace a worker's machine by a new one
    Replace {
        /// Name of the worker
        name: String,
        #[command(flatten)]
        run: Box<WorkersArgs>,
    },
    /// Set the number of workers in a pool
    Scale {
        /// Number of workers
        number: usize,
        /// Name of the pool
        #[arg(long)]
        pool: String,
        #[command(flatten)]
        run: Box<WorkersArgs>,
    },
    /// Show the state of every worker, and what it is waiting for
    List {
        /// Name of the hosted cluster
        #[arg(long)]
        cluster: String,
        /// Output format
        #[arg(short, long, value_enum, default_value_t = Format::Text)]
        output: Format,
    },
}

#[derive(Debug, Args)]
pub(crate) struct WorkersArgs {
    #[command(flatten)]
    pub(crate) reconcile: ReconcileArgs,
    /// Only record the wanted state, and leave the work to a running controller
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
    /// Leave machines to another controller, such as one on the hypervisor, and do everything else
    #[arg(long, conflicts_with = "machine_program")]
    pub(crate) no_machines: bool,
    /// Serve /metrics and /healthz at this address, over plain HTTP
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = listen_address)]
    pub(crate) metrics: Option<SocketAddr>,
}

/// What whoever keeps workers true goes by.
#[derive(Debug, Args)]
pub(crate) struct ReconcileArgs {
    /// Name of the hosted cluster
    #[arg(long)]
    pub(crate) cluster: String,
    /// Kubeconfig of the hosted cluster [default: the one HyperShift created]
    #[arg(long, value_name = "FILE")]
    pub(crate) hosted_kubeconfig: Option<PathBuf>,
    /// Program that manages machines: PROGRAM boot NAME FILE, PROGRAM is-on NAME, PROGRAM remove NAME
    /// [default: the provider of the inventory]
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) machine_program: Option<PathBuf>,
    /// Machines fetch their config from this `hardway serve --face hosted` instead of HyperShift's own server
    #[arg(long, value_name = "HOST:PORT", requires = "ignition_ca", value_parser = endpoint)]
    pub(crate) ignition_server: Option<String>,
    /// File with the CA of the certificate of --ignition-server
    #[arg(long, value_name = "FILE", requires = "ignition_server")]
    pub(crate) ignition_ca: Option<PathBuf>,
    /// Whether a new node must also have fetched its config from `hardway serve`, at its own address. It uses its own identity in any
    /// case [default: required with --ignition-server, else ignored]
    #[arg(long, value_enum)]
    pub(crate) ignition: Option<EvidenceArg>,
    /// Longest time from switching a machine on to its first certificate request
    #[arg(long, default_value = "2h", value_name = "DURATION")]
    pub(crate) join_window: SignedDuration,
    /// How long a config must be unchanged before machines boot with it
    #[arg(long, default_value = "2m", value_name = "DURATION")]
    pub(crate) config_rest: SignedDuration,
    /// Number of machines that may boot at the same time
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub(crate) boots_at_once: usize,
    /// A machine that is not a node after this time is unhealthy
    #[arg(long, default_value = "20m", value_name = "DURATION")]
    pub(crate) startup_timeout: SignedDuration,
    /// A node that is not ready for this long is unhealthy
    #[arg(long, default_value = "16m", value_name = "DURATION")]
    pub(crate) unready_timeout: SignedDuration,
    /// Replace no workers while more than this many are unhealthy
    #[arg(long, default_value_t = 2, value_name = "N")]
    pub(crate) max_unhealthy: usize,
    /// Replace at most this many unhealthy workers per hour
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub(crate) repairs_per_hour: usize,
    /// Report pods that have not left a worker after this long; a node that is not ready is then removed anyway
    #[arg(long, default_value = "10m", value_name = "DURATION")]
    pub(crate) drain_timeout: SignedDuration,
    /// Image of the machine-config-operator, for upgrades in place [default: the one in the pool's release, which is read with the
    /// cluster's own pull secret]
    #[arg(long, value_name = "PULLSPEC")]
    pub(crate) daemon_image: Option<String>,
    #[command(flatten)]
    pub(crate) registry: RegistryArgs,
    /// Do not update the config of nodes
    #[arg(long)]
    pub(crate) no_upgrades: bool,
}

/// What proves that a machine is the one it says, besides its identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EvidenceArg {
    /// It must, according to the journal of this folder
    Required,
    /// It must, according to the journal or to the worker's record, which the controller next to `hardway serve` writes
    Recorded,
    /// It need not: HyperShift's own server serves the configs, and does not tell who fetched
    Ignored,
}
