//! `hardway approve`: what can be typed.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use jiff::Timestamp;

use super::Format;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ApproveArgs {
    #[command(subcommand)]
    pub(crate) what: Option<ApproveWhat>,
    /// Keep approving new requests until stopped
    #[arg(long)]
    pub(crate) watch: bool,
    /// Show what would be decided, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Kubeconfig of the cluster [default: auth/kubeconfig in the folder, then the pod's service account]
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    /// Output format of the decisions
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

/// What can be done without a cluster.
#[derive(Debug, Subcommand)]
pub(crate) enum ApproveWhat {
    /// Print the expected nodes, without secrets, for an approver that runs elsewhere
    Declared {
        /// Output format
        #[arg(short, long, value_enum, default_value_t = Format::Yaml)]
        output: Format,
    },
    /// Show what would be decided about the requests in a file, and the result of every rule
    Simulate(SimulateArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SimulateArgs {
    /// Requests as `oc get csr -o yaml` prints them: one, several, or a list
    pub(crate) file: PathBuf,
    /// Nodes as `oc get nodes -o yaml` prints them [default: no nodes]
    #[arg(long, value_name = "FILE")]
    pub(crate) node: Option<PathBuf>,
    /// Decide as at this time, such as 2026-11-15T12:00:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) now: Option<Timestamp>,
    /// Treat requests that are already decided as pending
    #[arg(long)]
    pub(crate) as_pending: bool,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

/// What the policy goes by.
#[derive(Debug, Args)]
pub(crate) struct PolicyArgs {
    /// Expected nodes from `hardway approve declared`, instead of the files in the folder
    #[arg(long, value_name = "FILE")]
    pub(crate) declared: Option<PathBuf>,
    /// Whether a new node must have fetched its config from `hardway serve`
    #[arg(long, value_enum, default_value_t = IgnitionArg::IfServed)]
    pub(crate) ignition: IgnitionArg,
    /// Minutes a host has from fetching its config to its first request
    #[arg(long, value_name = "MINUTES", default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..=10_080))]
    pub(crate) join_window: u32,
    /// Longest certificate lifetime that is approved, in hours
    #[arg(long, value_name = "HOURS", default_value_t = 17_520, value_parser = clap::value_parser!(u32).range(1..=87_600))]
    pub(crate) longest_lifetime: u32,
    /// Let this node, which boots from a stock pointer, rejoin with a new key; can be repeated
    #[arg(long, value_name = "NODE")]
    pub(crate) rejoin: Vec<String>,
    /// Also accept first requests made with Kubernetes bootstrap tokens
    #[arg(long)]
    pub(crate) bootstrap_tokens: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum IgnitionArg {
    /// It must
    Required,
    /// It must, as soon as any host has
    IfServed,
    /// It need not: configs come another way
    Ignored,
}
