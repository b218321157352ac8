//! The small objects of config.openshift.io, of each kind of which a cluster has one: DNS, Ingress, Scheduler.

use serde_json::{Value, json};

use crate::cluster::Topology;
use crate::graph::{Inputs, MakeError};
use crate::object_file::{ObjectFile, fields};

/// Tells operators the cluster domain. On platform none there is no zone they could write records to.
pub(super) fn dns() -> ObjectFile {
    ObjectFile::new(
        "dns",
        "manifests/cluster-dns-02-config.yml",
        fields(["baseDomain", "metadata.name"]),
        build_dns,
    )
}

fn build_dns(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    // The field is called baseDomain but holds the cluster's own domain (installer `manifests/dns.go`).
    Ok(config_object("DNS", &json!({"baseDomain": inputs.cluster.domain(), "platform": {"type": ""}})))
}

/// Gives routes their domain and says which machines the default routers run on.
pub(super) fn ingress() -> ObjectFile {
    ObjectFile::new(
        "ingress",
        "manifests/cluster-ingress-02-config.yml",
        fields(["baseDomain", "controlPlane.replicas", "metadata.name"]),
        build_ingress,
    )
}

fn build_ingress(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
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

/// Says whether masters take workloads: only where install-config asks for no workers at all.
pub(super) fn scheduler() -> ObjectFile {
    ObjectFile::new(
        "scheduler",
        "manifests/cluster-scheduler-02-config.yml",
        fields(["compute"]),
        build_scheduler,
    )
}

fn build_scheduler(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    let masters_schedulable = inputs.cluster.config.worker_replicas() == 0;
    Ok(config_object(
        "Scheduler",
        &json!({"mastersSchedulable": masters_schedulable, "policy": {"name": ""}}),
    ))
}

/// The one object of a kind. All are called `cluster`.
pub(super) fn config_object(kind: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": "config.openshift.io/v1",
        "kind": kind,
        "metadata": {"name": "cluster"},
        "spec": spec,
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::World;

    #[test]
    fn the_base_domain_is_the_cluster_domain() {
        let dns = World::new().object("manifests/cluster-dns-02-config.yml");
        assert_eq!(dns["spec"]["baseDomain"], "ocp4.example.com");
    }

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

    #[test]
    fn masters_take_workloads_where_there_are_no_workers() {
        for (masters, workers, schedulable) in [(3, 2, false), (3, 1, false), (3, 0, true), (1, 0, true)] {
            let scheduler =
                World::sized(masters, workers).object("manifests/cluster-scheduler-02-config.yml");
            assert_eq!(scheduler["spec"]["mastersSchedulable"], schedulable, "{masters}+{workers}");
        }
    }
}
