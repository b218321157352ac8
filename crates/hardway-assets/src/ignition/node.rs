//! The complete config of one node: what the machine-config-server would have served, and what only this host has.
//!
//! Facts: machine-config-operator `pkg/server/server.go` (what the server adds), `pkg/daemon/on_disk_validation.go` (why
//! nothing rendered may be changed: the daemon compares every file with the MachineConfig).

use serde_json::{Map, Value, json};

use super::config::file_entry;
use super::host_files::{OwnFile, of_every_host};
use super::network;
use crate::graph::{Asset, Facet, Inputs, MakeError, Output, Source};
use crate::ignition_spec::{data_of, data_url};
use crate::inventory::Host;
use crate::{Phase, host_identity};

/// `ignition/<host>.ign`
pub struct NodeConfig {
    host: Host,
}

impl NodeConfig {
    /// For one master or worker with an identity of its own.
    pub fn new(host: &Host) -> Self {
        Self { host: host.clone() }
    }

    /// The working-directory path of a host's config.
    pub fn path(host: &Host) -> String {
        format!("ignition/{}.ign", host.name)
    }
}

const KUBELET_CA: &str = "kube-apiserver-complete-client-ca-bundle";
/// What a kubelet asks for its first certificate with. The machine-config-daemon replaces the authorities in it and leaves the
/// user alone (machine-config-operator `pkg/daemon/certificate_writer.go`, 4.18 and later).
pub const KUBECONFIG_PATH: &str = "/etc/kubernetes/kubeconfig";
/// The one rendered path that the machine-config-server itself replaces.
const KUBELET_CA_PATH: &str = "/etc/kubernetes/kubelet-ca.crt";

impl Asset for NodeConfig {
    fn id(&self) -> String {
        // With the host's name at the end, no host can take the name of another asset such as `bootstrap-ignition`.
        format!("node-{}", self.host.name)
    }

    fn phase(&self) -> Phase {
        Phase::MakeIgnition
    }

    fn sources(&self) -> Vec<Source> {
        vec![
            Source::Release(Facet::Rendered(self.host.role.to_string())),
            Source::Release(Facet::Version),
            Source::config("metadata.name"),
            Source::config("baseDomain"),
            Source::config("networking.machineNetwork"),
            Source::config("sshKey"),
            Source::inventory("hosts"),
            Source::inventory("network"),
            Source::file(crate::pki::path(KUBELET_CA)),
            Source::file(host_identity::kubeconfig(&self.host.name)),
            Source::key(&host_identity::ssh_host_key(&self.host.name)),
        ]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::secret(Self::path(&self.host))]
    }

    fn make(&self, inputs: &Inputs<'_>) -> Result<Vec<Vec<u8>>, MakeError> {
        let pool = self.host.role.name();
        let rendered = inputs.release.rendered.get(pool).ok_or_else(|| {
            MakeError::Release(format!(
                "the release has no rendered MachineConfig for pool {pool}; run render-nodes first"
            ))
        })?;
        let mut base = Base::read(&rendered.machine_config, &rendered.name)?;
        // Most releases say themselves which interfaces belong to the pod network.
        let (unmanaged, own): (Vec<OwnFile>, Vec<OwnFile>) =
            of_every_host(inputs.cluster, inputs.secrets, &self.host)?
                .into_iter()
                .partition(|(path, _, _)| path == network::UNMANAGED_PATH);
        for (path, mode, text) in own {
            base.add(&path, mode, text.as_bytes())?;
        }
        let kubeconfig = host_identity::kubeconfig(&self.host.name);
        for (path, mode, bytes) in additions(inputs, &rendered.name, &rendered.machine_config, &kubeconfig)? {
            base.add(path, mode, &bytes)?;
        }
        base.let_in(&inputs.cluster.config.ssh_key);
        if !base.leaves_pod_interfaces_alone() {
            for (path, mode, text) in unmanaged {
                base.add(&path, mode, text.as_bytes())?;
            }
        }
        Ok(vec![base.write()])
    }
}

type Addition = (&'static str, u32, Vec<u8>);

/// What the machine-config-server adds to the rendered config, in its order; `kubeconfig` is what a kubelet begins with.
pub(super) fn additions(
    inputs: &Inputs<'_>,
    name: &str,
    machine_config: &Value,
    kubeconfig: &str,
) -> Result<Vec<Addition>, MakeError> {
    let mut annotations = json!({
        "machineconfiguration.openshift.io/currentConfig": name,
        "machineconfiguration.openshift.io/desiredConfig": name,
        "machineconfiguration.openshift.io/state": "Done",
    });
    if inputs.version_contract()?.annotates_first_pivot_config() {
        annotations["machineconfiguration.openshift.io/firstPivotConfig"] = json!(name);
    }
    // The server serves all of these with 0644. The kubeconfig has the host's key in it and is read by root alone, by
    // kubelet and machine-config-daemon; the daemon makes it 0600 with its first update (4.16 to main,
    // `pkg/daemon/update.go` `updateKubeConfigPermission`), and the file is in no MachineConfig that it would be
    // compared with. So it is 0600 from the first boot on.
    let content = serde_json::to_vec_pretty(machine_config).unwrap_or_default();
    let encapsulated = encapsulate(machine_config).to_string().into_bytes();
    Ok(vec![
        (KUBELET_CA_PATH, 0o644, inputs.file(&crate::pki::path(KUBELET_CA))?.to_vec()),
        ("/etc/machine-config-daemon/node-annotations.json", 0o644, annotations.to_string().into_bytes()),
        (KUBECONFIG_PATH, 0o600, inputs.file(kubeconfig)?.to_vec()),
        ("/etc/mcs-machine-config-content.json", 0o644, content),
        ("/etc/ignition-machine-config-encapsulated.json", 0o644, encapsulated),
    ])
}

/// The MachineConfig with an empty Ignition part: kernel arguments, FIPS, OS image and extensions, which the
/// machine-config-daemon applies on first boot.
fn encapsulate(machine_config: &Value) -> Value {
    let mut shell = machine_config.clone();
    let version = ignition_of(machine_config)["ignition"]["version"].clone();
    shell["spec"]["config"] = json!({"ignition": {"version": version}});
    shell
}

/// The Ignition config of a MachineConfig. Older tools wrapped it once more; the real object holds it inline.
fn ignition_of(machine_config: &Value) -> &Value {
    let spec = &machine_config["spec"]["config"];
    if spec["raw"].is_object() { &spec["raw"] } else { spec }
}

/// The rendered Ignition config, to be added to but not changed.
pub(super) struct Base {
    config: Map<String, Value>,
    files: Vec<Value>,
}

impl Base {
    /// Marked as 3.2 where nothing in it is newer, so that older boot images can read it.
    fn read(machine_config: &Value, name: &str) -> Result<Self, MakeError> {
        let mut base = Self::read_as_rendered(machine_config, name)?;
        if uses_only_3_2(&base.config) {
            base.config["ignition"]["version"] = json!(crate::ignition_spec::VERSION);
        }
        Ok(base)
    }

    /// At the version it was rendered in.
    pub(super) fn read_as_rendered(machine_config: &Value, name: &str) -> Result<Self, MakeError> {
        let unusable = |why: &str| MakeError::Release(format!("{name}: {why}"));
        let config = ignition_of(machine_config).as_object().cloned();
        let config = config.ok_or_else(|| unusable("spec.config is not an Ignition config"))?;
        let version = config.get("ignition").and_then(|i| i["version"].as_str()).unwrap_or_default();
        if !version.starts_with("3.") {
            return Err(unusable("spec.config is not an Ignition config of spec 3"));
        }
        let files = config.get("storage").and_then(|s| s["files"].as_array()).cloned().unwrap_or_default();
        Ok(Self { config, files })
    }

    /// Adds a file on a path that nothing rendered has. Changing a rendered one would make the
    /// machine-config-daemon report the node as drifted for ever.
    pub(super) fn add(&mut self, path: &str, mode: u32, bytes: &[u8]) -> Result<(), MakeError> {
        if path == KUBELET_CA_PATH {
            self.files.retain(|file| file["path"] != path);
        }
        if self.has(path) {
            let why = format!(
                "the rendered MachineConfig already writes {path}; a node's own files may not replace it"
            );
            return Err(MakeError::Release(why));
        }
        self.files.push(file_entry(path, mode, &json!({"source": data_url(bytes)})));
        Ok(())
    }

    fn has(&self, path: &str) -> bool {
        let storage = self.config.get("storage");
        let listed = |kind: &str| {
            let entries = storage.and_then(|s| s[kind].as_array()).into_iter().flatten();
            entries.into_iter().any(|entry| entry["path"] == path)
        };
        self.files.iter().any(|file| file["path"] == path) || listed("directories") || listed("links")
    }

    /// The ssh keys come with the rendered config, from the MachineConfigs in `openshift/`; one that was rendered
    /// without them would lock its owner out.
    fn let_in(&mut self, ssh_keys: &str) {
        let has_user = self.config.get("passwd").is_some_and(|passwd| passwd["users"].is_array());
        if !ssh_keys.trim().is_empty() && !has_user {
            let user = json!({"name": "core", "sshAuthorizedKeys": [ssh_keys.trim()]});
            self.config.insert("passwd".to_owned(), json!({"users": [user]}));
        }
    }

    fn leaves_pod_interfaces_alone(&self) -> bool {
        let is_setting = |path: &str| path.starts_with("/etc/NetworkManager/conf.d/");
        let settings = self.files.iter().filter(|file| file["path"].as_str().is_some_and(is_setting));
        settings
            .filter_map(|file| data_of(file["contents"]["source"].as_str()?))
            .any(|bytes| String::from_utf8_lossy(&bytes).contains("unmanaged-devices"))
    }

    fn write(self) -> Vec<u8> {
        self.into_value().to_string().into_bytes()
    }

    pub(super) fn into_value(mut self) -> Value {
        let storage = self.config.entry("storage").or_insert_with(|| json!({}));
        storage["files"] = Value::Array(self.files);
        Value::Object(self.config)
    }
}

/// Nothing in it that came after spec 3.2: kernel arguments (3.3), special mode bits (3.4). LUKS and the like are kept
/// at their own version rather than judged.
fn uses_only_3_2(config: &Map<String, Value>) -> bool {
    let storage = config.get("storage").cloned().unwrap_or_default();
    let plain_mode = |entry: &Value| entry["mode"].as_u64().is_none_or(|mode| mode <= 0o777);
    let entries = ["files", "directories"]
        .iter()
        .flat_map(|kind| storage[kind].as_array().cloned().unwrap_or_default());
    !config.contains_key("kernelArguments")
        && storage["luks"].is_null()
        && entries.into_iter().all(|e| plain_mode(&e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;
    use crate::inventory::Role;
    use crate::release_payload::sample;

    #[test]
    fn a_wrapped_config_keeps_its_version() {
        let config = json!({"ignition": {"version": "3.4.0"}, "storage": {}});
        let inline = json!({"kind": "MachineConfig", "spec": {"fips": true, "config": config}});
        let wrapped = json!({"kind": "MachineConfig", "spec": {"fips": true, "config": {"raw": config}}});
        let shell = json!({
            "kind": "MachineConfig",
            "spec": {"fips": true, "config": {"ignition": {"version": "3.4.0"}}},
        });
        assert_eq!(encapsulate(&inline), shell);
        assert_eq!(encapsulate(&wrapped), shell);
        assert_eq!(
            Base::read(&inline, "rendered").unwrap().write(),
            Base::read(&wrapped, "rendered").unwrap().write()
        );
    }

    #[test]
    fn a_node_may_be_called_bootstrap() {
        let mut cluster = crate::example::cluster();
        let hosts = &mut cluster.inventory.hosts;
        hosts.iter_mut().find(|host| host.role == Role::Bootstrap).unwrap().name = "first".to_owned();
        hosts.iter_mut().find(|host| host.role == Role::Worker).unwrap().name = "bootstrap".to_owned();
        Graph::new(crate::all_assets::assets(&cluster, &sample())).unwrap();
    }
}
