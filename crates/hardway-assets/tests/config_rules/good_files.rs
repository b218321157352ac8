//! Files that must be read, and what they turn into.

use hardway_assets::install_config::{self, InstallConfig, Rules};
use hardway_assets::inventory::{self, KeyAlgorithm, Provider, Role};
use hardway_assets::yaml;

use crate::files::{HA, HA_INVENTORY};

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
    assert_eq!(inventory.network.load_balancer, "haproxy");
    assert_eq!(inventory.pki.key_algorithm, KeyAlgorithm::Rsa2048);
    assert_eq!(inventory.pki.short_lived_hours, 24);
    assert_eq!(inventory.with_role(Role::Master).count(), 3);
    let macs: Vec<_> = inventory.hosts.iter().filter_map(|host| host.mac.as_deref()).collect();
    assert_eq!(macs[2..], ["52:54:00:7e:00:66", "52:54:00:7e:00:67"]);
    assert_eq!(inventory.hosts[0].memory_gib, Some(16));
}
