//! Small files whose text depends on the cluster: what every host has of its own, and what only the bootstrap host has.

use std::fmt::Write as _;

use serde_json::json;

use super::network;
use crate::Cluster;
use crate::host_identity::ssh_host_key;
use crate::install_config::ImageSource;
use crate::inventory::Host;
use crate::manifests::no_proxy;
use crate::secrets::{SecretBundle, SecretsError, ssh_public_key};

/// A file of a host: path, mode and text.
pub(super) type OwnFile = (String, u32, String);

/// What every host has that no MachineConfig may hold, because it differs between hosts or must be there before one
/// applies: its addresses, its name, which interfaces NetworkManager leaves alone, and the key of its ssh server.
pub(super) fn of_every_host(
    cluster: &Cluster,
    secrets: &SecretBundle,
    host: &Host,
) -> Result<Vec<OwnFile>, SecretsError> {
    let name = cluster.node_name(host);
    let ssh_key = secrets.key(&ssh_host_key(&host.name))?;
    Ok(vec![
        (network::keyfile_path(host), 0o600, network::keyfile(cluster, host)),
        ("/etc/hostname".to_owned(), 0o644, format!("{name}\n")),
        (network::UNMANAGED_PATH.to_owned(), 0o644, network::UNMANAGED.to_owned()),
        (SSH_HOST_KEY_PATH.to_owned(), 0o600, ssh_key.to_pem().expose_text().to_owned()),
        (format!("{SSH_HOST_KEY_PATH}.pub"), 0o644, format!("{}\n", ssh_public_key(ssh_key, &name))),
    ])
}

/// sshd's own place for a key of this kind. Where it is, `sshd-keygen@ecdsa.service` draws none (Fedora's and RHEL's
/// openssh: `ConditionFileNotEmpty=|!/etc/ssh/ssh_host_%i_key`); keys of other kinds are drawn beside it, and clients that
/// know this one ask for it.
const SSH_HOST_KEY_PATH: &str = "/etc/ssh/ssh_host_ecdsa_key";

/// `/etc/containers/registries.conf`: where podman and CRI-O look instead, by digest only. Empty without mirrors.
/// `with_blocked`: whether the release says which sources may not be asked at all.
pub fn registries_conf(cluster: &Cluster, with_blocked: bool) -> String {
    let config = &cluster.config;
    let mut text = String::new();
    let sources = merged(config.image_digest_sources.iter().chain(&config.image_content_sources));
    // A source without a mirror changes nothing about where its images come from.
    for source in sources.iter().filter(|source| !source.mirrors.is_empty()) {
        let _ = write!(
            text,
            "[[registry]]\nprefix = \"\"\nlocation = \"{}\"\nmirror-by-digest-only = true\n",
            source.source
        );
        if with_blocked {
            let _ = writeln!(text, "blocked = {}", source.source_policy == "NeverContactSource");
        }
        for mirror in &source.mirrors {
            let _ = write!(text, "\n[[registry.mirror]]\nlocation = \"{mirror}\"\ninsecure = false\n");
        }
        text.push('\n');
    }
    text
}

/// `/etc/ignition-machine-config-encapsulated.json`: tells the first boot whether this host runs in FIPS mode.
pub(super) fn fips_machine_config(cluster: &Cluster) -> String {
    let machine_config = json!({
        "apiVersion": "machineconfiguration.openshift.io/v1",
        "kind": "MachineConfig",
        "metadata": {"name": "bootstrap-fips"},
        "spec": {"fips": cluster.config.fips, "config": {"ignition": {"version": crate::ignition_spec::VERSION}}},
    });
    format!("{machine_config}\n")
}

/// `/etc/profile.d/proxy.sh`: the proxy for people who log in. Empty without one.
pub(super) fn proxy_profile(cluster: &Cluster) -> String {
    proxy_variables(cluster).iter().fold(String::new(), |mut text, (name, value)| {
        let _ = writeln!(text, "export {name}='{}'", value.replace('\'', r"'\''"));
        text
    })
}

/// `/etc/systemd/system.conf.d/10-default-env.conf`: the proxy for every unit; systemd wants percent signs doubled.
pub(super) fn proxy_manager_environment(cluster: &Cluster) -> String {
    let variables = proxy_variables(cluster);
    if variables.is_empty() {
        return String::new();
    }
    let list: Vec<String> = variables
        .iter()
        .map(|(name, value)| {
            format!("\"{name}={}\"", value.replace('\\', r"\\").replace('"', "\\\"").replace('%', "%%"))
        })
        .collect();
    format!("[Manager]\nDefaultEnvironment={}\n", list.join(" "))
}

/// `/etc/motd`: where to look.
pub(super) fn motd(cluster: &Cluster) -> String {
    let fate = if cluster.is_bootstrap_in_place() {
        "It runs a temporary control plane, installs itself to disk and becomes the node."
    } else {
        "It runs a temporary control plane and is removed after the install."
    };
    format!(
        "This is the bootstrap host of {}. {fate}\n\
         Follow it:  journalctl -b -f -u release-image.service -u bootkube.service\n\
         Stages:     /var/log/openshift/bootkube.json\n",
        cluster.domain()
    )
}

fn proxy_variables(cluster: &Cluster) -> Vec<(&'static str, String)> {
    let Some(proxy) = &cluster.config.proxy else {
        return Vec::new();
    };
    let mut variables = Vec::new();
    for (names, value) in [
        (["HTTP_PROXY", "http_proxy"], proxy.http_proxy.clone()),
        (["HTTPS_PROXY", "https_proxy"], proxy.https_proxy.clone()),
        (["NO_PROXY", "no_proxy"], no_proxy(cluster, proxy)),
    ] {
        if !value.is_empty() {
            variables.extend(names.map(|name| (name, value.clone())));
        }
    }
    variables
}

/// Sources that stand several times become one with all their mirrors, as openshift-install merges them.
fn merged<'a>(sources: impl Iterator<Item = &'a ImageSource>) -> Vec<ImageSource> {
    let mut all: Vec<ImageSource> = Vec::new();
    for source in sources {
        match all.iter_mut().find(|s| s.source == source.source && s.source_policy == source.source_policy) {
            Some(known) => known.mirrors.extend(
                source.mirrors.iter().filter(|m| !known.mirrors.contains(m)).cloned().collect::<Vec<_>>(),
            ),
            None => all.push(source.clone()),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_become_one_entry_each_and_none_without_a_mirror() {
        let mut cluster = crate::example::cluster();
        let source = |source: &str, mirrors: &[&str]| ImageSource {
            mirrors: mirrors.iter().map(|mirror| (*mirror).to_owned()).collect(),
            source: source.to_owned(),
            source_policy: String::new(),
        };
        cluster.config.image_digest_sources = vec![
            source("quay.io/a", &["m.example/a", "n.example"]),
            source("quay.io/b", &[]),
            source("quay.io/a", &["n.example", "o.example"]),
        ];
        let text = registries_conf(&cluster, false);
        let locations: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("location = ")).collect();
        assert_eq!(locations, [r#""quay.io/a""#, r#""m.example/a""#, r#""n.example""#, r#""o.example""#]);
    }
}
