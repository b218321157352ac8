//! Hides secrets in what the commands say: the controller prints its whole configuration, proxy password included.

use hardway_assets::Cluster;
use hardway_base::redaction::HIDDEN;
use serde_json::Value;

/// The words to hide.
#[derive(Clone, Default)]
pub(super) struct Redaction(Vec<String>);

impl Redaction {
    /// Logins of registries and proxies.
    pub(super) fn of(cluster: &Cluster) -> Self {
        let config = &cluster.config;
        let mut words = Vec::new();
        if let Ok(secret) = serde_json::from_slice::<Value>(config.pull_secret.expose()) {
            let logins = secret["auths"].as_object().into_iter().flatten();
            words.extend(logins.filter_map(|(_, login)| login["auth"].as_str()).map(str::to_owned));
        }
        for proxy in config.proxy.iter().flat_map(|proxy| [&proxy.http_proxy, &proxy.https_proxy]) {
            let login =
                proxy.split_once("://").and_then(|(_, rest)| rest.rsplit_once('@')).map(|(login, _)| login);
            words.extend(login.map(str::to_owned));
        }
        words.retain(|word| !word.is_empty());
        Self(words)
    }

    /// The line without them.
    pub(super) fn line(&self, line: &str) -> String {
        self.0.iter().fold(line.to_owned(), |line, word| line.replace(word.as_str(), HIDDEN))
    }
}
