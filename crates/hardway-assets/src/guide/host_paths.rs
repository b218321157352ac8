//! Which files hosts get, read off the Ignition configs that are made for the example cluster.
//!
//! Only the paths count, so the configs are made from stand-ins: every file and key that an asset reads is there, and
//! holds next to nothing.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::all_assets::assets;
use crate::graph::{Asset, Inputs, MakeError, Source};
use crate::install_config::BootstrapInPlace;
use crate::install_media::{LiveConfig, Script, When};
use crate::inventory::{KeyAlgorithm, Role};
use crate::release_payload::{ReleasePayload, sample};
use crate::secrets::{PrivateKey, Random, SecretBundle};
use crate::{Cluster, Tree, example};

/// Paths on the bootstrap host, and on a node that is its own.
pub(super) fn on_bootstrap_host() -> BTreeSet<String> {
    let release = sample();
    let mut all = paths(&files(&example::cluster(), &release, |path| path == "bootstrap.ign"));
    all.extend(paths(&files(&single_node(), &release, |path| path.starts_with("bootstrap-in-place"))));
    all
}

/// Paths on masters and workers that come on top of what their release rendered for them.
pub(super) fn on_nodes() -> BTreeSet<String> {
    let release = sample();
    let cluster = example::cluster();
    let rendered: Vec<Value> =
        release.rendered.values().flat_map(|pool| entries(&pool.machine_config["spec"]["config"])).collect();
    let mut files = files(&cluster, &release, |path| path.starts_with("ignition/"));
    files.retain(|file| !rendered.contains(file));
    paths(&files)
}

/// Paths in the live system of a host's install medium.
pub(super) fn in_live_system() -> BTreeSet<String> {
    let script = |when| Script { when, name: "any".to_owned(), text: Vec::new() };
    let scripts = [script(When::BeforeInstall), script(When::AfterInstall)];
    let live = LiveConfig { scripts: &scripts, ..LiveConfig::default() };
    let config = live.write().map(|bytes| serde_json::from_slice(&bytes).unwrap_or_default());
    paths(&entries(&config.unwrap_or_default()))
}

fn single_node() -> Cluster {
    let mut cluster = example::cluster();
    cluster.config.control_plane.replicas = 1;
    cluster.config.bootstrap_in_place = Some(BootstrapInPlace { installation_disk: "/dev/vda".to_owned() });
    cluster.inventory.hosts.retain(|host| host.role == Role::Master);
    cluster.inventory.hosts.truncate(1);
    cluster
}

/// The file entries of all configs whose path is wanted.
fn files(cluster: &Cluster, release: &ReleasePayload, wanted: impl Fn(&str) -> bool) -> Vec<Value> {
    let configs = assets(cluster, release);
    let configs = configs.iter().filter(|asset| asset.outputs().iter().any(|output| wanted(&output.path)));
    configs.flat_map(|asset| made(asset.as_ref(), cluster, release).expect("stand-ins are enough")).collect()
}

fn made(asset: &dyn Asset, cluster: &Cluster, release: &ReleasePayload) -> Result<Vec<Value>, MakeError> {
    let (tree, secrets) = stand_ins(asset)?;
    let configs = asset.make(&Inputs { cluster, release, secrets: &secrets, tree: &tree })?;
    let read = |bytes: &Vec<u8>| serde_json::from_slice(bytes).unwrap_or_default();
    Ok(configs.iter().flat_map(|bytes| entries(&read(bytes))).collect())
}

fn stand_ins(asset: &dyn Asset) -> Result<(Tree, SecretBundle), MakeError> {
    let key = PrivateKey::generate(KeyAlgorithm::EcdsaP256, &Random::default())
        .map_err(|error| MakeError::Internal(error.to_string()))?;
    let mut tree = Tree::default();
    let mut keys = Vec::new();
    for source in asset.sources() {
        match source {
            Source::File(path) => tree.insert(path, "stand-in\n"),
            Source::Folder(folder) => tree.insert(format!("{folder}/cvo-overrides.yaml"), object(&folder)),
            Source::Secret(name) => keys.push((name, key.to_pem().expose().to_vec())),
            _ => {}
        }
    }
    Ok((tree, SecretBundle::from_files(keys)))
}

fn object(name: &str) -> String {
    format!("apiVersion: config.openshift.io/v1\nkind: ClusterVersion\nmetadata:\n  name: {name}\n")
}

fn entries(config: &Value) -> Vec<Value> {
    config["storage"]["files"].as_array().cloned().unwrap_or_default()
}

fn paths(files: &[Value]) -> BTreeSet<String> {
    files.iter().filter_map(|file| file["path"].as_str().map(ToOwned::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_what_they_are_for() {
        let (bootstrap, nodes) = (on_bootstrap_host(), on_nodes());
        for path in ["/etc/hostname", "/etc/ignition-machine-config-encapsulated.json"] {
            assert!(bootstrap.contains(path) && nodes.contains(path), "{path}");
        }
        for path in ["/usr/local/bin/bootkube.sh", "/opt/openshift/node.ign", "/var/lib/kubelet/config.json"]
        {
            assert!(bootstrap.contains(path) && !nodes.contains(path), "{path}");
        }
        let own = "/etc/kubernetes/kubeconfig";
        assert!(!bootstrap.contains(own) && nodes.contains(own), "{own}");
        assert!(!nodes.contains("/etc/kubernetes/kubelet.conf"), "the release renders it");
    }
}
