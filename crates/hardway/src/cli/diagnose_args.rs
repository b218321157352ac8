//! `hardway diagnose` and `hardway gather`: what can be typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{ClusterArgs, Format};

#[derive(Debug, Args)]
pub(crate) struct DiagnoseArgs {
    /// Read a log bundle (`hardway gather bootstrap`, or openshift-install's) instead of asking a cluster
    #[arg(long, value_name = "FILE")]
    pub(crate) bundle: Option<PathBuf>,
    /// Also search this file, such as a console or load balancer log; can be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Vec<PathBuf>,
    /// Show everything that is broken, not only the first link of the chain
    #[arg(long)]
    pub(crate) all: bool,
    /// List the known failures without looking for them
    #[arg(long)]
    pub(crate) list: bool,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct GatherArgs {
    #[command(subcommand)]
    pub(crate) verb: GatherVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GatherVerb {
    /// Fetch a log bundle from the bootstrap host, without secrets
    Bootstrap(GatherBootstrapArgs),
}

#[derive(Debug, Args)]
pub(crate) struct GatherBootstrapArgs {
    /// Name or address of the bootstrap host [default: from the inventory]
    #[arg(long, value_name = "HOST")]
    pub(crate) bootstrap: Option<String>,
    /// Name or address of a master, reached with --key or your own ssh keys; can be repeated [default: from the inventory]
    #[arg(long, value_name = "HOST")]
    pub(crate) master: Vec<String>,
    /// Private ssh key [default for the bootstrap host: the generated one]
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// Host keys in the format of ssh's known_hosts [default: auth/known_hosts]
    #[arg(long, value_name = "FILE")]
    pub(crate) known_hosts: Option<PathBuf>,
    /// User on the hosts
    #[arg(long, value_name = "NAME", default_value = "core")]
    pub(crate) ssh_user: String,
    /// Port of the ssh servers
    #[arg(long, value_name = "PORT", default_value_t = 22)]
    pub(crate) ssh_port: u16,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}
