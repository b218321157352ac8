//! `hardway create cluster`, `plan`, `destroy`, `lab`: what can be typed.

use std::ffi::OsString;

use clap::{Args, Subcommand, ValueEnum};
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
    /// Form of what is printed on standard output
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct DestroyArgs {
    /// May be said, as openshift-install has it
    #[arg(value_enum, default_value_t, hide_default_value = true)]
    pub(crate) what: Destroyed,
    /// Keep the images that were built for the lab: the next one starts sooner
    #[arg(long)]
    pub(crate) keep_images: bool,
    #[command(flatten)]
    pub(crate) removal: RemovalArgs,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Destroyed {
    #[default]
    Cluster,
}

/// Of every command that takes something away for good.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct RemovalArgs {
    /// Print what would be taken away, and take nothing away
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// Do not ask. Only a person at a terminal is asked
    #[arg(short, long)]
    pub(crate) yes: bool,
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
        /// A program and its arguments, such as `kubectl get nodes`
        #[arg(last = true, required = true)]
        command: Vec<OsString>,
    },
    /// Open a shell on a machine
    Shell {
        /// Such as master-0
        node: String,
    },
}
