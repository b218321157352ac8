//! Which image the daemon of an upgrade in place is of.

use hardway_testing::{succeed, until};
use serde_json::json;

use super::place::{self, Place};
use crate::fixture::registry::{Registry, Setup};
use crate::fixture::release::ReleaseImage;

/// Nobody says which image the daemon of an upgrade is of: it stands in the pool's release, which the cluster's own pull secret opens.
pub(crate) fn is_the_releases(place: &Place) {
    let operator = format!("quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:{}", "b".repeat(64));
    let images = vec![("machine-config-operator".to_owned(), operator.clone())];
    let open = Registry::open();
    let image = ReleaseImage { images, ..ReleaseImage::default() }.build();
    open.pusher("ocp/release").image(&image, Some("4.18.99-x86_64"));
    let registry = Registry::same_as(&open, Setup { password: Some("hosted:cluster"), ..Setup::default() });
    let address = format!("127.0.0.1:{}", registry.port);
    let logins = json!({"auths": {address.clone(): {"auth": place::base64("hosted:cluster")}}}).to_string();
    let secret = json!({"data": {".dockerconfigjson": place::base64(&logins)}}).to_string();
    let release =
        json!({"spec": {"release": {"image": format!("{address}/ocp/release:4.18.99-x86_64")}}}).to_string();
    for (kind, name, patch) in [("secret", "demo-pull-secret", secret), ("nodepool", "demo", release)] {
        succeed(place.plane.kubectl().args([
            "-n",
            "clusters",
            "patch",
            kind,
            name,
            "--type=merge",
            "-p",
            &patch,
        ]));
    }
    place.publish("systemd");
    let kubeconfig = place.plane.kubeconfig().display().to_string();
    let plain = format!("--plain-http={address}");
    let words = ["hosted", "--kubeconfig", &kubeconfig, "controller", "--cluster", "demo", "--no-machines"];
    let words = [&words[..], &["--config-rest", "0s", "--ignition", "ignored", &plain]].concat();
    let _controller = place.folder.start(&words);
    until("a daemon of the release", || {
        let pods = place.other.get(&["pods", "-n", "demo-upgrade"]);
        pods["items"].as_array().is_some_and(|pods| {
            pods.iter().any(|pod| pod["spec"]["containers"][0]["image"].as_str() == Some(operator.as_str()))
        })
    });
}
