//! `hardway recover`: what can be typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use jiff::SignedDuration;

use super::wait_for_args::duration;
use super::{ClusterArgs, Format};

#[derive(Debug, Args)]
pub(crate) struct RecoverArgs {
    #[command(subcommand)]
    pub(crate) verb: RecoverVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RecoverVerb {
    /// Let the nodes of a cluster in again that was off until their certificates had ended; exit 9 if some stay away
    Certs(RecoverCertsArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RecoverCertsArgs {
    /// Say who is silent, what waits and what has ended, and let nobody in
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Give up after this long, such as 45m or 1h30m
    #[arg(long, value_name = "DURATION", default_value = "30m", value_parser = duration)]
    pub(crate) timeout: SignedDuration,
    /// Without a sign for so long, a node counts as silent
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = duration)]
    pub(crate) silence: SignedDuration,
    /// Reach the API here instead of where the kubeconfig says, such as https://192.168.126.101:6443; whom to trust stays
    #[arg(long, value_name = "URL")]
    pub(crate) server: Option<http::Uri>,
    /// Who is expected, from `hardway csr declared`, instead of the files in the folder
    #[arg(long, value_name = "FILE")]
    pub(crate) declared: Option<PathBuf>,
    /// Private key for the silent nodes; without it, those of your ssh agent and your own
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// User on the nodes
    #[arg(long, value_name = "NAME", default_value = "core")]
    pub(crate) ssh_user: String,
    /// Port of their ssh servers
    #[arg(long, value_name = "PORT", default_value_t = 22)]
    pub(crate) ssh_port: u16,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    /// Form of what is printed on standard output
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}
