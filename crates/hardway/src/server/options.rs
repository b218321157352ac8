//! What a person may say about serving.

use std::net::SocketAddr;
use std::path::PathBuf;

use hardway_journal::Face;
use jiff::SignedDuration;

/// Whom to serve, from where, and how.
#[derive(Clone, Debug)]
pub(crate) struct ServeOptions {
    /// Everywhere, on the port of the inventory, where none is given.
    pub(crate) listen: Vec<SocketAddr>,
    pub(crate) faces: Vec<Face>,
    /// The working folder's own where none is given.
    pub(crate) certificate: Option<Certificate>,
    pub(crate) plain_http: bool,
    /// Where machines boot from the network.
    pub(crate) boot: Option<SocketAddr>,
    /// What they boot from; `pxe` of the working folder where none is given.
    pub(crate) boot_folder: Option<PathBuf>,
    /// Hosts that are installed again, though their installers were here before.
    pub(crate) reinstall: Vec<String>,
    /// How long a config can be fetched after it was first offered.
    pub(crate) window: SignedDuration,
    /// Whether a host must ask from one of its own addresses.
    pub(crate) only_from_own_address: bool,
    pub(crate) max_connections: usize,
    /// Of the hosted control plane.
    pub(crate) namespace: Option<String>,
    /// Of the management cluster.
    pub(crate) kubeconfig: Option<PathBuf>,
    /// HyperShift's own server.
    pub(crate) upstream: Option<String>,
    pub(crate) upstream_ca: Option<PathBuf>,
}

/// PEM files to serve with.
#[derive(Clone, Debug)]
pub(crate) struct Certificate {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

impl Default for ServeOptions {
    /// What `hardway serve` without any words means.
    fn default() -> Self {
        Self {
            listen: Vec::new(),
            faces: vec![Face::Host],
            certificate: None,
            plain_http: false,
            boot: None,
            boot_folder: None,
            reinstall: Vec::new(),
            window: SignedDuration::from_hours(24),
            only_from_own_address: true,
            max_connections: 2048,
            namespace: None,
            kubeconfig: None,
            upstream: None,
            upstream_ca: None,
        }
    }
}
