//! `hardway create cluster`, `plan`, `destroy`, `lab`: what can be typed.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use jiff::SignedDuration;

use super::arg_values::duration;
use super::{FetchArgs, Format, RegistryArgs, RenderArgs, SignatureArgs};

/// How phases are run.
#[derive(Clone, Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) release: FetchArgs,
    #[command(flatten)]
    pub(crate) render: RenderArgs,
    /// Skip a check of this host; can be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) skip_check: Vec<String>,
    /// Give up waiting after this long without progress
    #[arg(long, value_name = "DURATION", default_value = "30m", value_parser = duration)]
    pub(crate) stall_after: SignedDuration,
    /// Confirm that the bootstrap host was removed from your own load balancer
    #[arg(long)]
    pub(crate) load_balancer_changed: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Print every command, and the content of every file
    #[arg(long)]
    pub(crate) all: bool,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct DestroyArgs {
    /// Optional, as in openshift-install
    #[arg(value_enum, default_value_t, hide_default_value = true)]
    pub(crate) what: Destroyed,
    /// Keep the images that were built for the lab, so that the next one starts sooner
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
    /// Print what would be removed, and remove nothing
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// Do not ask for confirmation; required where there is no terminal to ask on
    #[arg(short, long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabArgs {
    #[command(subcommand)]
    pub(crate) verb: LabVerb,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("real").required(true).multiple(true).args(["from", "programs"])))]
pub(crate) struct LabReleaseArgs {
    /// Take components from this release: a pull spec, or a folder written by `hardway release mirror --to-dir`
    #[arg(long, value_name = "PULLSPEC|DIR")]
    pub(crate) from: Option<String>,
    /// Take components from this folder: NAME/usr/bin with programs, NAME/manifests with what they bring to a release
    #[arg(long, value_name = "DIR")]
    pub(crate) programs: Option<PathBuf>,
    /// Version of a release that is made of programs [default: 4.18.99-lab]
    #[arg(long, value_name = "VERSION", conflicts_with = "from")]
    pub(crate) version: Option<String>,
    /// Keep the stand-in for this component; can be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) stand_in: Vec<String>,
    #[command(flatten)]
    pub(crate) registry: RegistryArgs,
    #[command(flatten)]
    pub(crate) signature: SignatureArgs,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LabVerb {
    /// Print the journal of a machine
    Logs {
        /// Such as master-0
        node: String,
        /// Arguments for journalctl, such as `-u kubelet` or `-f`
        #[arg(last = true)]
        arguments: Vec<OsString>,
    },
    /// Put a release together for the lab: real components where nodes can run them, stand-ins for the rest
    Release(Box<LabReleaseArgs>),
    /// Run a command in the lab's network, with its DNS and kubeconfig
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
