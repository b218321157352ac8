//! The node configs of the sample release: MachineConfigs in the shape the machine-config-controller renders.
//!
//! A short stand-in written for this project: the kubelet, CRI-O and the few files they cannot do without. A real
//! rendered config has some 45 files and 30 units. What depends on the cluster is left out, except that the kubelet
//! points at the cluster DNS of the default service network.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hardway_base::hex;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{ComponentImages, RenderedConfig};
use crate::yaml;

const KUBELET_UNIT: &str = include_str!("../../sample-release/node/kubelet.service");
const KUBELET_DEPENDENCIES: &str = include_str!("../../sample-release/node/kubelet-dependencies.target");
const CRIO_ORDERING: &str = include_str!("../../sample-release/node/crio-ordering.conf");
const CRIO_CONFIG: &str = include_str!("../../sample-release/node/crio.conf");

/// Files without anything to fill in.
const FILES: [(&str, &str); 4] = [
    ("/etc/NetworkManager/conf.d/sdn.conf", include_str!("../../sample-release/node/sdn.conf")),
    ("/etc/containers/policy.json", include_str!("../../sample-release/node/policy.json")),
    ("/etc/containers/registries.conf", include_str!("../../sample-release/node/registries.conf")),
    ("/etc/kubernetes/kubelet.conf", include_str!("../../sample-release/node/kubelet.conf")),
];

/// A pool and what its kubelets say of themselves when they register (MCO `templates/*/01-*-kubelet`).
struct Pool {
    name: &'static str,
    labels: &'static str,
    taints: &'static str,
}

const POOLS: [Pool; 2] = [
    Pool {
        name: "master",
        labels: "node-role.kubernetes.io/control-plane,node-role.kubernetes.io/master",
        taints: "    --register-with-taints=node-role.kubernetes.io/master=:NoSchedule \\\n",
    },
    Pool { name: "worker", labels: "node-role.kubernetes.io/worker", taints: "" },
];

/// The rendered configs of both pools, by pool.
pub(super) fn rendered(images: &ComponentImages, version: &str) -> Vec<(String, RenderedConfig)> {
    POOLS
        .iter()
        .map(|pool| {
            let spec = spec(pool, images);
            let hash: String = hex::encode(&Sha256::digest(yaml::write(&spec))[..16]);
            let name = format!("rendered-{}-{hash}", pool.name);
            let machine_config = json!({
                "apiVersion": "machineconfiguration.openshift.io/v1",
                "kind": "MachineConfig",
                "metadata": {
                    "annotations": {"machineconfiguration.openshift.io/release-image-version": version},
                    "name": name,
                },
                "spec": spec,
            });
            (pool.name.to_owned(), RenderedConfig { name, machine_config })
        })
        .collect()
}

fn spec(pool: &Pool, images: &ComponentImages) -> Value {
    let image = |name| images.get(name).unwrap_or_default();
    let crio = CRIO_CONFIG.replace("@POD_IMAGE@", image("pod"));
    let mut files: Vec<_> = FILES.iter().map(|(path, text)| file(path, text)).collect();
    files.push(file("/etc/crio/crio.conf.d/00-default", &crio));
    let kubelet = KUBELET_UNIT
        .replace("@NODE_LABELS@", pool.labels)
        .replace("@TAINTS@", pool.taints)
        .replace("@POD_IMAGE@", image("pod"));
    json!({
        "baseOSExtensionsContainerImage": image("rhel-coreos-extensions"),
        "config": {
            "ignition": {"version": "3.4.0"},
            "storage": {"files": files},
            "systemd": {"units": [
                {"name": "crio.service", "dropins": [{"name": "05-mco-ordering.conf", "contents": CRIO_ORDERING}]},
                {"name": "kubelet-dependencies.target", "contents": KUBELET_DEPENDENCIES},
                {"name": "kubelet.service", "enabled": true, "contents": kubelet},
            ]},
        },
        "extensions": [],
        "fips": false,
        "kernelArguments": ["systemd.unified_cgroup_hierarchy=1", "cgroup_no_v1=\"all\"", "psi=0"],
        "kernelType": "default",
        "osImageURL": image("rhel-coreos"),
    })
}

fn file(path: &str, text: &str) -> Value {
    let source = format!("data:text/plain;charset=utf-8;base64,{}", BASE64_STANDARD.encode(text));
    json!({"path": path, "mode": 0o644, "overwrite": true, "contents": {"source": source}})
}

#[cfg(test)]
mod tests {
    use crate::release_payload::sample;
    use crate::yaml;

    #[test]
    fn both_pools_have_a_kubelet_with_every_mark_filled_in() {
        let payload = sample();
        assert_eq!(payload.rendered.keys().collect::<Vec<_>>(), ["master", "worker"]);
        for (pool, rendered) in &payload.rendered {
            let spec = &rendered.machine_config["spec"];
            let units = spec["config"]["systemd"]["units"].as_array().unwrap();
            let kubelet = units.iter().find(|unit| unit["name"] == "kubelet.service").unwrap();
            let text = kubelet["contents"].as_str().unwrap();
            assert_eq!(text.matches('@').count(), text.matches("@sha256:").count(), "{text}");
            assert!(text.contains(&format!("node-role.kubernetes.io/{pool},")), "{text}");
            assert_eq!(text.contains("--register-with-taints"), pool == "master");
            assert_eq!(rendered.machine_config["metadata"]["name"], rendered.name.as_str());
            let hash = rendered.name.strip_prefix(&format!("rendered-{pool}-")).unwrap();
            assert!(hash.len() == 32 && hash.bytes().all(|b| b.is_ascii_hexdigit()));
        }
    }

    #[test]
    fn the_kubelet_configuration_is_yaml() {
        let conf = yaml::read(include_str!("../../sample-release/node/kubelet.conf")).unwrap().to_json();
        assert_eq!(conf["authentication"]["x509"]["clientCAFile"], "/etc/kubernetes/kubelet-ca.crt");
        assert_eq!(conf["serverTLSBootstrap"], true);
    }
}
