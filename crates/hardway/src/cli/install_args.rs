//! `hardway create cluster`, `plan`, `destroy`, `lab`: what can be typed.

use std::ffi::OsString;

use clap::{Args, Subcommand};
use jiff::SignedDuration;

use super::wait_for_args::duration;
use super::{FetchArgs, Format, RenderArgs};

/// How phases are run.
#[derive(Clone, Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) release: FetchArgs,
    #[command(flatten)]
    pub(crate) render: RenderArgs,
    /// Leave a check of this host out; may be given more than once
    #[arg(long, value_name = "NAME")]
    pub(crate) skip_check: Vec<String>,
    /// Give up a wait when nothing was new for this long
    #[arg(long, value_name = "DURATION", default_value = "30m", value_parser = duration)]
    pub(crate) stall_after: SignedDuration,
    /// The bootstrap host has left your own load balancer
    #[arg(long)]
    pub(crate) load_balancer_changed: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct DestroyArgs {
    /// Keep the images that were built for the lab: the next one starts sooner
    #[arg(long)]
    pub(crate) keep_images: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabArgs {
    #[command(subcommand)]
    pub(crate) verb: LabVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LabVerb {
    /// Print what a machine's services say
    Logs {
        /// Such as master-0
        node: String,
        /// For journalctl, such as `-u kubelet` or `-f`
        #[arg(last = true)]
        arguments: Vec<OsString>,
    },
    /// Run a command in the lab's network, with its names and its kubeconfig
    Run {
        #[arg(last = true, required = true)]
        command: Vec<OsString>,
    },
    /// Open a shell on a machine
    Shell {
        /// Such as master-0
        node: String,
    },
}
