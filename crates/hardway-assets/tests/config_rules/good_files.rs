//! Files that must be read, and what they turn into.

use hardway_assets::install_config::{self, InstallConfig, Rules};
use hardway_assets::inventory::{self, Balancer, KeyAlgorithm, Provider, Role};
use hardway_assets::yaml;
use serde_json::json;

use super::files::{
    DESIGN_INVENTORY, DISCONNECTED, DUAL_STACK, DUAL_STACK_INVENTORY, HA, HA_INVENTORY, SINGLE_NODE,
    SINGLE_NODE_INVENTORY, V1BETA3, with,
};

fn read(text: &str) -> InstallConfig {
    match install_config::read(text, Rules::for_version("4.18.3")) {
        Ok(read) => read.value,
        Err(errors) => panic!("{errors:#?}"),
    }
}

fn written(config: &InstallConfig) -> String {
    yaml::write(&serde_json::to_value(config).expect("a config is JSON"))
}

#[test]
fn a_plain_cluster_is_written_as_openshift_install_writes_it() {
    // What openshift-install 4.18 stored in cluster-config-v1 for the same file.
    let expected = r#"additionalTrustBundlePolicy: Proxyonly
apiVersion: v1
baseDomain: corp.example
compute:
- architecture: amd64
  hyperthreading: Enabled
  name: worker
  platform: {}
  replicas: 2
controlPlane:
  architecture: amd64
  hyperthreading: Enabled
  name: master
  platform: {}
  replicas: 3
metadata:
  creationTimestamp: null
  name: prod1
networking:
  clusterNetwork:
  - cidr: 10.132.0.0/14
    hostPrefix: 23
  machineNetwork:
  - cidr: 10.20.30.0/24
  networkType: OVNKubernetes
  serviceNetwork:
  - 172.31.0.0/16
platform:
  none: {}
publish: External
pullSecret: ""
sshKey: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGf1Zt0nHxq0V6c0q1mZs4rN2n9vQy0b3cYk8u6i2J5d admin@corp.example
"#;
    let expected = yaml::read(expected).unwrap().to_json();
    assert_eq!(yaml::read(&written(&read(HA))).unwrap().to_json(), expected);
}

#[test]
fn the_inventory_of_a_plain_cluster_is_read() {
    let config = read(HA);
    let read = inventory::read(HA_INVENTORY, Some(&config)).unwrap();
    assert!(read.warnings.is_empty(), "{:?}", read.warnings);
    let inventory = read.value;
    assert_eq!(inventory.machines.provider, Provider::Libvirt);
    assert_eq!(inventory.machines.settings["pool"], "default");
    assert_eq!(inventory.network.load_balancer, Balancer::Haproxy);
    assert_eq!(inventory.pki.key_algorithm, KeyAlgorithm::Rsa2048);
    assert_eq!(inventory.pki.short_lived_hours, 24);
    assert_eq!(inventory.with_role(Role::Master).count(), 3);
    let macs: Vec<_> = inventory.hosts.iter().filter_map(|host| host.mac.as_deref()).collect();
    assert_eq!(macs[2..], ["52:54:00:7e:00:66", "52:54:00:7e:00:67"]);
    assert_eq!(inventory.hosts[0].memory_gib, Some(16));
}

#[test]
fn defaults_are_filled_in() {
    let minimal = "apiVersion: v1\nbaseDomain: a.example\nmetadata: {name: a}\nplatform: {none: {}}\n\
                   pullSecret: '{\"auths\":{\"quay.io\":{\"auth\":\"eDp5\"}}}'\n";
    let config = read(minimal);
    assert_eq!(
        serde_json::to_value(&config).unwrap(),
        json!({
            "additionalTrustBundlePolicy": "Proxyonly",
            "apiVersion": "v1",
            "baseDomain": "a.example",
            "compute": [{"architecture": "amd64", "hyperthreading": "Enabled", "name": "worker", "platform": {}, "replicas": 3}],
            "controlPlane": {"architecture": "amd64", "hyperthreading": "Enabled", "name": "master", "platform": {}, "replicas": 3},
            "metadata": {"creationTimestamp": null, "name": "a"},
            "networking": {
                "clusterNetwork": [{"cidr": "10.128.0.0/14", "hostPrefix": 23}],
                "machineNetwork": [{"cidr": "10.0.0.0/16"}],
                "networkType": "OVNKubernetes",
                "serviceNetwork": ["172.30.0.0/16"],
            },
            "platform": {"none": {}},
            "publish": "External",
            "pullSecret": "",
        })
    );
    assert_eq!(config.pull_secret.expose_text(), r#"{"auths":{"quay.io":{"auth":"eDp5"}}}"#);
}

#[test]
fn a_disconnected_cluster_keeps_every_field() {
    let config = read(DISCONNECTED);
    assert_eq!(config.base_domain, "corp.example.");
    assert!(config.domain().ends_with(".corp.example"));
    assert!(
        config.additional_trust_bundle.starts_with("# the corporate root\n-----BEGIN CERTIFICATE-----\n")
    );
    let json = serde_json::to_value(&config).unwrap();
    assert_eq!(json["additionalTrustBundlePolicy"], "Always");
    assert_eq!(
        json["proxy"],
        json!({
            "httpProxy": "http://proxy.corp.example:3128",
            "httpsProxy": "http://me:password@proxy.corp.example:3128",
            "noProxy": ".corp.example,10.20.30.0/24",
        })
    );
    assert_eq!(
        json["imageDigestSources"][0],
        json!({
            "mirrors": ["registry.corp.example:5000/ocp/release"],
            "source": "quay.io/openshift-release-dev/ocp-release",
        })
    );
    assert_eq!(
        json["capabilities"],
        json!({"additionalEnabledCapabilities": ["Ingress", "Console"], "baselineCapabilitySet": "None"})
    );
    assert_eq!(json["featureSet"], "CustomNoUpgrade");
    assert_eq!(json["featureGates"], json!(["Example=true"]));
    assert_eq!(json["cpuPartitioningMode"], "AllNodes");
    assert_eq!(
        json["networking"]["ovnKubernetesConfig"],
        json!({"ipv4": {"internalJoinSubnet": "100.99.0.0/16"}})
    );
}

#[test]
fn an_old_file_is_brought_up_to_date() {
    let read = install_config::read(V1BETA3, Rules::for_version("4.18.3")).unwrap();
    let config = &read.value;
    assert_eq!(config.api_version, "v1");
    assert_eq!(
        serde_json::to_value(&config.networking).unwrap(),
        json!({
            "clusterNetwork": [{"cidr": "10.132.0.0/14", "hostPrefix": 23}],
            "machineNetwork": [{"cidr": "10.20.30.0/24"}],
            "networkType": "OVNKubernetes",
            "serviceNetwork": ["172.31.0.0/16"],
        })
    );
    let notes: Vec<String> = read.warnings.iter().map(ToString::to_string).collect();
    assert!(notes.contains(
        &"networking.machineCIDR: Forbidden: deprecated, use networking.machineNetwork".to_owned()
    ));
    assert_eq!(notes.len(), 4);
}

#[test]
fn one_node_that_installs_itself() {
    let config = read(SINGLE_NODE);
    assert!(install_config::single_node(&config).is_empty());
    assert_eq!(
        serde_json::to_value(&config).unwrap()["bootstrapInPlace"],
        json!({"installationDisk": "/dev/nvme0n1"})
    );
    let inventory = inventory::read(SINGLE_NODE_INVENTORY, Some(&config)).unwrap().value;
    assert_eq!(inventory.network.api_vip, inventory.network.ingress_vip);
    assert_eq!(inventory.pki.key_algorithm, KeyAlgorithm::EcdsaP256);
    assert_eq!(inventory.pki.short_lived_hours, 48);
    assert_eq!(inventory.options.network_plugin, None);
    assert_eq!(inventory.machines.settings, json!({}));
}

#[test]
fn two_families_with_the_primary_first() {
    let config = read(DUAL_STACK);
    let inventory = inventory::read(DUAL_STACK_INVENTORY, Some(&config)).unwrap().value;
    let ips: Vec<String> = inventory.hosts[2].ip.iter().map(ToString::to_string).collect();
    assert_eq!(ips, ["10.20.30.102", "fd00::102"]);
    // The order of name servers is the user's.
    assert!(inventory.network.dns[0].is_ipv6());
}

#[test]
fn ipv6_alone() {
    let text = with(DUAL_STACK, "{cidr: 10.132.0.0/14, hostPrefix: 23}, ", "");
    let text = with(&text, "{cidr: 10.20.30.0/24}, ", "");
    let config = read(&with(&text, "172.31.0.0/16, ", ""));
    assert_eq!(config.networking.service_network, ["fd02::/112".parse().unwrap()]);
    assert_eq!(config.networking.cluster_network[0].host_prefix, 64);
}

#[test]
fn the_inventory_of_the_design_is_read() {
    let read = inventory::read(DESIGN_INVENTORY, None).unwrap();
    assert!(read.warnings.is_empty());
    assert_eq!(read.value.hosts[2].role, Role::Worker);
}

/// The same against the real thing, where a run of openshift-install was recorded beside this repository.
#[test]
fn a_recorded_run_of_openshift_install_agrees() {
    let config = hardway_testing::real_data("openshift-install-4.18-prod1.install-config.yaml");
    let made = hardway_testing::real_data("openshift-install-4.18-prod1.json");
    let (Some(config), Some(made)) = (config, made) else { return };
    let (text, recorded) = (file(&config), file(&made));
    let recorded: serde_json::Value = serde_json::from_str(&recorded).unwrap();
    let stored = &recorded["manifests"]["manifests/cluster-config.yaml"];
    let stored = if stored.is_array() { &stored[0] } else { stored };
    let stored = stored["data"]["install-config"].as_str().unwrap();
    assert_eq!(serde_json::to_value(read(&text)).unwrap(), yaml::read(stored).unwrap().to_json());
}

#[expect(clippy::disallowed_methods, reason = "a test's own file")]
fn file(path: &std::path::Path) -> String {
    std::fs::read_to_string(path).unwrap()
}
