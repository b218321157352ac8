//! How far the version operator is, read from what it says.
//!
//! Its message is the only place with numbers: `Working towards 4.18.1: 455 of 902 done (50% complete), waiting on etcd,
//! kube-apiserver` (cluster-version-operator pkg/cvo/status.go).

use serde::Serialize;

use crate::objects::{ClusterVersion, Truth};

/// The version operator's work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionProgress {
    /// Applied completely at least once.
    pub is_available: bool,
    /// Available, not failing, nothing in progress.
    pub is_initialized: bool,
    /// Manifests applied in this pass, when it says so. A new pass begins at zero.
    pub done: Option<u64>,
    /// Manifests of the release.
    pub total: Option<u64>,
    /// ClusterOperators that it says it waits for.
    pub waiting_on: Vec<String>,
    /// What it says about its progress.
    pub message: Option<String>,
    /// What it says is wrong.
    pub failing: Option<String>,
}

impl VersionProgress {
    /// From the object, if it is there.
    pub fn of(version: Option<&ClusterVersion>) -> Self {
        let Some(version) = version else { return Self::default() };
        let message = version.condition("Progressing").and_then(|condition| condition.message.clone());
        let failing = version.condition("Failing").filter(|failing| failing.status == Truth::True);
        let (done, total) = message.as_deref().and_then(counts).unzip();
        Self {
            is_available: version.is("Available", Truth::True),
            is_initialized: version.is_initialized(),
            done,
            total,
            waiting_on: message.as_deref().map(waiting_on).unwrap_or_default(),
            failing: failing.map(|failing| failing.message.clone().unwrap_or_else(|| failing.sentence())),
            message,
        }
    }

    /// What openshift-install would say is missing: the failure, else the progress.
    pub fn last_word(&self) -> Option<&str> {
        self.failing.as_deref().or(self.message.as_deref())
    }

    /// Of the manifests, rounded down.
    pub fn percent(&self) -> Option<u64> {
        let (done, total) = (self.done?, self.total?);
        (total > 0).then(|| done.min(total) * 100 / total)
    }
}

/// `455 of 902 done`
fn counts(message: &str) -> Option<(u64, u64)> {
    let words: Vec<&str> = message.split_whitespace().collect();
    words.windows(4).find_map(|window| match window {
        [done, "of", total, "done"] => Some((done.parse().ok()?, total.parse().ok()?)),
        _ => None,
    })
}

/// The names after `waiting on`; `waiting up to 40 minutes on x` is another form of the same.
fn waiting_on(message: &str) -> Vec<String> {
    let Some((_, rest)) = message.split_once(", waiting ") else { return Vec::new() };
    let names = rest.strip_prefix("on ").or_else(|| rest.split_once(" on ").map(|(_, names)| names));
    let is_name = |name: &&str| !name.is_empty() && !name.contains(' ');
    names.unwrap_or_default().split(',').map(str::trim).filter(is_name).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saying(message: &str) -> VersionProgress {
        let version: ClusterVersion =
            serde_json::from_value(serde_json::json!({"metadata": {"name": "version"},
            "status": {"conditions": [{"type": "Progressing", "status": "True", "message": message}]}}))
            .unwrap();
        VersionProgress::of(Some(&version))
    }

    #[test]
    fn its_message_is_read() {
        for (message, done, waits) in [
            ("Working towards 4.18.1", None, vec![]),
            ("Working towards 4.18.1: 455 of 902 done (50% complete)", Some((455, 902)), vec![]),
            (
                "Working towards 4.18.1: 455 of 902 done (50% complete), waiting on etcd, kube-apiserver",
                Some((455, 902)),
                vec!["etcd", "kube-apiserver"],
            ),
            (
                "Working towards 4.18.1: 800 of 902 done (88% complete), waiting up to 40 minutes on network",
                Some((800, 902)),
                vec!["network"],
            ),
            ("Unable to apply 4.18.1: the cluster operator etcd is not available", None, vec![]),
            ("some of many done", None, vec![]),
            ("", None, vec![]),
        ] {
            let progress = saying(message);
            assert_eq!(progress.done.zip(progress.total), done, "{message}");
            assert_eq!(progress.waiting_on, waits, "{message}");
        }
        assert_eq!(saying("1 of 3 done").percent(), Some(33));
        assert_eq!(saying("1 of 0 done").percent(), None);
    }

    #[test]
    fn nothing_is_no_progress() {
        assert_eq!(VersionProgress::of(None), VersionProgress::default());
    }
}
