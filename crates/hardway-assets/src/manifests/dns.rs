//! `manifests/cluster-dns-02-config.yml`: DNS.

use serde_json::{Value, json};

use super::config_object::config_object;
use crate::graph::{Inputs, MakeError};
use crate::object_file::{ObjectFile, fields};

/// Tells operators the cluster domain. On platform none there is no zone they could write records to.
pub(super) fn dns() -> ObjectFile {
    ObjectFile::new(
        "dns",
        "manifests/cluster-dns-02-config.yml",
        fields(["baseDomain", "metadata.name"]),
        build,
    )
}

fn build(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    // The field is called baseDomain but holds the cluster's own domain (installer `manifests/dns.go`).
    Ok(config_object("DNS", &json!({"baseDomain": inputs.cluster.domain(), "platform": {"type": ""}})))
}

#[cfg(test)]
mod tests {
    use super::super::testing::World;

    #[test]
    fn the_base_domain_is_the_cluster_domain() {
        let dns = World::new().object("manifests/cluster-dns-02-config.yml");
        assert_eq!(dns["spec"]["baseDomain"], "ocp4.example.com");
    }
}
