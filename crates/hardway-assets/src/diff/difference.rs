//! One place where two working directories mean different things.

use serde::Serialize;

/// A difference. At least one of the two sides has something to show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Where: `ConfigMap kube-system/cluster-config-v1: data.install-config: publish`, `certificate kubelet-client: EKU`,
    /// `bootstrap.ign /etc/motd: content`.
    pub place: String,
    /// What our side says, fit to be shown: secrets are hidden. `None` when it says nothing there.
    pub ours: Option<String>,
    /// What the other side says, in the same way.
    pub theirs: Option<String>,
    /// Why hardway differs on purpose. `None`: nobody has explained it, so it may be a mistake.
    pub reason: Option<&'static str>,
}

impl Difference {
    /// A difference nobody has looked at yet.
    pub(super) fn new(place: impl Into<String>, ours: Option<String>, theirs: Option<String>) -> Self {
        Self { place: place.into(), ours, theirs, reason: None }
    }
}
