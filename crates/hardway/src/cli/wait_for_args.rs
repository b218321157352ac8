//! `hardway wait-for`: what can be typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use jiff::SignedDuration;

use super::Format;
use super::arg_values::duration;

#[derive(Debug, Args)]
pub(crate) struct WaitForArgs {
    #[command(subcommand)]
    pub(crate) target: WaitForTarget,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WaitForTarget {
    /// Wait until the bootstrap host can be removed; exits with 5 on failure
    BootstrapComplete(WaitArgs),
    /// Wait until the cluster is initialized and stable, with every node of the inventory; exits with 6 or 7 on failure
    InstallComplete(WaitArgs),
}

#[derive(Debug, Args)]
pub(crate) struct WaitArgs {
    /// Give up after this long, such as 45m or 1h30m [default: wait as long as there is progress]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) timeout: Option<SignedDuration>,
    /// Without --timeout, give up after this long without progress
    #[arg(long, value_name = "DURATION", default_value = "30m", value_parser = duration)]
    pub(crate) stall_after: SignedDuration,
    /// How long an operator must not have been progressing to count as stable
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration)]
    pub(crate) stable_for: SignedDuration,
    /// Do not approve certificate requests; leave them to others, such as `hardway approve --watch`
    #[arg(long)]
    pub(crate) no_approve: bool,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

/// How the cluster is reached.
#[derive(Debug, Args)]
pub(crate) struct ClusterArgs {
    /// Kubeconfig to use instead of auth/kubeconfig in the folder ($KUBECONFIG is ignored)
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Read the release from a folder instead of the image named in the inventory
    #[arg(long, value_name = "DIR")]
    pub(crate) release_dir: Option<PathBuf>,
}
