//! `hardway page`: what can be typed.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::Args;

use super::arg_values::listen_address;

#[derive(Debug, Args)]
pub(crate) struct PageArgs {
    /// Address and port to listen on [default: a free port of 127.0.0.1]
    ///
    /// On an address that others can reach, the page is served over TLS, and only to whoever has the token in the printed URL. No browser is opened
    /// then: other users of this computer would see the token.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = listen_address)]
    listen: Option<SocketAddr>,
    /// Do not open a browser
    #[arg(long)]
    pub(crate) no_browser: bool,
    /// Show a log bundle (`hardway gather bootstrap`, or openshift-install's) as well, and do not contact the cluster
    #[arg(long, value_name = "FILE")]
    pub(crate) bundle: Option<PathBuf>,
    /// Show only the folder: contact neither the cluster nor its machines
    #[arg(long)]
    pub(crate) offline: bool,
    /// Write the page to a single file without secrets, instead of serving it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["listen", "no_browser", "offline", "beside"])]
    pub(crate) export: Option<PathBuf>,
    /// Exit with this process, and print the URL on standard output. For `create cluster --page`
    #[arg(long, value_name = "PROCESS", hide = true)]
    pub(crate) beside: Option<u32>,
    /// Look at the cluster and its machines, print what is seen as JSON, a line each time, and end with standard input. For the page itself
    #[arg(long, hide = true, conflicts_with_all = ["listen", "no_browser", "bundle", "offline", "export", "beside"])]
    pub(crate) look: bool,
}

impl PageArgs {
    pub(crate) fn address(&self) -> SocketAddr {
        self.listen.unwrap_or(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0))
    }
}
