//! Which feature gates a cluster runs with.

use crate::Cluster;
use crate::graph::{MakeError, Source};
use crate::release_payload::{FeatureGates, ReleasePayload};

/// The gates of the cluster's feature set. `CustomNoUpgrade` is the default set with the user's gates on top
/// (openshift/api `payload-command/render/render.go`).
pub(crate) fn of(cluster: &Cluster, release: &ReleasePayload) -> Result<FeatureGates, MakeError> {
    let set = match cluster.config.feature_set.as_str() {
        "CustomNoUpgrade" | "Default" => "",
        other => other,
    };
    let gates = release.feature_gates.get(set).ok_or_else(|| {
        MakeError::Release(format!(
            "the release has no feature gates of the set {set:?} (\"\" is the default)"
        ))
    })?;
    Ok(with_own(gates.clone(), &cluster.config.feature_gates))
}

/// What [`of`] reads.
pub(crate) fn sources() -> [Source; 3] {
    [Source::config("featureSet"), Source::config("featureGates"), Source::release("feature-gates")]
}

/// Moves the gates that the user named to the side the user named.
fn with_own(mut gates: FeatureGates, own: &[String]) -> FeatureGates {
    for (name, on) in own.iter().filter_map(|gate| gate.split_once('=')) {
        gates.enabled.retain(|gate| gate != name);
        gates.disabled.retain(|gate| gate != name);
        let side = if on.eq_ignore_ascii_case("true") { &mut gates.enabled } else { &mut gates.disabled };
        side.push(name.to_owned());
    }
    gates.enabled.sort();
    gates.disabled.sort();
    gates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_gates_change_sides() {
        let gates = FeatureGates { enabled: vec!["B".into()], disabled: vec!["A".into(), "C".into()] };
        let own = ["A=true", "B=false", "New=true"].map(str::to_owned);
        let gates = with_own(gates, &own);
        assert_eq!(gates.enabled, ["A", "New"]);
        assert_eq!(gates.disabled, ["B", "C"]);
    }
}
