//! Ignition configs: what machines read on their first boot.
//!
//! ```text
//! config.rs        the format, spec 3.2.0
//! bootstrap.rs     bootstrap.ign, and its variant for a single node that installs itself
//! bootstrap_files  scripts and units of the bootstrap host, as they will lie on disk
//! environment.rs   the values those scripts read
//! host_files.rs    small files that depend on the cluster: registries, proxy, motd
//! tls_files.rs     which certificates and keys the bootstrap host gets
//! node.rs          ignition/<host>.ign: rendered MachineConfig + what only this host has
//! join_config.rs   what a machine boots with that joins a running cluster: the cluster's own pointer, and the host's files
//! network.rs       a host's NetworkManager keyfile
//! host_pointer.rs  ignition/pointers/<host>.ign: "fetch your own over there", with a token (host_token.rs)
//! pool_config.rs   what the machine-config-server would serve, for our own server
//! pointer.rs       master.ign, worker.ign: "fetch the rest over there"; and what a user added to them, as a MachineConfig
//! ```

mod bootstrap;
pub mod bootstrap_files;
mod config;
mod environment;
mod host_files;
mod host_pointer;
mod host_token;
mod join_config;
mod network;
mod node;
mod pointer;
mod pool_config;
mod tls_files;

use crate::Cluster;
use crate::graph::Asset;
use crate::inventory::Role;

pub use crate::ignition_spec::{VERSION, data_of, data_url};
pub use bootstrap::Bootstrap;
pub use config::{Config, DuplicatePath, Remote};
pub use host_files::registries_conf;
pub use host_pointer::{GENERATION_HEADER, HostPointer, first_boot_config, host_pointer};
pub use host_token::{ConfigDigest, TokenKey};
pub use join_config::{UserDataError, joining_config};
pub use network::host_keyfile;
pub use node::{KUBECONFIG_PATH, NodeConfig};
pub use pointer::{EditedPointer, Pointer};
pub use pool_config::pool_config;

/// The asset that makes `bootstrap.ign`.
pub const BOOTSTRAP: &str = "bootstrap-ignition";
/// The asset that makes `bootstrap-in-place-for-live-iso.ign`.
pub const IN_PLACE: &str = "bootstrap-in-place-ignition";

/// The ignition configs of a cluster. `static_pods` are the assets of `static-pods/`, all of which are the
/// bootstrap host's.
pub fn assets(cluster: &Cluster, static_pods: &[Box<dyn Asset>]) -> Vec<Box<dyn Asset>> {
    let pods: Vec<String> = static_pods
        .iter()
        .flat_map(|asset| asset.outputs())
        .filter_map(|output| output.path.strip_prefix("static-pods/").map(str::to_owned))
        .collect();
    let bootstrap = if cluster.is_bootstrap_in_place() {
        Bootstrap::in_place(cluster, pods)
    } else {
        Bootstrap::on_own_host(cluster, pods)
    };
    let mut assets: Vec<Box<dyn Asset>> =
        vec![Box::new(bootstrap), Box::new(Pointer(Role::Master)), Box::new(Pointer(Role::Worker))];
    for host in &cluster.inventory.hosts {
        if host.has_identity() {
            assets.push(Box::new(NodeConfig::new(host)));
        }
        if let Some(pointer) = HostPointer::new(cluster, host) {
            assets.push(Box::new(pointer));
        }
    }
    assets
}
