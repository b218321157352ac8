//! `openshift/99_osimagestream.yaml`: OSImageStream.

use serde_json::json;

use crate::feature_gates::{self, OS_STREAMS};
use crate::graph::{Facet, Source};
use crate::install_config::InstallConfig;
use crate::object_file::ObjectFile;
use crate::release_payload::{ReleasePayload, VersionContract};

/// Which of the release's operating systems nodes run; `None` where the release has no choice to offer (installer
/// `manifests/osimagestream.go`).
pub(super) fn os_image_stream(config: &InstallConfig, release: &ReleasePayload) -> Option<ObjectFile> {
    if !release.promises(VersionContract::writes_os_image_stream)
        || !feature_gates::is_on(config, release, OS_STREAMS)
    {
        return None;
    }
    let mut sources = feature_gates::sources().to_vec();
    sources.extend([Source::config("osImageStream"), Source::Release(Facet::Version)]);
    Some(ObjectFile::new("os-image-stream", "openshift/99_osimagestream.yaml", sources, |inputs| {
        let contract = inputs.version_contract()?;
        let stream = match inputs.cluster.config.os_image_stream.as_str() {
            "" => contract.default_os_image_stream(),
            stream => stream,
        };
        Ok(json!({
            "apiVersion": contract.os_image_stream_api(),
            "kind": "OSImageStream",
            "metadata": {"name": "cluster"},
            "spec": {"defaultStream": stream},
        }))
    }))
}

#[cfg(test)]
mod tests {
    use super::super::testing::World;
    use super::OS_STREAMS;

    const PATH: &str = "openshift/99_osimagestream.yaml";

    fn with_gate(version: &str) -> World {
        let mut world = World::of_version(version);
        let gates = world.release.feature_gates.get_mut("").unwrap();
        gates.enabled.push(OS_STREAMS.to_owned());
        world
    }

    #[test]
    fn there_is_one_where_the_gate_is_on_and_the_release_writes_it() {
        for (version, api, stream) in [
            ("4.22.1", "machineconfiguration.openshift.io/v1alpha1", "rhel-9"),
            ("4.23.0", "machineconfiguration.openshift.io/v1", "rhel-9"),
            ("5.0.0", "machineconfiguration.openshift.io/v1", "rhel-10"),
            ("4.23.0-okd-scos.1", "machineconfiguration.openshift.io/v1", "centos-10"),
        ] {
            let object = with_gate(version).object(PATH);
            assert_eq!(object["apiVersion"], api, "{version}");
            assert_eq!(object["spec"]["defaultStream"], stream, "{version}");
        }
        for version in ["4.18.1", "4.21.3", "4.22.0-okd-scos.1"] {
            assert!(!with_gate(version).paths().contains(&PATH.to_owned()), "{version}");
        }
        assert!(!World::of_version("4.23.0").paths().contains(&PATH.to_owned()), "the gate is off");
    }

    #[test]
    fn a_stream_that_was_named_is_taken() {
        let mut world = with_gate("4.22.1");
        world.cluster.config.os_image_stream = "rhel-9".to_owned();
        assert_eq!(world.object(PATH)["spec"]["defaultStream"], "rhel-9");
    }
}
