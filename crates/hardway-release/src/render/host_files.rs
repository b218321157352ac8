//! What podman itself needs to pull the operator's image as the nodes will pull it: login, mirrors, trust.

use std::fmt::Write as _;

use hardway_assets::{Cluster, File};

pub(super) const AUTH: &str = "auth.json";
pub(super) const REGISTRIES: &str = "registries.conf";
pub(super) const TRUST: &str = "trust-bundle.crt";

/// The files, those left out that the cluster has no use for.
pub(super) fn host_files(cluster: &Cluster) -> Vec<File> {
    let config = &cluster.config;
    let mut files = vec![File::secret(AUTH, config.pull_secret.expose())];
    if has_mirrors(cluster) {
        files.push(File::public(REGISTRIES, registries_conf(cluster)));
    }
    if !config.additional_trust_bundle.is_empty() {
        files.push(File::public(TRUST, config.additional_trust_bundle.as_str()));
    }
    files
}

/// Whether images come from elsewhere than their names say.
pub(super) fn has_mirrors(cluster: &Cluster) -> bool {
    !(cluster.config.image_digest_sources.is_empty() && cluster.config.image_content_sources.is_empty())
}

/// containers-registries.conf(5), second version. Sources that stand twice become one with all their mirrors, because
/// podman refuses a location that stands twice.
fn registries_conf(cluster: &Cluster) -> String {
    let config = &cluster.config;
    let mut sources: Vec<(&str, bool, Vec<&str>)> = Vec::new();
    for entry in config.image_digest_sources.iter().chain(&config.image_content_sources) {
        let at = sources.iter().position(|(source, ..)| *source == entry.source).unwrap_or_else(|| {
            sources.push((&entry.source, false, Vec::new()));
            sources.len() - 1
        });
        sources[at].1 |= entry.source_policy == "NeverContactSource";
        sources[at].2.extend(entry.mirrors.iter().map(String::as_str));
    }
    sources.iter().fold(String::new(), |mut text, (source, is_blocked, mirrors)| {
        let _ = write!(
            text,
            "[[registry]]\nlocation = {source:?}\nmirror-by-digest-only = true\nblocked = {is_blocked}\n"
        );
        for mirror in mirrors {
            let _ = write!(text, "[[registry.mirror]]\nlocation = {mirror:?}\n");
        }
        text
    })
}
