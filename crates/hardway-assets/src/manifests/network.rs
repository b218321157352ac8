//! `manifests/cluster-network-02-config.yml`: Network; and `…-03-config.yml`, the operator's own, where it is needed.

use serde_json::{Value, json};

use super::config_objects::config_object;
use crate::graph::{Inputs, MakeError};
use crate::install_config::InstallConfig;
use crate::object_file::{ObjectFile, fields};

/// The pod and service networks.
pub(super) fn network() -> ObjectFile {
    ObjectFile::new(
        "network",
        "manifests/cluster-network-02-config.yml",
        fields(["networking.clusterNetwork", "networking.networkType", "networking.serviceNetwork"]),
        build,
    )
}

/// Settings of the network operator that the cluster-wide object has no field for. `None` where all are defaults: the
/// operator then writes the object itself.
pub(super) fn operator_network(config: &InstallConfig) -> Option<ObjectFile> {
    internal_join_subnet(config)?;
    Some(ObjectFile::new(
        "operator-network",
        "manifests/cluster-network-03-config.yml",
        fields(["networking.clusterNetwork", "networking.ovnKubernetesConfig", "networking.serviceNetwork"]),
        build_operator,
    ))
}

fn build(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    let networking = &inputs.cluster.config.networking;
    Ok(config_object(
        "Network",
        &json!({
            "clusterNetwork": networking.cluster_network,
            // A policy that is there but empty forbids every external IP; without one, any user could claim any
            // address for a Service (API `config/v1/types_network.go`).
            "externalIP": {"policy": {}},
            "networkType": networking.network_type,
            "serviceNetwork": networking.service_network,
        }),
    ))
}

fn build_operator(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    let config = &inputs.cluster.config;
    Ok(json!({
        "apiVersion": "operator.openshift.io/v1",
        "kind": "Network",
        "metadata": {"name": "cluster"},
        "spec": {
            "clusterNetwork": config.networking.cluster_network,
            "defaultNetwork": {
                "ovnKubernetesConfig": {"ipv4": {"internalJoinSubnet": internal_join_subnet(config)}},
                "type": "OVNKubernetes",
            },
            "managementState": "Managed",
            "serviceNetwork": config.networking.service_network,
        },
    }))
}

fn internal_join_subnet(config: &InstallConfig) -> Option<String> {
    let ipv4 = config.networking.ovn_kubernetes_config.as_ref()?.ipv4.as_ref()?;
    ipv4.internal_join_subnet.map(|subnet| subnet.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::testing::World;
    use crate::install_config::{OvnIpv4, OvnKubernetesConfig};
    use serde_json::json;

    #[test]
    fn both_families_keep_their_order() {
        let spec =
            World::dual_stack("4.18.1").object("manifests/cluster-network-02-config.yml")["spec"].clone();
        assert_eq!(
            spec["clusterNetwork"],
            json!([{"cidr": "10.128.0.0/14", "hostPrefix": 23}, {"cidr": "fd01::/48", "hostPrefix": 64}])
        );
        assert_eq!(spec["serviceNetwork"], json!(["172.30.0.0/16", "fd02::/112"]));
        assert_eq!(spec["externalIP"], json!({"policy": {}}));
    }

    #[test]
    fn the_operators_own_object_appears_with_a_join_subnet_only() {
        const PATH: &str = "manifests/cluster-network-03-config.yml";
        let mut world = World::new();
        assert!(!world.paths().contains(&PATH.to_owned()));
        world.cluster.config.networking.ovn_kubernetes_config = Some(OvnKubernetesConfig {
            ipv4: Some(OvnIpv4 { internal_join_subnet: Some("100.99.0.0/16".parse().unwrap()) }),
        });
        let spec = world.object(PATH)["spec"].clone();
        assert_eq!(
            spec["defaultNetwork"],
            json!({"type": "OVNKubernetes", "ovnKubernetesConfig": {"ipv4": {"internalJoinSubnet": "100.99.0.0/16"}}})
        );
        assert_eq!(spec["managementState"], "Managed");
    }
}
