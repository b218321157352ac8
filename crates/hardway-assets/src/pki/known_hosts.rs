//! `auth/known_hosts`: the ssh key of every host, known before its first boot.

use std::fmt::Write as _;

use crate::graph::{Asset, Inputs, MakeError, Output, Source};
use crate::host_identity::ssh_host_key;
use crate::secrets::{SSH_KEY_TYPE, ssh_fingerprint, ssh_public_key};
use crate::{Cluster, Phase};

/// Where it lies.
pub const KNOWN_HOSTS: &str = "auth/known_hosts";

/// A line for each host: its names, its addresses, its key.
pub struct KnownHosts {
    hosts: Vec<String>,
}

impl KnownHosts {
    /// Of every host that boots from a config with its key.
    pub fn of(cluster: &Cluster) -> Self {
        let hosts = cluster.inventory.hosts.iter().filter(|host| host.has_own_config());
        Self { hosts: hosts.map(|host| host.name.clone()).collect() }
    }
}

impl Asset for KnownHosts {
    fn id(&self) -> String {
        "known-hosts".to_owned()
    }

    fn phase(&self) -> Phase {
        Phase::MakePki
    }

    fn sources(&self) -> Vec<Source> {
        let mut sources =
            vec![Source::config("metadata.name"), Source::config("baseDomain"), Source::inventory("hosts")];
        sources.extend(self.hosts.iter().map(|host| Source::key(&ssh_host_key(host))));
        sources
    }

    fn outputs(&self) -> Vec<Output> {
        // Nothing in it is secret, but whoever could write it would choose whom we trust: as all of `auth/`.
        vec![Output { path: KNOWN_HOSTS.to_owned(), mode: 0o600 }]
    }

    fn make(&self, inputs: &Inputs<'_>) -> Result<Vec<Vec<u8>>, MakeError> {
        let cluster = inputs.cluster;
        let mut text =
            String::from("# The ssh keys of this cluster's hosts, as their Ignition configs bring them.\n");
        for host in cluster.inventory.hosts.iter().filter(|host| self.hosts.contains(&host.name)) {
            // The full name comes first: it is what hardway looks for.
            let mut names = vec![cluster.node_name(host)];
            names.extend((host.name != names[0]).then(|| host.name.clone()));
            names.extend(host.ip.iter().map(ToString::to_string));
            let key = inputs.secrets.key(&ssh_host_key(&host.name))?;
            let _ = writeln!(text, "{} {}", names.join(","), ssh_public_key(key, "").trim_end());
        }
        Ok(vec![text.into_bytes()])
    }
}

/// The fingerprint of the key that a `known_hosts` has for a host; none where it has none of the kind that hardway draws.
pub fn expected_host_key(known_hosts: &str, name: &str) -> Option<String> {
    known_hosts.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let (names, kind, key) = (words.next()?, words.next()?, words.next()?);
        (kind == SSH_KEY_TYPE && names.split(',').any(|has| has == name)).then(|| ssh_fingerprint(key))?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_found_by_each_of_its_names() {
        const KEY: &str = "AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBA==";
        let text = format!(
            "# a.example\n|1|hash= ssh-ed25519 AAAA\na.example,10.0.0.1 ssh-ed25519 AAAA\na.example,a,10.0.0.1 {SSH_KEY_TYPE} {KEY}\n"
        );
        for name in ["a.example", "a", "10.0.0.1"] {
            let found = expected_host_key(&text, name).unwrap();
            assert!(found.starts_with("SHA256:") && found.len() == 50, "{found}");
        }
        assert_eq!(expected_host_key(&text, "b"), None);
        assert_eq!(expected_host_key("a.example ecdsa-sha2-nistp256 !", "a.example"), None);
    }
}
