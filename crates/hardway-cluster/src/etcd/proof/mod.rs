//! A backup proven by restoring it: into an etcd and a kube-apiserver that live as long as the proof does.
//!
//! ```text
//! Programs       etcd, etcdutl and kube-apiserver on this host        programs.rs
//! ScratchEtcd    restored, on a socket in a folder of our own         scratch_etcd.rs
//! ScratchApi     an API server on it, for whoever has its token       scratch_api.rs
//! Proof          every key by hash, every object by its revision      here
//! ```
//!
//! The snapshot is read here page by page, without etcd; then etcd is asked for every key, and each value's hash compared. So neither reads
//! its own mistakes back. An object that an API server gives has the revision of its key (`resourceVersion`): the same revision is the
//! same value.

mod programs;
mod scratch_api;
mod scratch_etcd;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;

pub use programs::{ProgramMissing, Programs};

use super::backup::Opened;
use super::database::KeyVersion;
use scratch_api::{ApiError, ScratchApi};
use scratch_etcd::{ScratchError, ScratchEtcd};

/// What a backup holds, and by what that was shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Proof {
    /// Keys that the restored etcd gave with the same hash: all of them.
    pub keys: usize,
    /// The newest change.
    pub revision: u64,
    /// By kind, as the key's path says: how many there are, and how many of them an API server gave.
    pub kinds: BTreeMap<String, KindCount>,
    /// Whether an API server was started on it.
    pub has_api: bool,
    /// What the API server did not give a list of, and why.
    pub unlisted: BTreeMap<String, String>,
}

/// Of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KindCount {
    /// In the backup.
    pub objects: usize,
    /// Given by the API server at the same revision, or changed by it as it started.
    pub served: usize,
}

/// Why a backup is not proven.
#[derive(Debug, thiserror::Error)]
pub enum ProofError {
    /// A program is not there.
    #[error(transparent)]
    Program(#[from] ProgramMissing),
    /// etcd does not come up on it.
    #[error(transparent)]
    Etcd(#[from] ScratchError),
    /// The API server does not come up on it.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// What came back is not what is in it.
    #[error("the restored etcd differs from the backup: {}", .0.join("; "))]
    Differs(Vec<String>),
    /// An API server on it gives nothing.
    #[error("the API server returns none of the {0} objects under {1}")]
    NothingServed(usize, String),
}

/// Restores a backup in a folder, which is to be of nobody else's, and compares.
///
/// # Errors
/// When a program is missing, does not come up, or something differs.
pub async fn prove(opened: &Opened, programs: &Programs, folder: &Path) -> Result<Proof, ProofError> {
    let etcd = ScratchEtcd::restore(programs, &opened.snapshot, folder).await?;
    let restored = etcd.keys().await?;
    let differing = differences(&opened.contents.keys, &restored);
    if !differing.is_empty() {
        return Err(ProofError::Differs(differing));
    }
    let mut proof = Proof {
        keys: restored.len(),
        revision: opened.contents.revision,
        kinds: BTreeMap::new(),
        has_api: false,
        unlisted: BTreeMap::new(),
    };
    let mut served = BTreeSet::new();
    if let (Some(program), Some(prefix)) = (&programs.kube_apiserver, prefix(&restored)) {
        let api = ScratchApi::start(program, &etcd, prefix, folder).await?;
        let given = api.objects().await?;
        proof.has_api = true;
        proof.unlisted = given.unlisted;
        served = matched(&restored, &given.objects, opened.contents.revision);
        let wanted = restored.keys().filter(|key| key.starts_with(prefix.as_bytes())).count();
        if served.is_empty() && wanted > 0 {
            return Err(ProofError::NothingServed(wanted, prefix.to_owned()));
        }
    }
    for key in restored.keys() {
        let count = proof.kinds.entry(kind(key)).or_default();
        count.objects += 1;
        count.served += usize::from(served.contains(key));
    }
    Ok(proof)
}

/// Keys that an API server gave: by revision; those that it changed as it started, by name.
fn matched(
    keys: &BTreeMap<Vec<u8>, KeyVersion>,
    objects: &[scratch_api::Object],
    revision: u64,
) -> BTreeSet<Vec<u8>> {
    // One revision may be that of several keys: a transaction of somebody who is no API server.
    let by_revision: BTreeSet<(u64, &str)> =
        objects.iter().map(|object| (object.revision, object.name.as_str())).collect();
    let changed: BTreeSet<(&str, &str)> = objects
        .iter()
        .filter(|object| object.revision > revision)
        .map(|object| (object.namespace.as_str(), object.name.as_str()))
        .collect();
    let is_given = |(key, live): &(&Vec<u8>, &KeyVersion)| {
        let path = String::from_utf8_lossy(key);
        let mut names = path.rsplit('/');
        let (name, namespace) = (names.next().unwrap_or_default(), names.next().unwrap_or_default());
        by_revision.contains(&(live.revision, name))
            || changed.contains(&(namespace, name))
            || changed.contains(&("", name))
    };
    keys.iter().filter(is_given).map(|(key, _)| key.clone()).collect()
}

/// The first few.
fn differences(
    expected: &BTreeMap<Vec<u8>, KeyVersion>,
    found: &BTreeMap<Vec<u8>, KeyVersion>,
) -> Vec<String> {
    let name = |key: &[u8]| String::from_utf8_lossy(key).into_owned();
    let missing = expected.iter().filter_map(|(key, live)| match found.get(key) {
        None => Some(format!("{} is missing", name(key))),
        Some(other) if other != live => Some(format!("{} has another value or revision", name(key))),
        Some(_) => None,
    });
    let more = found.keys().filter(|key| !expected.contains_key(*key));
    missing.chain(more.map(|key| format!("{} is unexpected", name(key)))).take(10).collect()
}

/// Where API servers keep their objects: OpenShift's, or Kubernetes' own.
fn prefix(keys: &BTreeMap<Vec<u8>, KeyVersion>) -> Option<&'static str> {
    ["/kubernetes.io", "/registry"].into_iter().find(|prefix| {
        let below = format!("{prefix}/").into_bytes();
        keys.range(below.clone()..).next().is_some_and(|(key, _)| key.starts_with(&below))
    })
}

/// What a key's path says: `/registry/GROUP/RESOURCE/…` for custom resources, `/registry/RESOURCE/…` for others.
fn kind(key: &[u8]) -> String {
    let path = String::from_utf8_lossy(key);
    let mut parts = path.split('/').skip(1);
    let root = parts.next().unwrap_or_default();
    match (parts.next(), parts.next()) {
        (Some(group), Some(resource)) if group.contains('.') => format!("{resource}.{group}"),
        (Some("services"), Some(resource)) => match resource {
            "specs" => "services".to_owned(),
            other => other.to_owned(),
        },
        (Some(resource), _) if root == "kubernetes.io" || root == "registry" => resource.to_owned(),
        (Some(resource), _) => format!("{root}/{resource}"),
        (None, _) => root.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keys_path_says_its_kind() {
        for (key, expected) in [
            ("/registry/configmaps/default/a", "configmaps"),
            ("/kubernetes.io/minions/master-0", "minions"),
            ("/kubernetes.io/services/specs/default/kubernetes", "services"),
            ("/kubernetes.io/services/endpoints/default/kubernetes", "endpoints"),
            (
                "/kubernetes.io/config.openshift.io/infrastructures/cluster",
                "infrastructures.config.openshift.io",
            ),
            ("/openshift.io/routes/console/console", "openshift.io/routes"),
            ("compact_rev_key", ""),
        ] {
            assert_eq!(kind(key.as_bytes()), expected, "{key}");
        }
    }

    #[test]
    fn whatever_differs_is_named() {
        let keys = |rows: &[(&str, u64, &str)]| -> BTreeMap<Vec<u8>, KeyVersion> {
            rows.iter()
                .map(|(key, n, value)| (key.as_bytes().to_vec(), KeyVersion::of(*n, value.as_bytes())))
                .collect()
        };
        let whole = keys(&[("a", 1, "x"), ("b", 2, "y")]);
        assert!(differences(&whole, &whole).is_empty());
        let other = keys(&[("b", 2, "z"), ("c", 3, "x")]);
        assert_eq!(
            differences(&whole, &other),
            ["a is missing", "b has another value or revision", "c is unexpected"]
        );
        assert_eq!(differences(&whole, &keys(&[("a", 9, "x"), ("b", 2, "y")])).len(), 1);
    }
}
