//! `manifests/cluster-ingress-02-config.yml`: Ingress.

use serde_json::{Value, json};

use super::config_object::config_object;
use crate::cluster::Topology;
use crate::graph::{Inputs, MakeError};
use crate::object_file::{ObjectFile, fields};

/// Gives routes their domain and says which machines the default routers run on.
pub(super) fn ingress() -> ObjectFile {
    ObjectFile::new(
        "ingress",
        "manifests/cluster-ingress-02-config.yml",
        fields(["baseDomain", "controlPlane.replicas", "metadata.name"]),
        build,
    )
}

fn build(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    let cluster = inputs.cluster;
    // A single node on platform none has no load balancer in front: its routers stay on it even when workers come, so
    // that *.apps may go on pointing at it (installer `manifests/ingress.go`).
    let placement = match cluster.control_plane_topology() {
        Topology::SingleReplica => "ControlPlane",
        Topology::HighlyAvailable => "Workers",
    };
    let mut object = config_object(
        "Ingress",
        &json!({
            "domain": format!("apps.{}", cluster.domain()),
            "loadBalancer": {"platform": {"type": ""}},
        }),
    );
    object["status"] = json!({"defaultPlacement": placement});
    Ok(object)
}

#[cfg(test)]
mod tests {
    use super::super::testing::World;

    #[test]
    fn routers_of_a_single_node_stay_on_it() {
        for (masters, workers, placement) in
            [(3, 2, "Workers"), (3, 0, "Workers"), (1, 0, "ControlPlane"), (1, 2, "ControlPlane")]
        {
            let ingress = World::sized(masters, workers).object("manifests/cluster-ingress-02-config.yml");
            assert_eq!(ingress["status"]["defaultPlacement"], placement, "{masters}+{workers}");
            assert_eq!(ingress["spec"]["domain"], "apps.ocp4.example.com");
        }
    }
}
