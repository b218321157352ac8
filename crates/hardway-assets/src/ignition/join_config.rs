//! What a machine boots with that joins a cluster which runs already.
//!
//! The cluster keeps a pointer for such machines, with its present authority: Secret `<pool>-user-data-managed` of namespace
//! openshift-machine-api (openshift/machine-config-operator `pkg/operator/sync.go`). What only this host has is added. What the
//! pointer leads to brings the kubeconfig that all machines share; a config that is merged after it replaces that by the host's
//! own (coreos/ignition `internal/exec/engine.go`: of several, the last one counts).

use jiff::Timestamp;
use serde_json::{Value, json};

use super::config::{Config, DuplicatePath};
use super::host_files;
use super::node::KUBECONFIG_PATH;
use crate::Cluster;
use crate::ignition_spec::data_url;
use crate::inventory::Host;
use crate::secrets::{SecretBundle, SecretsError};

/// A pointer that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UserDataError {
    /// Not an Ignition config of spec 3.
    #[error("the cluster's user data is not an Ignition config of spec 3")]
    NotIgnition,
    /// It leads nowhere.
    #[error("the cluster's user data names no config to fetch")]
    NoSource,
    /// The host's ssh key is missing or damaged.
    #[error(transparent)]
    Secret(#[from] SecretsError),
    /// Both want to write a file.
    #[error(transparent)]
    Twice(#[from] DuplicatePath),
}

/// The cluster's pointer with the host's own files: its name, its addresses, its ssh key, when it was installed, and what it asks
/// for its first certificate with.
///
/// # Errors
/// When the pointer cannot be used, or the host has no ssh key yet.
pub fn joining_config(
    cluster: &Cluster,
    secrets: &SecretBundle,
    host: &Host,
    user_data: &[u8],
    kubeconfig: &[u8],
    now: Timestamp,
) -> Result<Vec<u8>, UserDataError> {
    let pointer: Value = serde_json::from_slice(user_data).map_err(|_| UserDataError::NotIgnition)?;
    let version = pointer["ignition"]["version"].as_str().unwrap_or_default();
    if !version.starts_with("3.") {
        return Err(UserDataError::NotIgnition);
    }
    if !pointer["ignition"]["config"]["merge"][0]["source"].is_string() {
        return Err(UserDataError::NoSource);
    }
    let mut own = Config::default();
    for (path, mode, text) in host_files::of_every_host(cluster, secrets, host)? {
        own.file(&path, mode, text.as_bytes())?;
    }
    // Two machines of one name, one after the other, have different configs, and so different tokens.
    own.file("/etc/hardway-joined", 0o644, format!("installed from {now} on\n").as_bytes())?;
    let mut own: Value = serde_json::from_slice(&own.write()).map_err(|_| UserDataError::NotIgnition)?;
    let mut config = pointer;
    // Both may have files; the host's come last.
    let mut files = config["storage"]["files"].as_array().cloned().unwrap_or_default();
    let mine = own["storage"]["files"].as_array_mut().map(std::mem::take).unwrap_or_default();
    if let Some(twice) = files.iter().find(|file| mine.iter().any(|own| own["path"] == file["path"])) {
        return Err(DuplicatePath(twice["path"].as_str().unwrap_or_default().to_owned()).into());
    }
    files.extend(mine);
    config["storage"]["files"] = json!(files);
    let mut last = Config::default();
    last.file(KUBECONFIG_PATH, 0o600, kubeconfig)?;
    let merge = config["ignition"]["config"]["merge"].as_array_mut().ok_or(UserDataError::NoSource)?;
    merge.push(json!({"source": data_url(&last.write())}));
    Ok(config.to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use crate::host_identity::ssh_host_key;
    use crate::ignition::data_of;
    use crate::inventory::KeyAlgorithm;

    const POINTER: &str = r#"{"ignition":{"version":"3.2.0","config":{"merge":[{"source":"https://api-int.ocp4.example.com:22623/config/worker"}]},"security":{"tls":{"certificateAuthorities":[{"source":"data:,CA"}]}}}}"#;

    fn secrets(cluster: &Cluster) -> SecretBundle {
        let mut secrets = SecretBundle::default();
        secrets.draw_identity("ocp4", Timestamp::UNIX_EPOCH);
        let keys = cluster.inventory.hosts.iter().map(|host| ssh_host_key(&host.name));
        secrets.complete(&keys.map(|name| (name, KeyAlgorithm::EcdsaP256)).collect::<Vec<_>>()).unwrap();
        secrets
    }

    #[test]
    fn the_clusters_pointer_stays_and_the_hosts_files_are_added() {
        let cluster = example::cluster();
        let host = &cluster.inventory.hosts[4];
        let made = joining_config(
            &cluster,
            &secrets(&cluster),
            host,
            POINTER.as_bytes(),
            b"KUBECONFIG",
            Timestamp::UNIX_EPOCH,
        );
        let made: Value = serde_json::from_slice(&made.unwrap()).unwrap();
        let pointer: Value = serde_json::from_str(POINTER).unwrap();
        let merge = made["ignition"]["config"]["merge"].as_array().unwrap();
        assert_eq!(merge[0], pointer["ignition"]["config"]["merge"][0]);
        let last: Value =
            serde_json::from_slice(&data_of(merge[1]["source"].as_str().unwrap()).unwrap()).unwrap();
        let file = &last["storage"]["files"][0];
        assert_eq!((&file["path"], &file["mode"]), (&json!("/etc/kubernetes/kubeconfig"), &json!(0o600)));
        assert_eq!(data_of(file["contents"]["source"].as_str().unwrap()).unwrap(), b"KUBECONFIG");
        assert_eq!(made["ignition"]["security"], pointer["ignition"]["security"]);
        let paths: Vec<&str> = made["storage"]["files"]
            .as_array()
            .unwrap()
            .iter()
            .map(|file| file["path"].as_str().unwrap())
            .collect();
        assert!(
            paths.contains(&"/etc/hostname")
                && paths.contains(&"/etc/ssh/ssh_host_ecdsa_key")
                && paths.iter().any(|path| path.ends_with(".nmconnection")),
            "{paths:?}"
        );
    }

    #[test]
    fn a_later_machine_of_the_same_name_has_another_config() {
        let cluster = example::cluster();
        let secrets = secrets(&cluster);
        let at = |second| {
            let time = Timestamp::from_second(second).unwrap();
            let host = &cluster.inventory.hosts[4];
            joining_config(&cluster, &secrets, host, POINTER.as_bytes(), b"", time).unwrap()
        };
        assert_eq!(at(1), at(1));
        assert_ne!(at(1), at(2));
    }

    #[test]
    fn what_leads_nowhere_is_refused() {
        let cluster = example::cluster();
        let host = &cluster.inventory.hosts[4];
        let secrets = secrets(&cluster);
        let refused = |text: &str| {
            joining_config(&cluster, &secrets, host, text.as_bytes(), b"", Timestamp::UNIX_EPOCH).unwrap_err()
        };
        assert_eq!(refused("{"), UserDataError::NotIgnition);
        assert_eq!(refused(r#"{"ignition":{"version":"2.2.0"}}"#), UserDataError::NotIgnition);
        assert_eq!(refused(r#"{"ignition":{"version":"3.2.0"}}"#), UserDataError::NoSource);
        let with_hostname = POINTER.strip_suffix('}').unwrap().to_owned()
            + r#","storage":{"files":[{"path":"/etc/hostname"}]}}"#;
        assert_eq!(refused(&with_hostname), UserDataError::Twice(DuplicatePath("/etc/hostname".to_owned())));
    }
}
