//! `hardway approve` and `hardway csr`: what can be typed.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use jiff::Timestamp;

use super::Format;

#[derive(Debug, Args)]
pub(crate) struct ApproveArgs {
    /// Go on with whatever comes, until told to stop
    #[arg(long)]
    pub(crate) watch: bool,
    /// Say what would be decided, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// How to reach the cluster [default: auth/kubeconfig in the folder, then as a pod]
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    /// Form of the decisions on standard output
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct CsrArgs {
    #[command(subcommand)]
    pub(crate) verb: CsrVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CsrVerb {
    /// Print who is expected, without any secret, for an approver that runs elsewhere
    Declared {
        /// Form of what is printed on standard output
        #[arg(short, long, value_enum, default_value_t = Format::Yaml)]
        output: Format,
    },
    /// Say what would be decided about the requests in a file, and what every rule finds
    Simulate(SimulateArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SimulateArgs {
    /// Requests as `oc get csr -o yaml` prints them: one, several, or a list
    pub(crate) file: PathBuf,
    /// Nodes as `oc get nodes -o yaml` prints them; without it, no node is there
    #[arg(long, value_name = "FILE")]
    pub(crate) node: Option<PathBuf>,
    /// Decide as at this time, such as 2026-11-15T12:00:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) now: Option<Timestamp>,
    /// Decide about requests that are decided as if they were not
    #[arg(long)]
    pub(crate) as_pending: bool,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    /// Form of what is printed on standard output
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

/// What the policy goes by.
#[derive(Debug, Args)]
pub(crate) struct PolicyArgs {
    /// Who is expected, from `hardway csr declared`, instead of the files in the folder
    #[arg(long, value_name = "FILE")]
    pub(crate) declared: Option<PathBuf>,
    /// Whether a new node must have fetched its config from `hardway serve`
    #[arg(long, value_enum, default_value_t = IgnitionArg::IfServed)]
    pub(crate) ignition: IgnitionArg,
    /// Minutes from fetching its config to the first request
    #[arg(long, value_name = "MINUTES", default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..=10_080))]
    pub(crate) join_window: u32,
    /// Hours that a certificate may be asked for
    #[arg(long, value_name = "HOURS", default_value_t = 17_520, value_parser = clap::value_parser!(u32).range(1..=87_600))]
    pub(crate) longest_lifetime: u32,
    /// Let this node from a stock pointer in again, with a new key; can be given several times
    #[arg(long, value_name = "NODE")]
    pub(crate) rejoin: Vec<String>,
    /// Also let new nodes ask with Kubernetes' own bootstrap tokens
    #[arg(long)]
    pub(crate) bootstrap_tokens: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum IgnitionArg {
    /// It must
    Required,
    /// It must, once any host has
    IfServed,
    /// Configs come in another way
    Ignored,
}
