//! `bootstrap.ign`: everything the bootstrap host needs, in one file. And its variant for a node that bootstraps itself.

use serde_json::Value;

use super::bootstrap_files::{self, HostFile, Unit};
use super::config::{Config, DuplicatePath};
use super::node::NodeConfig;
use super::{environment, host_files, tls_files};
use crate::graph::{Asset, Facet, Inputs, MakeError, Output, Source};
use crate::inventory::Host;
use crate::manifests::with_overrides;
use crate::release_payload::image_references;
use crate::secrets::ssh_public_key;
use crate::work_paths::{CVO_OVERRIDES, MANIFEST_FOLDERS};
use crate::{Cluster, Phase, pki, yaml};

/// The bootstrap host's config.
pub struct Bootstrap {
    location: BootstrapLocation,
    /// The host's name in the inventory.
    host_name: String,
    node_name: String,
    /// File names in `static-pods/` that this cluster has.
    static_pods: Vec<String>,
}

/// Where the bootstrap control plane runs.
#[derive(Clone, Debug)]
enum BootstrapLocation {
    /// On a host of its own: `bootstrap.ign`.
    OwnHost,
    /// On the node that the cluster will live on: `bootstrap-in-place-for-live-iso.ign`.
    OnNode(Box<Host>),
}

const KUBECONFIGS: [(&str, &str); 3] = [
    ("kubeconfigs/admin-internal.kubeconfig", "kubeconfig"),
    ("kubeconfigs/kubelet.kubeconfig", "kubeconfig-kubelet"),
    ("kubeconfigs/loopback.kubeconfig", "kubeconfig-loopback"),
];

impl Bootstrap {
    /// For the bootstrap host.
    pub fn on_own_host(cluster: &Cluster, static_pods: Vec<String>) -> Self {
        Self {
            location: BootstrapLocation::OwnHost,
            host_name: cluster.bootstrap_host().name.clone(),
            node_name: cluster.node_name(cluster.bootstrap_host()),
            static_pods,
        }
    }

    /// For a single node that installs itself from the live ISO.
    pub fn in_place(cluster: &Cluster, static_pods: Vec<String>) -> Self {
        let host = cluster.bootstrap_host();
        Self {
            location: BootstrapLocation::OnNode(Box::new(host.clone())),
            host_name: host.name.clone(),
            node_name: cluster.node_name(host),
            static_pods,
        }
    }

    fn pairs(&self) -> impl Iterator<Item = String> + use<'_> {
        tls_files::PAIRS.iter().map(|name| (*name).to_owned()).chain(tls_files::etcd_pairs(&self.node_name))
    }
}

impl Asset for Bootstrap {
    fn id(&self) -> String {
        match self.location {
            BootstrapLocation::OwnHost => super::BOOTSTRAP.to_owned(),
            BootstrapLocation::OnNode(_) => super::IN_PLACE.to_owned(),
        }
    }

    fn phase(&self) -> Phase {
        Phase::MakeIgnition
    }

    fn sources(&self) -> Vec<Source> {
        // The whole install-config: proxy, mirrors, trust bundle, FIPS, ssh key, names and networks all end up here.
        let mut sources = vec![
            Source::config(""),
            Source::inventory("hosts"),
            Source::inventory("network"),
            Source::inventory("machines"),
            Source::Release(Facet::Image),
            Source::Release(Facet::Version),
            Source::Release(Facet::Crds),
            Source::Release(Facet::ImagePolicies),
            Source::Release(Facet::Images),
            Source::Identity,
            Source::key(pki::catalogue::SSH_KEY),
            Source::key(&crate::host_identity::ssh_host_key(&self.host_name)),
        ];
        sources.extend(MANIFEST_FOLDERS.map(|folder| Source::Folder(folder.into())));
        sources.extend(self.static_pods.iter().map(|name| Source::file(format!("static-pods/{name}"))));
        sources.extend(KUBECONFIGS.map(|(path, _)| Source::file(path)));
        for name in self.pairs() {
            sources.extend([Source::key(&name), Source::file(pki::path(&name))]);
        }
        sources.extend(tls_files::CERTIFICATES.iter().map(|name| Source::file(pki::path(name))));
        for name in tls_files::KEY_PAIRS {
            sources.extend([Source::key(name), Source::file(format!("pki/{name}.pub"))]);
        }
        if let BootstrapLocation::OnNode(host) = &self.location {
            sources.push(Source::file(NodeConfig::path(host)));
        }
        sources
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::secret(match self.location {
            BootstrapLocation::OwnHost => "bootstrap.ign",
            BootstrapLocation::OnNode(_) => "bootstrap-in-place-for-live-iso.ign",
        })]
    }

    fn make(&self, inputs: &Inputs<'_>) -> Result<Vec<Vec<u8>>, MakeError> {
        let mut config = Config::default();
        let ssh_key = inputs.secrets.key(pki::catalogue::SSH_KEY)?;
        let ours = ssh_public_key(ssh_key, "hardway-bootstrap");
        let user_key = inputs.cluster.config.ssh_key.trim();
        let keys: Vec<&str> = [user_key, &ours].into_iter().filter(|key| !key.is_empty()).collect();
        config.user("core", &keys);
        self.host(&mut config, inputs)?;
        self.objects(&mut config, inputs)?;
        self.control_plane(&mut config, inputs)?;
        self.tls(&mut config, inputs)?;
        self.programs(&mut config, inputs)?;
        Ok(vec![config.write()])
    }
}

impl Bootstrap {
    /// Registries, trust, proxy, pull secret, network: what any host needs.
    fn host(&self, config: &mut Config, inputs: &Inputs<'_>) -> Result<(), MakeError> {
        let cluster = inputs.cluster;
        let with_blocked = inputs.version_contract()?.registries_conf_has_blocked();
        let bundle = &cluster.config.additional_trust_bundle;
        let texts = [
            ("/etc/containers/registries.conf", 0o644, host_files::registries_conf(cluster, with_blocked)),
            (
                "/etc/ignition-machine-config-encapsulated.json",
                0o600,
                host_files::fips_machine_config(cluster),
            ),
            ("/etc/pki/ca-trust/source/anchors/ca.crt", 0o600, bundle.clone()),
            ("/etc/profile.d/proxy.sh", 0o600, host_files::proxy_profile(cluster)),
            (
                "/etc/systemd/system.conf.d/10-default-env.conf",
                0o600,
                host_files::proxy_manager_environment(cluster),
            ),
        ];
        for (path, mode, text) in &texts {
            put(config, path, *mode, text.as_bytes())?;
        }
        for (path, mode, text) in
            host_files::of_every_host(cluster, inputs.secrets, cluster.bootstrap_host())?
        {
            put(config, &path, mode, text.as_bytes())?;
        }
        // For podman and oc, and for the kubelet, which finds root's only if its unit has a HOME.
        put(config, "/root/.docker/config.json", 0o600, cluster.config.pull_secret.expose())?;
        put(config, "/var/lib/kubelet/config.json", 0o600, cluster.config.pull_secret.expose())?;
        config.append("/etc/motd", 0o644, host_files::motd(cluster).as_bytes()).map_err(twice)
    }

    /// What is created in the cluster: the user's and our manifests, the seeds, the CRDs.
    fn objects(&self, config: &mut Config, inputs: &Inputs<'_>) -> Result<(), MakeError> {
        let (overrides, patch) = with_overrides(inputs.tree)?;
        for folder in MANIFEST_FOLDERS {
            for (path, bytes) in inputs.tree.folder(folder) {
                let bytes = if path == CVO_OVERRIDES { &overrides } else { bytes };
                put(config, &format!("/opt/openshift/{path}"), object_mode(bytes), bytes)?;
            }
        }
        put(config, "/opt/openshift/original_cvo_overrides.patch", 0o644, &patch)?;
        for crd in inputs.release.crds_of(&inputs.cluster.config) {
            let path = format!("/opt/openshift/crds/{}", crd.file_name);
            config.compressed_file(&path, 0o644, crd.text.as_bytes()).map_err(twice)?;
        }
        // What `cluster-version-operator render` adds to the manifests at boot: the controller of this host has to see it,
        // and so has the one in the cluster before its first render, or both call the masters' config something else
        // than what masters were rendered with beforehand.
        for policy in inputs.release.image_policies_of(&inputs.cluster.config) {
            let path = format!("/opt/openshift/image-policies/{}", policy.file_name);
            put(config, &path, 0o644, policy.text.as_bytes())?;
        }
        let references = image_references(inputs.release).to_string();
        config.compressed_file("/opt/openshift/image-references", 0o644, references.as_bytes()).map_err(twice)
    }

    /// Static pods and their configuration files.
    fn control_plane(&self, config: &mut Config, inputs: &Inputs<'_>) -> Result<(), MakeError> {
        for name in &self.static_pods {
            let folder = match name.as_str() {
                "etcd-member-pod.yaml" => "/opt/openshift",
                name if name.ends_with("-pod.yaml") => "/opt/openshift/bootstrap-manifests",
                _ => "/etc/kubernetes/bootstrap-configs",
            };
            let bytes = inputs.file(&format!("static-pods/{name}"))?;
            put(config, &format!("{folder}/{name}"), 0o644, bytes)?;
        }
        Ok(())
    }

    /// Certificates, keys, kubeconfigs.
    fn tls(&self, config: &mut Config, inputs: &Inputs<'_>) -> Result<(), MakeError> {
        for (from, name) in KUBECONFIGS {
            put(config, &format!("/opt/openshift/auth/{name}"), 0o600, inputs.file(from)?)?;
        }
        for name in tls_files::CERTIFICATES {
            let mode = if *name == "root-ca" { 0o644 } else { 0o600 };
            put(config, &format!("/opt/openshift/tls/{name}.crt"), mode, inputs.file(&pki::path(name))?)?;
        }
        for name in tls_files::KEY_PAIRS {
            put(
                config,
                &format!("/opt/openshift/tls/{name}.pub"),
                0o600,
                inputs.file(&format!("pki/{name}.pub"))?,
            )?;
            put(config, &format!("/opt/openshift/tls/{name}.key"), 0o600, key(inputs, name)?)?;
        }
        for name in tls_files::PAIRS {
            put(config, &format!("/opt/openshift/tls/{name}.crt"), 0o600, inputs.file(&pki::path(name))?)?;
            put(config, &format!("/opt/openshift/tls/{name}.key"), 0o600, key(inputs, name)?)?;
        }
        let etcd = "/etc/kubernetes/static-pod-resources/etcd-member";
        put(config, &format!("{etcd}/ca.crt"), 0o600, inputs.file(&pki::path("etcd-ca-bundle"))?)?;
        for name in tls_files::etcd_pairs(&self.node_name) {
            put(
                config,
                &format!("{etcd}/etcd-all-certs/{name}.crt"),
                0o600,
                inputs.file(&pki::path(&name))?,
            )?;
            put(config, &format!("{etcd}/etcd-all-certs/{name}.key"), 0o600, key(inputs, &name)?)?;
        }
        Ok(())
    }

    /// Scripts, units, and the values the scripts read.
    fn programs(&self, config: &mut Config, inputs: &Inputs<'_>) -> Result<(), MakeError> {
        let mut scripts: Vec<HostFile> = bootstrap_files::scripts();
        let mut units: Vec<Unit> = bootstrap_files::units();
        if let BootstrapLocation::OnNode(host) = &self.location {
            scripts.extend(bootstrap_files::in_place_scripts());
            units.extend(bootstrap_files::in_place_units());
            put(config, "/opt/openshift/node.ign", 0o600, inputs.file(&NodeConfig::path(host))?)?;
        }
        for script in scripts {
            put(config, script.path, script.mode, script.text.as_bytes())?;
        }
        for unit in units {
            config.unit(unit.name, unit.enabled, unit.text, unit.dropins);
        }
        put(config, "/opt/openshift/bootstrap.env", 0o644, environment::write(inputs)?.as_bytes())
    }
}

/// Anyone on the host may read an object, but not a Secret, nor what cannot be told from one.
fn object_mode(bytes: &[u8]) -> u32 {
    let documents = std::str::from_utf8(bytes).ok().and_then(|text| yaml::read_all(text).ok());
    let may_be_secret = documents.is_none_or(|all| all.iter().any(|node| holds_secret(&node.to_json())));
    if may_be_secret { 0o600 } else { 0o644 }
}

fn holds_secret(object: &Value) -> bool {
    let items = object["items"].as_array().into_iter().flatten();
    object["kind"] == "Secret" || object["kind"] == "SecretList" || items.into_iter().any(holds_secret)
}

fn put(config: &mut Config, path: &str, mode: u32, bytes: &[u8]) -> Result<(), MakeError> {
    config.file(path, mode, bytes).map_err(twice)
}

fn key<'a>(inputs: &Inputs<'a>, name: &str) -> Result<&'a [u8], MakeError> {
    Ok(inputs.secrets.get(&format!("{name}.key"))?.expose())
}

fn twice(DuplicatePath(path): DuplicatePath) -> MakeError {
    MakeError::Internal(format!("{path} is written twice"))
}

#[cfg(test)]
mod tests {
    use super::object_mode;

    #[test]
    fn secrets_are_known_however_they_are_written() {
        for text in [
            "kind: Secret\n",
            "kind: \"Secret\"\n",
            "kind:   Secret # of ours\n",
            "{\"metadata\": {},\n\t\"kind\" : \"Secret\"}",
            "kind: ConfigMap\n---\nkind: Secret\n",
            "kind: List\nitems:\n- kind: Secret\n",
            "kind: SecretList\nitems: []\n",
            "kind: [not yaml",
            "kind: A\nkind: Secret\n",
        ] {
            assert_eq!(object_mode(text.as_bytes()), 0o600, "{text}");
        }
        assert_eq!(object_mode(b"\xff"), 0o600);
        for text in ["kind: ConfigMap\ndata:\n  a: |\n    kind: Secret\n", "# kind: Secret\nkind: DNS\n", ""]
        {
            assert_eq!(object_mode(text.as_bytes()), 0o644, "{text}");
        }
    }
}
