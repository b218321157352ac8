//! `/opt/openshift/bootstrap.env`: the values of one cluster that the bootstrap host's scripts read.

use std::fmt::Write as _;

use super::bootstrap_files::ENVIRONMENT;
use crate::graph::{Inputs, MakeError};

/// One `KEY='value'` line for each key the scripts know.
pub(super) fn write(inputs: &Inputs<'_>) -> Result<String, MakeError> {
    let mut text = String::new();
    for key in ENVIRONMENT {
        let value = value(key, inputs)?;
        if value.contains('\'') {
            return Err(MakeError::Internal(format!("{key} holds a quote")));
        }
        let _ = writeln!(text, "{key}='{value}'");
    }
    Ok(text)
}

fn value(key: &str, inputs: &Inputs<'_>) -> Result<String, MakeError> {
    let cluster = inputs.cluster;
    let in_place = cluster.config.bootstrap_in_place.as_ref();
    let serves = cluster.inventory.machines.provider.row().serves_machine_configs;
    Ok(match key {
        "RELEASE_IMAGE" => inputs.release.image.clone(),
        "RELEASE_VERSION" => inputs.release.version.clone(),
        "API_URL" => cluster.api_url(),
        "API_INT_URL" => cluster.api_int_url(),
        "HIGHLY_AVAILABLE" => (!cluster.is_single_node()).to_string(),
        "IN_PLACE" => in_place.is_some().to_string(),
        "INSTALL_DISK" => in_place.map(|place| place.installation_disk.clone()).unwrap_or_default(),
        "NODE_IP" => cluster.bootstrap_ip().to_string(),
        "IPV6_PRIMARY" => cluster.is_ipv6_primary().to_string(),
        "SERVE_MACHINE_CONFIGS" => serves.to_string(),
        "IMAGE_POD" => inputs.image("pod")?.to_owned(),
        "IMAGE_CLI" => inputs.image("cli")?.to_owned(),
        "IMAGE_MACHINE_CONFIG_OPERATOR" => inputs.image("machine-config-operator")?.to_owned(),
        // A release that was cut down for the lab may have none.
        "IMAGE_NODE_OS" => {
            inputs.image(inputs.version_contract()?.bootstrap_image_name()).unwrap_or_default().to_owned()
        }
        _ => return Err(MakeError::Internal(format!("nothing is known about the key {key}"))),
    })
}

#[cfg(test)]
mod tests {
    use super::value;
    use crate::Tree;
    use crate::example;
    use crate::graph::Inputs;
    use crate::release_payload::sample;
    use crate::secrets::SecretBundle;

    #[test]
    fn the_node_image_is_named_after_the_release_and_may_be_missing() {
        let (cluster, secrets, tree) = (example::cluster(), SecretBundle::from_files([]), Tree::default());
        let image = |version: &str, name: &str| {
            let mut release = sample();
            release.version = version.to_owned();
            release.images = [(name.to_owned(), "quay.io/x/os".to_owned())].into_iter().collect();
            let inputs = Inputs { cluster: &cluster, release: &release, secrets: &secrets, tree: &tree };
            value("IMAGE_NODE_OS", &inputs).expect("the version can be read")
        };
        assert_eq!(image("4.18.1", "rhel-coreos"), "quay.io/x/os");
        assert_eq!(image("5.0.1", "rhel-coreos-10"), "quay.io/x/os");
        assert_eq!(image("4.18.0-okd-scos.3", "stream-coreos"), "quay.io/x/os");
        assert_eq!(image("4.18.0-okd-scos.3", "rhel-coreos"), "");
    }
}
