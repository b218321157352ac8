//! Every asset of a cluster, and the graph of them.

use crate::graph::{Asset, Graph, GraphError, Lock};
use crate::inventory::Role;
use crate::release_payload::ReleasePayload;
use crate::{
    Cluster, Tree, fetched_release, ignition, kubeconfigs, manifests, operator_seeds, pki, rendered_nodes,
    static_pods,
};

impl Graph {
    /// The assets of a cluster, in order, with what follows from pointer configs that were edited by hand: machines that
    /// boot the release's own way get the addition from the machine-config-operator.
    ///
    /// ```
    /// use hardway_assets::graph::{Graph, Lock};
    /// use hardway_assets::{Tree, example, release_payload};
    ///
    /// let cluster = example::cluster();
    /// let graph = Graph::of(&cluster, &release_payload::sample(), &Tree::default(), &Lock::default())?;
    /// assert_eq!(graph.maker("auth/kubeconfig").unwrap().phase().name(), "make-kubeconfigs");
    /// # Ok::<(), hardway_assets::graph::GraphError>(())
    /// ```
    pub fn of(
        cluster: &Cluster,
        release: &ReleasePayload,
        tree: &Tree,
        lock: &Lock,
    ) -> Result<Self, GraphError> {
        let mut assets = assets(cluster, release);
        let edited = edited_pointers(tree, lock).into_iter();
        assets.extend(edited.map(|role| Box::new(ignition::EditedPointer(role)) as _));
        Self::new(assets)
    }
}

/// All of them, in no particular order: the graph finds its own.
pub(crate) fn assets(cluster: &Cluster, release: &ReleasePayload) -> Vec<Box<dyn Asset>> {
    let mut assets = pki::assets(cluster);
    assets.push(Box::new(fetched_release::FetchedRelease));
    assets.push(Box::new(rendered_nodes::RenderedNodes::of(release)));
    assets.extend(kubeconfigs::assets(cluster));
    assets.extend(manifests::assets(cluster, release));
    assets.extend(operator_seeds::assets(cluster));
    let static_pods = static_pods::assets();
    assets.extend(ignition::assets(cluster, &static_pods));
    assets.extend(static_pods);
    assets
}

/// Pools whose pointer config somebody added something to.
fn edited_pointers(tree: &Tree, lock: &Lock) -> Vec<Role> {
    let is_edited = |role: &Role| {
        let path = format!("{role}.ign");
        tree.get(&path).is_some_and(|bytes| !lock.is_ours(&path, tree) && adds_something(bytes))
    };
    [Role::Master, Role::Worker].into_iter().filter(is_edited).collect()
}

/// A pointer has nothing but its `ignition` part. What is not JSON is for the asset to refuse.
fn adds_something(pointer: &[u8]) -> bool {
    match serde_json::from_slice(pointer) {
        Ok(serde_json::Value::Object(parts)) => parts.keys().any(|part| part != "ignition"),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use crate::graph::Source;
    use crate::input_tables::{INSTALL_CONFIG, INVENTORY};
    use crate::release_payload::sample;

    /// A misspelt path would be the hash of nothing, and the asset would never be made again.
    #[test]
    fn every_field_that_an_asset_reads_exists() {
        for asset in assets(&example::cluster(), &sample()) {
            for source in asset.sources() {
                let exists = match &source {
                    Source::Config(path) => path.is_empty() || INSTALL_CONFIG.field(path).is_some(),
                    Source::Inventory(path) => INVENTORY.field(path).is_some(),
                    _ => true,
                };
                assert!(exists, "{}: {source}", asset.id());
            }
        }
    }
}
