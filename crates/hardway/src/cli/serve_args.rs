//! `hardway serve`: what can be typed.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jiff::SignedDuration;

use super::arg_values::{listen_address, token_life};

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Address and port to listen on; can be repeated [default: all addresses, port of ignitionServer.url]
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = listen_address)]
    pub(crate) listen: Vec<SocketAddr>,
    /// Whom to serve; can be repeated
    #[arg(long, value_enum, default_values_t = [FaceArg::Host])]
    pub(crate) face: Vec<FaceArg>,
    /// PEM certificate to serve with, followed by its chain [default: pki/ignition-server.crt]
    #[arg(long, value_name = "FILE", requires = "key")]
    pub(crate) certificate: Option<PathBuf>,
    /// PEM key of --certificate
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub(crate) key: Option<PathBuf>,
    /// Serve without encryption: only for pointers that carry a hash, on a trusted network
    #[arg(long, conflicts_with = "certificate")]
    pub(crate) plain_http: bool,
    /// Also serve the folder of `hardway media pxe` to machines that boot from the network, over plain HTTP
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = listen_address)]
    pub(crate) boot: Option<SocketAddr>,
    /// With --boot: the folder [default: pxe]
    #[arg(long, value_name = "DIR", requires = "boot")]
    pub(crate) boot_folder: Option<PathBuf>,
    /// With --boot: install this host again, even if its installer was here before; can be repeated
    #[arg(long, value_name = "HOST", requires = "boot")]
    pub(crate) reinstall: Vec<String>,
    /// How long a config can be fetched after it was first offered, such as 24h or 3d
    #[arg(long, default_value = "24h", value_parser = token_life)]
    pub(crate) window: SignedDuration,
    /// Serve a host its config at any address, also with --boot, not only at its addresses in the inventory: for hosts behind
    /// NAT. Recorded in the journal
    #[arg(long)]
    pub(crate) from_any_address: bool,
    /// Does nothing: this is the default now
    #[arg(long, hide = true, conflicts_with = "from_any_address")]
    pub(crate) only_from_own_address: bool,
    /// Maximum number of concurrent connections
    #[arg(long, default_value_t = 2048, value_parser = clap::value_parser!(u32).range(1..=100_000), value_name = "N")]
    pub(crate) max_connections: u32,
    /// With --face hosted: namespace of the hosted control plane [default: the kubeconfig's or the pod's]
    #[arg(long)]
    pub(crate) namespace: Option<String>,
    /// With --face hosted: kubeconfig of the management cluster [default: $KUBECONFIG, or the pod's service account]
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// With --face hosted: fetch configs that are not in token Secrets from HyperShift's own server, once, and keep them
    #[arg(long, value_name = "HOST:PORT", requires = "upstream_ca")]
    pub(crate) upstream: Option<String>,
    /// With --upstream: file with the CA of its certificate; in HyperShift: ca.crt of ConfigMap root-ca
    #[arg(long, value_name = "FILE", requires = "upstream")]
    pub(crate) upstream_ca: Option<PathBuf>,
    /// Read the release from a folder instead of the image named in the inventory
    #[arg(long, value_name = "DIR")]
    pub(crate) release_dir: Option<PathBuf>,
    /// Output format: a table on a terminal and a line per event elsewhere, or a line of JSON per event
    #[arg(short, long, value_enum, default_value_t = ServeFormat::Text)]
    pub(crate) output: ServeFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FaceArg {
    /// Hosts of the inventory: each fetches its own config with its own token
    Host,
    /// Stock pointers, as the machine-config-server serves them: to any machine
    Pool,
    /// Workers of a hosted cluster, as HyperShift's ignition-server serves them
    Hosted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ServeFormat {
    Text,
    Json,
}
