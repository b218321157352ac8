//! What is wrong in the working directory before anything boots.

use crate::diagnosis::evidence::{ConfigFacts, Evidence};

pub(in crate::diagnosis) fn not_json(evidence: &Evidence) -> Vec<String> {
    each(evidence, |path, config| config.error.as_ref().map(|error| format!("{path}: {error}")))
}

pub(in crate::diagnosis) fn twice(evidence: &Evidence) -> Vec<String> {
    let named = |path: &str, config: &ConfigFacts| format!("{path}: {} twice", config.twice.join(", "));
    each(evidence, |path, config| (!config.twice.is_empty()).then(|| named(path, config)))
}

pub(in crate::diagnosis) fn not_installable(evidence: &Evidence) -> Vec<String> {
    let named = |path: &str, config: &ConfigFacts| {
        format!("{path}: {} without [Install]", config.not_installable.join(", "))
    };
    each(evidence, |path, config| (!config.not_installable.is_empty()).then(|| named(path, config)))
}

/// The masters' API servers look below `kubernetes.io`, whatever the bootstrap host's did
/// (openshift/cluster-kube-apiserver-operator bindata/assets/config/defaultconfig.yaml).
pub(in crate::diagnosis) fn other_prefix(evidence: &Evidence) -> Vec<String> {
    let named = |path: &str, prefix: &String| {
        format!(
            "{path}: the bootstrap API server's etcd-prefix is {prefix}, the masters' is {MASTERS_PREFIX}"
        )
    };
    each(evidence, |path, config| {
        config
            .etcd_prefix
            .as_ref()
            .filter(|prefix| *prefix != MASTERS_PREFIX)
            .map(|prefix| named(path, prefix))
    })
}

const MASTERS_PREFIX: &str = "kubernetes.io";

pub(in crate::diagnosis) fn too_large(evidence: &Evidence) -> Vec<String> {
    let Some(largest) = evidence.folder.largest_config else { return Vec::new() };
    // bootstrap.ign is never handed over as it is: it is always fetched through a pointer.
    each(evidence, |path, config| {
        let is_too_large = config.size > largest && path != "bootstrap.ign";
        is_too_large.then(|| format!("{path} has {} bytes, but the platform accepts {largest}", config.size))
    })
}

/// Once bootstrapping is complete the cluster renews its own certificates.
pub(in crate::diagnosis) fn expired(evidence: &Evidence) -> Vec<String> {
    // Where nobody answers, the journal may know.
    if evidence.state.is_bootstrap_complete() || evidence.install.is_bootstrap_removed {
        return Vec::new();
    }
    let line = |(name, end): &(String, jiff::Timestamp)| format!("certificate {name} expired at {end:.0}");
    evidence.folder.expired.iter().map(line).collect()
}

pub(in crate::diagnosis) fn unusable_domain(evidence: &Evidence) -> Vec<String> {
    let Some(domain) = evidence.domain.as_deref() else { return Vec::new() };
    let mut wrong = Vec::new();
    let last = domain.rsplit('.').next().unwrap_or_default();
    if last.bytes().all(|byte| byte.is_ascii_digit()) {
        wrong.push(format!("{domain} ends with a number: {last:?}"));
    }
    if let Some(label) = domain.split('.').find(|label| label.is_empty() || label.len() > 63) {
        wrong.push(format!("{domain}: the label {label:?} has {} characters", label.len()));
    }
    wrong
}

pub(in crate::diagnosis) fn unusable_password(evidence: &Evidence) -> Vec<String> {
    match evidence.folder.password_fits {
        Some(false) => vec!["auth/kubeadmin-password does not have 23 to 72 characters".to_owned()],
        _ => Vec::new(),
    }
}

fn each(evidence: &Evidence, sentence: impl Fn(&str, &ConfigFacts) -> Option<String>) -> Vec<String> {
    evidence.folder.configs.iter().filter_map(|(path, config)| sentence(path, config)).collect()
}
