//! `metadata.json`: what other tools know the cluster by.

use serde::Serialize;

use crate::Phase;
use crate::feature_gates::CustomGates;
use crate::graph::{Asset, Inputs, MakeError, Output, Source};
use crate::object_file::fields;

/// One line of JSON in the working directory. Without a platform key, as openshift-install writes it for platform none.
pub(super) struct Metadata;

/// In the order openshift-install writes them (installer `types/clustermetadata.go`).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Fields<'a> {
    cluster_name: &'a str,
    #[serde(rename = "clusterID")]
    cluster_id: &'a str,
    #[serde(rename = "infraID")]
    infra_id: &'a str,
    feature_set: &'a str,
    custom_feature_set: Option<CustomGates>,
}

impl Asset for Metadata {
    fn id(&self) -> String {
        "metadata".to_owned()
    }

    fn phase(&self) -> Phase {
        Phase::MakeIgnition
    }

    fn sources(&self) -> Vec<Source> {
        let mut sources = fields(["featureGates", "featureSet", "metadata.name"]);
        sources.push(Source::Identity);
        sources
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::public("metadata.json")]
    }

    fn make(&self, inputs: &Inputs<'_>) -> Result<Vec<Vec<u8>>, MakeError> {
        let cluster = inputs.cluster;
        let fields = Fields {
            cluster_name: &cluster.config.metadata.name,
            cluster_id: &cluster.identity.cluster_id,
            infra_id: &cluster.identity.infra_id,
            feature_set: &cluster.config.feature_set,
            custom_feature_set: CustomGates::of(&cluster.config),
        };
        serde_json::to_vec(&fields)
            .map(|json| vec![json])
            .map_err(|error| MakeError::Internal(format!("metadata.json cannot be written: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::World;

    #[test]
    fn is_the_line_that_openshift_install_writes() {
        let mut world = World::new();
        assert_eq!(
            world.text("metadata.json"),
            r#"{"clusterName":"ocp4","clusterID":"8b1c2f9e-6a57-4d0c-9f0e-3c6f1f6a1c11","infraID":"ocp4-x7k2p","featureSet":"","customFeatureSet":null}"#
        );
        world.cluster.config.feature_set = "CustomNoUpgrade".to_owned();
        world.cluster.config.feature_gates = vec!["New=T".to_owned()];
        assert!(
            world
                .text("metadata.json")
                .ends_with(r#""featureSet":"CustomNoUpgrade","customFeatureSet":{"enabled":["New"]}}"#)
        );
    }
}
