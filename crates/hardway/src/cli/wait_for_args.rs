//! `hardway wait-for`: what can be typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use jiff::SignedDuration;

use super::Format;

#[derive(Debug, Args)]
pub(crate) struct WaitForArgs {
    #[command(subcommand)]
    pub(crate) target: WaitForTarget,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WaitForTarget {
    /// Wait until the bootstrap host may be removed; exit 5 if it comes to nothing
    BootstrapComplete(WaitArgs),
    /// Wait until the cluster is initialized and at rest, with every node of the inventory; exit 6 or 7 if it comes to nothing
    InstallComplete(WaitArgs),
}

#[derive(Debug, Args)]
pub(crate) struct WaitArgs {
    /// Give up after this long, such as 45m or 1h30m; without it, as long as anything is new
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) timeout: Option<SignedDuration>,
    /// Without --timeout, give up when nothing was new for this long
    #[arg(long, value_name = "DURATION", default_value = "30m", value_parser = duration)]
    pub(crate) stall_after: SignedDuration,
    /// How long an operator must not have been progressing to be at rest
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration)]
    pub(crate) stable_for: SignedDuration,
    /// Leave certificate requests to others, such as `hardway approve --watch`, instead of approving them by the policy meanwhile
    #[arg(long)]
    pub(crate) no_approve: bool,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    /// Form of what is printed on standard output
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

/// How the cluster is reached.
#[derive(Debug, Args)]
pub(crate) struct ClusterArgs {
    /// Instead of auth/kubeconfig of the folder ($KUBECONFIG is not asked)
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Read the release from a folder instead of the image named in the inventory
    #[arg(long, value_name = "DIR")]
    pub(crate) release_dir: Option<PathBuf>,
}

/// `90s`, `45m`, `1h30m`; never negative.
pub(super) fn duration(text: &str) -> Result<SignedDuration, String> {
    let duration: SignedDuration = text.parse().map_err(|error: jiff::Error| error.to_string())?;
    if duration.is_negative() { Err("a duration that is negative".to_owned()) } else { Ok(duration) }
}
