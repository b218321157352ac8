//! `manifests/cluster-infrastructure-02-config.yml`: Infrastructure.

use serde_json::{Value, json};

use super::config_objects::config_object;
use crate::graph::{Inputs, MakeError, Source};
use crate::object_file::{ObjectFile, fields};

/// Says where the API is, what the platform is and how many replicas operators should run.
pub(super) fn infrastructure() -> ObjectFile {
    let mut sources =
        fields(["baseDomain", "compute", "controlPlane.replicas", "cpuPartitioningMode", "metadata.name"]);
    sources.push(Source::Identity);
    ObjectFile::new("infrastructure", "manifests/cluster-infrastructure-02-config.yml", sources, build)
}

fn build(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    let cluster = inputs.cluster;
    let cpu_partitioning =
        if cluster.config.cpu_partitioning_mode == "AllNodes" { "AllNodes" } else { "None" };
    let mut object = config_object(
        "Infrastructure",
        &json!({"cloudConfig": {"name": ""}, "platformSpec": {"type": "None"}}),
    );
    object["status"] = json!({
        // URI, not URL: under any other name it is dropped, and nodes get no API address (API
        // `config/v1/types_infrastructure.go`).
        "apiServerInternalURI": cluster.api_int_url(),
        "apiServerURL": cluster.api_url(),
        "controlPlaneTopology": cluster.control_plane_topology().name(),
        "cpuPartitioning": cpu_partitioning,
        "etcdDiscoveryDomain": "",
        "infrastructureName": cluster.identity.infra_id,
        "infrastructureTopology": cluster.infrastructure_topology().name(),
        "platform": "None",
        "platformStatus": {"type": "None"},
    });
    Ok(object)
}

#[cfg(test)]
mod tests {
    use super::super::testing::World;
    use serde_json::json;

    const PATH: &str = "manifests/cluster-infrastructure-02-config.yml";

    #[test]
    fn topologies_follow_the_installers_table() {
        let (ha, single) = ("HighlyAvailable", "SingleReplica");
        for (masters, workers, control_plane, infrastructure) in [
            (3, 2, ha, ha),
            (3, 0, ha, ha),
            (5, 3, ha, ha),
            (1, 0, single, single),
            (1, 2, single, ha),
            // The trap: one worker makes routers, monitoring and registry run single.
            (3, 1, ha, single),
        ] {
            let status = World::sized(masters, workers).object(PATH)["status"].clone();
            assert_eq!(status["controlPlaneTopology"], control_plane, "{masters}+{workers}");
            assert_eq!(status["infrastructureTopology"], infrastructure, "{masters}+{workers}");
        }
    }

    #[test]
    fn addresses_stand_under_the_names_that_readers_look_for() {
        let status = World::new().object(PATH)["status"].clone();
        assert_eq!(status["apiServerInternalURI"], "https://api-int.ocp4.example.com:6443");
        assert_eq!(status["apiServerURL"], "https://api.ocp4.example.com:6443");
        assert_eq!(status["infrastructureName"], "ocp4-x7k2p");
    }

    #[test]
    fn cpu_partitioning_is_none_unless_asked_for() {
        let mut world = World::new();
        assert_eq!(world.object(PATH)["status"]["cpuPartitioning"], json!("None"));
        world.cluster.config.cpu_partitioning_mode = "AllNodes".to_owned();
        assert_eq!(world.object(PATH)["status"]["cpuPartitioning"], json!("AllNodes"));
    }
}
