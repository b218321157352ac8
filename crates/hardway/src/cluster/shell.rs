//! A shell on a host of the cluster: on one whose ssh key is known, and on no other.

use std::path::PathBuf;

use hardway_assets::pki::{KNOWN_HOSTS, catalogue, expected_host_key};
use hardway_assets::work_paths;
use hardway_cluster::remote::{KnownHost, Login};

use crate::inputs::Workdir;
use crate::report::{Code, Report};

/// A host by one of the names that the folder's `auth/known_hosts` has it under.
///
/// # Errors
/// With this code, when no key of it is known.
pub(crate) fn known_host(
    workdir: &Workdir,
    name: &str,
    address: String,
    code: Code,
) -> Result<KnownHost, Report> {
    let text = workdir.text(KNOWN_HOSTS)?.unwrap_or_default();
    let fingerprint = expected_host_key(&text, name).ok_or_else(|| {
        let what = format!("no ssh host key is known for {name}: {} has no entry", workdir.shown(KNOWN_HOSTS));
        Report::new(code, what).fix(
            "keys are not trusted on first use. A host that boots from a config of this folder brings a key that `hardway create ignition-configs` \
             writes there; any other host, one with a stock pointer too, draws its own: `ssh-keygen -lf /etc/ssh/ssh_host_ecdsa_key.pub` shows it at its console, \
             and `hardway gather bootstrap --known-hosts FILE` takes a file that has it",
        )
    })?;
    let known_hosts = workdir.path(KNOWN_HOSTS);
    Ok(KnownHost { address, known_hosts, name: Some(name.to_owned()), fingerprint: Some(fingerprint) })
}

/// The key that was drawn to log in to the bootstrap host with.
pub(crate) fn bootstrap_key(workdir: &Workdir) -> PathBuf {
    workdir.path(&work_paths::key(catalogue::SSH_KEY))
}

/// With the key that was drawn for the bootstrap host, and no other.
pub(crate) fn bootstrap_login(workdir: &Workdir) -> Login {
    Login { user: "core".to_owned(), port: 22, key: Some(bootstrap_key(workdir)), offers_only_key: true }
}
