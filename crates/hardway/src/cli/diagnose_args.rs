//! `hardway diagnose` and `hardway gather`: what can be typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{ClusterArgs, Format};

#[derive(Debug, Args)]
pub(crate) struct DiagnoseArgs {
    /// Read a log bundle (`hardway gather bootstrap`, or openshift-install's) instead of asking a cluster
    #[arg(long, value_name = "FILE")]
    pub(crate) bundle: Option<PathBuf>,
    /// Also look into this file: a console's output, a load balancer's log, what virsh said
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Vec<PathBuf>,
    /// Everything that is broken, not only the first link of the chain
    #[arg(long)]
    pub(crate) all: bool,
    /// List the failure catalogue and ask nothing
    #[arg(long)]
    pub(crate) list: bool,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    /// Form of what is printed on standard output
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
    /// Name or address of the bootstrap host; without it, the inventory's
    #[arg(long, value_name = "HOST")]
    pub(crate) bootstrap: Option<String>,
    /// Name or address of a master, asked from here with --key or the keys that your ssh has; without it, those of the inventory
    #[arg(long, value_name = "HOST")]
    pub(crate) master: Vec<String>,
    /// Private key; without it, for the bootstrap host the one that was drawn for it
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// Keys of the hosts, in the form of ssh's known_hosts; without it, those of auth/known_hosts
    #[arg(long, value_name = "FILE")]
    pub(crate) known_hosts: Option<PathBuf>,
    /// User on the hosts
    #[arg(long, value_name = "NAME", default_value = "core")]
    pub(crate) ssh_user: String,
    /// Port of their ssh servers
    #[arg(long, value_name = "PORT", default_value_t = 22)]
    pub(crate) ssh_port: u16,
    /// Form of what is printed on standard output
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}
