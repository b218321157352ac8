//! What the machine-config-server would serve to any machine of a pool: the rendered config and its additions, and
//! nothing that only one host has.

use serde_json::Value;

use super::node::{Base, additions};
use crate::graph::{Inputs, MakeError};
use crate::inventory::Role;

/// The identity that all machines of a pool share until they are nodes.
const KUBECONFIG: &str = "kubeconfigs/kubelet.kubeconfig";

/// The config of a pool, at the version it was rendered in; `None` when the release has not rendered the pool.
pub fn pool_config(inputs: &Inputs<'_>, pool: Role) -> Result<Option<Value>, MakeError> {
    let Some(rendered) = inputs.release.rendered.get(pool.name()) else { return Ok(None) };
    let mut base = Base::read_as_rendered(&rendered.machine_config, &rendered.name)?;
    for (path, mode, bytes) in additions(inputs, &rendered.name, &rendered.machine_config, KUBECONFIG)? {
        base.add(path, mode, &bytes)?;
    }
    Ok(Some(base.into_value()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release_payload::sample;
    use crate::secrets::SecretBundle;
    use crate::{Tree, example, pki};

    #[test]
    fn a_pool_has_nothing_of_a_host() {
        let (cluster, release, secrets) = (example::cluster(), sample(), SecretBundle::default());
        let mut tree = Tree::default();
        tree.insert(pki::path("kube-apiserver-complete-client-ca-bundle"), "CA");
        tree.insert(KUBECONFIG, "kubeconfig");
        let inputs = Inputs { cluster: &cluster, release: &release, secrets: &secrets, tree: &tree };
        let config = pool_config(&inputs, Role::Worker).unwrap().unwrap();
        let paths: Vec<&str> = config["storage"]["files"]
            .as_array()
            .unwrap()
            .iter()
            .map(|file| file["path"].as_str().unwrap())
            .collect();
        assert!(paths.contains(&"/etc/machine-config-daemon/node-annotations.json"), "{paths:?}");
        assert_eq!(paths.last(), Some(&"/etc/ignition-machine-config-encapsulated.json"));
        assert!(!paths.contains(&"/etc/hostname"), "{paths:?}");
        let version = &release.rendered["worker"].machine_config["spec"]["config"]["ignition"]["version"];
        assert_eq!(&config["ignition"]["version"], version);
        assert!(pool_config(&inputs, Role::Bootstrap).unwrap().is_none());
    }
}
