//! `manifests/cluster-proxy-01-config.yaml`: Proxy.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::config_objects::config_object;
use super::user_ca_bundle;
use crate::Cluster;
use crate::graph::{Inputs, MakeError};
use crate::install_config::{InstallConfig, Proxy};
use crate::object_file::{ObjectFile, fields};

/// How nodes and operators reach the outside. Written without a proxy too: operators wait for the object.
pub(super) fn proxy(config: &InstallConfig) -> ObjectFile {
    let manifest = ObjectFile::new(
        "proxy",
        "manifests/cluster-proxy-01-config.yaml",
        fields([
            "additionalTrustBundle",
            "additionalTrustBundlePolicy",
            "baseDomain",
            "metadata.name",
            "networking.clusterNetwork",
            "networking.machineNetwork",
            "networking.serviceNetwork",
            "proxy",
        ]),
        build,
    );
    if holds_password(config) { manifest.secret() } else { manifest }
}

/// Whether a proxy URL carries a user name, and so perhaps a password.
pub(super) fn holds_password(config: &InstallConfig) -> bool {
    config.proxy.iter().any(|proxy| proxy.http_proxy.contains('@') || proxy.https_proxy.contains('@'))
}

fn build(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    let config = &inputs.cluster.config;
    // A bundle that is only for the proxy is not named where there is no proxy.
    let is_trusted = config.proxy.is_some() || config.additional_trust_bundle_policy == "Always";
    let trusted_ca =
        if is_trusted && !config.additional_trust_bundle.is_empty() { user_ca_bundle::NAME } else { "" };
    let mut object = config_object("Proxy", &json!({"trustedCA": {"name": trusted_ca}}));
    if let Some(proxy) = &config.proxy {
        set(&mut object["spec"], proxy, &proxy.no_proxy);
        // The network operator writes the status later; until then the bootstrap host and the first nodes read it here.
        object["status"] = json!({});
        set(&mut object["status"], proxy, &no_proxy(inputs.cluster, proxy));
    }
    Ok(object)
}

fn set(part: &mut Value, proxy: &Proxy, no_proxy: &str) {
    for (key, value) in
        [("httpProxy", &*proxy.http_proxy), ("httpsProxy", &*proxy.https_proxy), ("noProxy", no_proxy)]
    {
        if !value.is_empty() {
            part[key] = value.into();
        }
    }
}

/// The user's list and everything inside the cluster, sorted, each once; a lone `*` stays what it is (installer
/// `manifests/proxy.go`; the network operator computes the same list in `util/proxyconfig`).
pub fn no_proxy(cluster: &Cluster, proxy: &Proxy) -> String {
    if proxy.no_proxy == "*" {
        return proxy.no_proxy.clone();
    }
    let networking = &cluster.config.networking;
    let networks = networking.cluster_network.iter().map(|network| network.cidr);
    let networks = networks.chain(networking.machine_network.iter().map(|network| network.cidr));
    let networks = networks.chain(networking.service_network.iter().copied());
    let fixed = ["127.0.0.1", "localhost", ".svc", ".cluster.local"];
    let mut all: BTreeSet<String> = fixed.map(str::to_owned).into();
    all.insert(cluster.api_int_host());
    all.extend(networks.map(|network| network.to_string()));
    all.extend(proxy.no_proxy.split(',').filter(|value| !value.is_empty()).map(str::to_owned));
    Vec::from_iter(all).join(",")
}

#[cfg(test)]
mod tests {
    use super::super::testing::{CERTIFICATE, World};
    use crate::install_config::Proxy;
    use serde_json::json;

    const PATH: &str = "manifests/cluster-proxy-01-config.yaml";

    fn behind_a_proxy(no_proxy: &str) -> World {
        let mut world = World::new();
        world.cluster.config.proxy = Some(Proxy {
            http_proxy: "http://proxy:3128".to_owned(),
            https_proxy: String::new(),
            no_proxy: no_proxy.to_owned(),
        });
        world
    }

    #[test]
    fn the_status_lists_everything_inside_the_cluster_once_and_sorted() {
        let proxy = behind_a_proxy("example.org,localhost,,10.128.0.0/14").object(PATH);
        assert_eq!(
            proxy["status"],
            json!({
                "httpProxy": "http://proxy:3128",
                "noProxy": ".cluster.local,.svc,10.128.0.0/14,127.0.0.1,172.30.0.0/16,192.168.126.0/24,\
                            api-int.ocp4.example.com,example.org,localhost",
            })
        );
        assert_eq!(proxy["spec"]["noProxy"], "example.org,localhost,,10.128.0.0/14");
        assert_eq!(proxy["spec"].get("httpsProxy"), None);
    }

    #[test]
    fn a_star_stays_alone() {
        assert_eq!(behind_a_proxy("*").object(PATH)["status"]["noProxy"], "*");
    }

    #[test]
    fn both_families_are_reached_directly() {
        let mut world = World::dual_stack("4.18.1");
        world.cluster.config.proxy = behind_a_proxy("").cluster.config.proxy;
        let list = world.object(PATH)["status"]["noProxy"].as_str().unwrap().to_owned();
        for network in ["fd00::/64", "fd01::/48", "fd02::/112", "192.168.126.0/24"] {
            assert!(list.split(',').any(|entry| entry == network), "{network} in {list}");
        }
    }

    #[test]
    fn the_trust_bundle_is_named_by_policy_or_proxy() {
        for (policy, has_proxy, name) in [
            ("Proxyonly", false, ""),
            ("Proxyonly", true, "user-ca-bundle"),
            ("Always", false, "user-ca-bundle"),
        ] {
            let mut world = if has_proxy { behind_a_proxy("") } else { World::new() };
            world.cluster.config.additional_trust_bundle = CERTIFICATE.to_owned();
            world.cluster.config.additional_trust_bundle_policy = policy.to_owned();
            assert_eq!(world.object(PATH)["spec"]["trustedCA"]["name"], name, "{policy} {has_proxy}");
        }
        let mut world = World::new();
        world.cluster.config.additional_trust_bundle_policy = "Always".to_owned();
        assert_eq!(world.object(PATH)["spec"], json!({"trustedCA": {"name": ""}}));
    }

    #[test]
    fn a_proxy_with_a_password_makes_the_files_private() {
        for (url, mode) in [("http://proxy:3128", 0o644), ("http://me:word@proxy:3128", 0o600)] {
            let mut world = behind_a_proxy("");
            world.cluster.config.proxy.as_mut().unwrap().http_proxy = url.to_owned();
            assert_eq!(world.mode(PATH), mode);
            assert_eq!(world.mode("manifests/cluster-config.yaml"), mode);
        }
    }
}
