//! Who is waited for.

use hardway_assets::Cluster;
use hardway_assets::inventory::Host;

use crate::providers::descriptor;

/// A machine that is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackedHost {
    /// As in the inventory.
    pub host: String,
    /// What its node is called.
    pub node: String,
    /// How its OS gets onto its disk.
    pub installs: Installs,
}

/// How the OS gets onto the disk. What a fetch of the config proves depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Installs {
    /// The disk is a copy of an image: the config is fetched by its first boot.
    FromImage,
    /// A live system writes the disk and a pointer config onto it; the config is fetched by the boot from that disk.
    FromMedia,
}

impl TrackedHost {
    /// A host of a cluster.
    pub fn new(cluster: &Cluster, host: &Host) -> Self {
        Self {
            host: host.name.clone(),
            node: cluster.node_name(host),
            installs: match cluster.is_bootstrap_in_place() {
                // A self-installing node is a live system that fetches its own config, and writes the disk afterwards.
                true => Installs::FromImage,
                false => descriptor(cluster.inventory.machines.provider).installs,
            },
        }
    }

    /// All hosts of a cluster, in file order.
    pub fn all(cluster: &Cluster) -> Vec<Self> {
        cluster.inventory.hosts.iter().map(|host| Self::new(cluster, host)).collect()
    }
}
