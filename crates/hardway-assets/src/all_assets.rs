//! Every asset of a cluster.

use crate::graph::Asset;
use crate::inventory::Role;
use crate::release_payload::ReleasePayload;
use crate::{
    Cluster, fetched_release, ignition, kubeconfigs, manifests, operator_seeds, pki, rendered_nodes,
    static_pods,
};

/// All of them, in no particular order: the graph finds its own.
pub fn assets(cluster: &Cluster, release: &ReleasePayload) -> Vec<Box<dyn Asset>> {
    let mut assets = pki::assets(cluster);
    assets.push(Box::new(fetched_release::FetchedRelease));
    assets.push(Box::new(rendered_nodes::RenderedNodes::of(release)));
    assets.extend(kubeconfigs::assets());
    assets.extend(manifests::assets(cluster, release));
    assets.extend(operator_seeds::assets(cluster));
    let static_pods = static_pods::assets(cluster);
    assets.extend(ignition::assets(cluster, &static_pods));
    assets.extend(static_pods);
    assets
}

/// All of them, and what follows from pointer configs that were edited by hand: machines that boot the release's own way
/// get the addition from the machine-config-operator.
pub fn assets_with_edited_pointers(
    cluster: &Cluster,
    release: &ReleasePayload,
    edited: &[Role],
) -> Vec<Box<dyn Asset>> {
    let mut assets = assets(cluster, release);
    assets.extend(edited.iter().map(|role| Box::new(ignition::EditedPointer(*role)) as _));
    assets
}
