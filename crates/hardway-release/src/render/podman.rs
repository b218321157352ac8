//! Podman on this host: how it is called, and what it needs to pull the operator's image as the nodes will pull it.

use std::fmt;
use std::fmt::Write as _;

use hardway_assets::{Cluster, File};

pub(super) const AUTH: &str = "auth.json";
pub(super) const REGISTRIES: &str = "registries.conf";
pub(super) const TRUST: &str = "trust-bundle.crt";

/// How podman is called on this host.
#[derive(Clone, PartialEq, Eq)]
pub struct Podman {
    /// Name or path of the program.
    pub program: String,
    /// Options before `run`, such as `--runtime=runc`.
    pub options: Vec<String>,
    /// Options of `run`, such as `--ulimit=nofile=20000:20000` where the host allows no more.
    pub run_options: Vec<String>,
    /// Registries (`host:port`) that are asked without TLS. Nobody else is.
    pub plain_http: Vec<String>,
    /// Environment variables for the way to registries, such as `HTTPS_PROXY`. Logins in them are not shown.
    pub environment: Vec<(String, String)>,
}

impl Default for Podman {
    fn default() -> Self {
        Self {
            program: "podman".to_owned(),
            options: Vec::new(),
            run_options: Vec::new(),
            plain_http: Vec::new(),
            environment: Vec::new(),
        }
    }
}

// By hand: the password of a proxy may be in the environment.
impl fmt::Debug for Podman {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.environment.iter().map(|(name, _)| name).collect();
        write!(f, "Podman({} {:?} {:?} {names:?})", self.program, self.options, self.run_options)
    }
}

/// The files, those left out that the cluster has no use for.
pub(super) fn host_files(cluster: &Cluster, podman: &Podman) -> Vec<File> {
    let config = &cluster.config;
    let mut files = vec![File::secret(AUTH, config.pull_secret.expose())];
    files.extend(registries_conf(cluster, podman).map(|text| File::public(REGISTRIES, text)));
    if !config.additional_trust_bundle.is_empty() {
        files.push(File::public(TRUST, config.additional_trust_bundle.as_str()));
    }
    files
}

/// containers-registries.conf(5), second version; nothing where images come from where their names say, by TLS. Sources
/// that stand twice become one with all their mirrors, because podman refuses a location that stands twice.
pub(super) fn registries_conf(cluster: &Cluster, podman: &Podman) -> Option<String> {
    let config = &cluster.config;
    let mut sources: Vec<(&str, bool, Vec<&str>)> = Vec::new();
    let entries = config.image_digest_sources.iter().chain(&config.image_content_sources);
    for entry in entries.filter(|entry| !entry.mirrors.is_empty()) {
        let at = sources.iter().position(|(source, ..)| *source == entry.source).unwrap_or_else(|| {
            sources.push((&entry.source, false, Vec::new()));
            sources.len() - 1
        });
        sources[at].1 |= entry.source_policy == "NeverContactSource";
        sources[at].2.extend(entry.mirrors.iter().map(String::as_str));
    }
    let insecure = |location: &str| {
        let registry = location.split('/').next().unwrap_or_default();
        if podman.plain_http.iter().any(|plain| plain == registry) { "insecure = true\n" } else { "" }
    };
    let mut text = String::new();
    for registry in &podman.plain_http {
        if !sources.iter().any(|(source, ..)| source == registry) {
            let _ = write!(text, "[[registry]]\nlocation = {registry:?}\ninsecure = true\n");
        }
    }
    for (source, is_blocked, mirrors) in &sources {
        let _ = write!(
            text,
            "[[registry]]\nlocation = {source:?}\nmirror-by-digest-only = true\nblocked = {is_blocked}\n{}",
            insecure(source)
        );
        for mirror in mirrors {
            let _ = write!(text, "[[registry.mirror]]\nlocation = {mirror:?}\n{}", insecure(mirror));
        }
    }
    (!text.is_empty()).then_some(text)
}
