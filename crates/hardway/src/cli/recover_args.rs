//! `hardway certs recover`: what can be typed.

use std::path::PathBuf;

use clap::Args;
use jiff::SignedDuration;

use super::arg_values::duration;
use super::{ClusterArgs, Format};

#[derive(Debug, Args)]
pub(crate) struct RecoverCertsArgs {
    /// Show silent nodes, pending requests and expired certificates, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Give up after this long, such as 45m or 1h30m
    #[arg(long, value_name = "DURATION", default_value = "30m", value_parser = duration)]
    pub(crate) timeout: SignedDuration,
    /// A node counts as silent after this long without a sign of life
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = duration)]
    pub(crate) silence: SignedDuration,
    /// Address of the API to use instead of the kubeconfig's, such as https://192.168.126.101:6443; the trusted CA stays the
    /// same
    #[arg(long, value_name = "URL")]
    pub(crate) server: Option<http::Uri>,
    /// Expected nodes from `hardway approve declared`, instead of the files in the folder
    #[arg(long, value_name = "FILE")]
    pub(crate) declared: Option<PathBuf>,
    /// Private ssh key for the silent nodes [default: those of your ssh agent and your own]
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// User on the nodes
    #[arg(long, value_name = "NAME", default_value = "core")]
    pub(crate) ssh_user: String,
    /// Port of the ssh servers
    #[arg(long, value_name = "PORT", default_value_t = 22)]
    pub(crate) ssh_port: u16,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}
