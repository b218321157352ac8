//! Every asset of a cluster.

use crate::graph::Asset;
use crate::release_payload::ReleasePayload;
use crate::{Cluster, ignition, kubeconfigs, manifests, operator_seeds, pki, static_pods};

/// All of them, in no particular order: the graph finds its own.
pub fn assets(cluster: &Cluster, release: &ReleasePayload) -> Vec<Box<dyn Asset>> {
    let mut assets = pki::assets(cluster);
    assets.extend(kubeconfigs::assets(cluster));
    assets.extend(manifests::assets(cluster, release));
    assets.extend(operator_seeds::assets(cluster, release));
    let static_pods = static_pods::assets(cluster, release);
    assets.extend(ignition::assets(cluster, &static_pods));
    assets.extend(static_pods);
    assets
}
