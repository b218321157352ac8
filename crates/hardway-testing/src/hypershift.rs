//! A management cluster as HyperShift leaves it, before any pool.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::{ControlPlane, succeed};

const PREFIX: &str = "hypershift.openshift.io";

/// Makes a control plane know HyperShift's kinds: the real definitions of the folder in `HARDWAY_HYPERSHIFT_CRDS`, else trimmed ones.
pub fn install_hypershift(plane: &ControlPlane) {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("crds");
    let folder = std::env::var_os("HARDWAY_HYPERSHIFT_CRDS").map_or(own, PathBuf::from);
    for kind in ["hostedclusters", "nodepools"] {
        let text = fs_err::read_to_string(folder.join(format!("{kind}.yaml"))).unwrap();
        // A mark of OpenShift's own tools, under a name that no API server takes.
        let lines = text.lines().filter(|line| !line.contains("feature-gate.release.openshift.io/:"));
        let file = plane.folder().join(format!("{kind}.yaml"));
        fs_err::write(&file, lines.collect::<Vec<_>>().join("\n")).unwrap();
        succeed(plane.kubectl().args(["apply", "--server-side", "-f"]).arg(file));
    }
    for kind in ["hostedclusters", "nodepools"] {
        let crd = format!("crd/{kind}.{PREFIX}");
        succeed(plane.kubectl().args(["wait", "--for=condition=Established", "--timeout=120s", &crd]));
    }
}

/// What HyperShift writes when the control plane of a HostedCluster is up: its kubeconfig and its ignition endpoint are
/// known. What it writes for pools is written by `hardway_hosted::stand_in`.
///
/// # Panics
/// When the API server refuses it.
pub fn hosted_control_plane_is_up(
    management: &ControlPlane,
    (namespace, cluster): (&str, &str),
    kubeconfig: &Path,
    endpoint: &str,
) {
    let control_plane = format!("{namespace}-{cluster}");
    management.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": control_plane}}));
    // As HyperShift writes it: with certificates and keys in it.
    let flat = ["config", "view", "--raw", "--flatten"];
    let text = succeed(management.kubectl_with(kubeconfig).args(flat));
    let secret = format!("{cluster}-admin-kubeconfig");
    management.apply(&json!({"apiVersion": "v1", "kind": "Secret", "stringData": {"kubeconfig": text},
        "metadata": {"name": secret, "namespace": namespace}}));
    let available = json!({"type": "Available", "status": "True", "reason": "AsExpected", "message": "as the test says",
        "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1});
    let patch = json!({"status": {"kubeconfig": {"name": secret}, "ignitionEndpoint": endpoint, "conditions": [available]}});
    let mut kubectl = management.kubectl();
    kubectl.args([
        "-n",
        namespace,
        "patch",
        "hostedcluster",
        cluster,
        "--subresource=status",
        "--type=merge",
        "-p",
    ]);
    succeed(kubectl.arg(patch.to_string()));
}

/// The kubeconfig that the pointer of a hosted worker brings for its kubelet; none where it brings none.
///
/// # Panics
/// When it is for another path, or others could read it.
pub fn own_kubeconfig(pointer: &[u8]) -> Option<String> {
    let decoded = |source: &Value| {
        let body = source.as_str()?.strip_prefix("data:;base64,")?;
        STANDARD.decode(body).ok()
    };
    let pointer: Value = serde_json::from_slice(pointer).ok()?;
    let last = decoded(&pointer["ignition"]["config"]["merge"][1]["source"])?;
    let last: Value = serde_json::from_slice(&last).ok()?;
    let file = &last["storage"]["files"][0];
    assert_eq!((&file["path"], &file["mode"]), (&json!("/etc/kubernetes/kubeconfig"), &json!(0o600)));
    String::from_utf8(decoded(&file["contents"]["source"])?).ok()
}
