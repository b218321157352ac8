//! A MachineConfig as the machine-config-controller rendered it.

use hardway_assets::release_payload::RenderedConfig;
use hardway_assets::yaml;

use crate::fault::FaultReason;
use crate::image_references::unexpected;

/// Reads one file: the pool and its config. The name, and with it the pool, are the file's own word.
pub(crate) fn rendered_config(text: &str) -> Result<(String, RenderedConfig), Vec<FaultReason>> {
    let object = yaml::read(text).map_err(|errors| FaultReason::syntax(text, 0, errors))?.to_json();
    let mut reasons = Vec::new();
    for (field, expected) in
        [("kind", "MachineConfig"), ("apiVersion", "machineconfiguration.openshift.io/v1")]
    {
        if object[field] != expected {
            reasons.push(unexpected(field, expected, &object[field]));
        }
    }
    let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let pool = pool(&name);
    if pool.is_none() {
        reasons.push(unexpected("metadata.name", "rendered-POOL-HASH", &object["metadata"]["name"]));
    }
    // Nothing is wrapped in `raw` here, unlike in an object that the API server was given by an old client.
    if !object["spec"]["config"]["ignition"]["version"].is_string() {
        reasons.push(FaultReason::Field("spec.config.ignition.version".to_owned()));
    }
    if !object["spec"]["osImageURL"].is_string() {
        reasons.push(FaultReason::Field("spec.osImageURL".to_owned()));
    }
    match pool {
        Some(pool) if reasons.is_empty() => Ok((pool, RenderedConfig { name, machine_config: object })),
        _ => Err(reasons),
    }
}

/// `rendered-master-0123…` is of pool `master`.
fn pool(name: &str) -> Option<String> {
    let (pool, hash) = name.strip_prefix("rendered-")?.rsplit_once('-')?;
    let is_hash = hash.len() == 32 && hash.bytes().all(|b| b.is_ascii_hexdigit());
    (is_hash && !pool.is_empty()).then(|| pool.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pool_is_in_the_name() {
        let hash = "0123456789abcdef".repeat(2);
        assert_eq!(pool(&format!("rendered-master-{hash}")).as_deref(), Some("master"));
        assert_eq!(pool(&format!("rendered-infra-gpu-{hash}")).as_deref(), Some("infra-gpu"));
        for wrong in ["rendered-master", "master-0123", "rendered-master-xyz", ""] {
            assert_eq!(pool(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_config_that_is_not_rendered_is_told_in_full() {
        let reasons = rendered_config("kind: MachineConfig\nmetadata: {name: 00-master}\n").unwrap_err();
        assert_eq!(reasons.len(), 4, "{reasons:?}");
    }
}
