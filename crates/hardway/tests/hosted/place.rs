//! A working folder, two clusters, and runs of the program.

use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_testing::{
    ControlPlane, Ran, Work, hosted_control_plane_is_up, hosted_inventory, install_hypershift, succeed,
};
use serde_json::{Value, json};

use crate::work;

const ENDPOINT: &str = "127.0.0.1:30003";
const CONFIG_VERSION: &str = "hypershift.openshift.io/nodePoolCurrentConfigVersion";

/// Folders go after what runs in them.
pub(crate) struct Place {
    pub(crate) other: ControlPlane,
    pub(crate) plane: ControlPlane,
    pub(crate) folder: Work,
}

impl Place {
    /// With a management cluster that knows HyperShift's kinds, and another that will be the hosted one.
    pub(crate) fn start() -> Self {
        let (plane, mut other) = (ControlPlane::start(), ControlPlane::start());
        other.start_controller_manager();
        install_hypershift(&plane);
        Self { other, plane, folder: folder() }
    }

    /// `hardway hosted …` in the folder.
    pub(crate) fn hosted(&self, args: &[&str]) -> Ran {
        let kubeconfig = self.plane.kubeconfig();
        let flags = ["hosted", "--kubeconfig", kubeconfig.to_str().unwrap()];
        let ran = self.folder.run(&[&flags[..], args].concat());
        let shows = |token: &String| ran.stderr.contains(token) || ran.stderr.contains(&base64(token));
        assert!(!self.token().as_ref().is_some_and(shows), "{}", ran.stderr);
        ran
    }

    pub(crate) fn control_plane_is_up(&self) {
        let kubeconfig = self.other.kubeconfig();
        hosted_control_plane_is_up(&self.plane, ("clusters", "demo"), &kubeconfig, ENDPOINT);
    }

    /// HyperShift's stand-in publishes a config of the pool, `more` of it its own.
    pub(crate) fn publish(&self, more: &str) {
        self.folder.write("pool.ign", format!(r#"{{"ignition":{{"version":"3.2.0"}},"{more}":{{}}}}"#));
        let authority = self.plane.folder().join("ca.crt").display().to_string();
        let words = ["stand-in", "--once", "--cluster", "demo", "--pool", "demo", "--config", "pool.ign"];
        let server = ["--ignition-server", ENDPOINT, "--ignition-ca", &authority];
        let ran = self.hosted(&[&words[..], &server].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }

    /// The token of the pool, which must never be seen.
    pub(crate) fn token(&self) -> Option<String> {
        let pool = self.plane.get(&["nodepool", "demo", "-n", "clusters"]);
        let hash = pool["metadata"]["annotations"][CONFIG_VERSION].as_str()?;
        let secret = self.plane.get(&["secret", "-n", "clusters-demo", &format!("token-demo-{hash}")]);
        let token = secret["data"]["token"].as_str()?;
        Some(String::from_utf8(STANDARD.decode(token).unwrap()).unwrap())
    }

    /// As an old network operator on a management cluster without service-ca leaves it.
    pub(crate) fn network_waits_for_its_certificate(&self) {
        let folder = self.plane.folder();
        let script = "openssl req -x509 -newkey rsa:2048 -nodes -keyout root-ca.pkcs8 -subj /OU=openshift/CN=root-ca -days 2 -out root-ca.crt && \
                      openssl rsa -traditional -in root-ca.pkcs8 -out root-ca.key";
        succeed(Command::new("bash").args(["-c", script]).current_dir(folder));
        let namespace = "clusters-demo";
        let apply = |object: Value| self.plane.apply(&object);
        apply(
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "root-ca", "namespace": namespace},
            "stringData": {"ca.crt": self.plane.read("root-ca.crt"), "ca.key": self.plane.read("root-ca.key")}}),
        );
        apply(
            json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "ovn-kubernetes-control-plane", "namespace": namespace,
            "annotations": {"service.beta.openshift.io/serving-cert-secret-name": "ovn-control-plane-metrics-cert"}},
            "spec": {"clusterIP": "None", "ports": [{"port": 9108}]}}),
        );
        let labels = json!({"app": "ovnkube-control-plane"});
        apply(
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "ovnkube-control-plane", "namespace": namespace},
            "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels},
                "spec": {"containers": [{"name": "x", "image": "x"}]}}}}),
        );
        apply(
            json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "mount", "namespace": namespace}, "reason": "FailedMount",
            "type": "Warning", "message": "MountVolume.SetUp failed for volume: secret \"ovn-control-plane-metrics-cert\" not found",
            "involvedObject": {"kind": "Pod", "name": "ovnkube-control-plane-0", "namespace": namespace}}),
        );
    }
}

pub(crate) fn base64(text: &str) -> String {
    STANDARD.encode(text)
}

pub(crate) fn decoded(value: &Value) -> Vec<u8> {
    STANDARD.decode(value.as_str().unwrap()).unwrap()
}

/// A folder with an inventory of two workers, a pull secret, and a program that makes machines: a file is a machine.
pub(crate) fn folder() -> Work {
    let workers = [0, 1].map(|n| (format!("worker-{n}"), format!("10.20.0.{}", n + 1)));
    let folder = work::empty().with_real_clock().may_show_secrets();
    folder.write("inventory.yaml", hosted_inventory(workers));
    folder.write("pull-secret.json", r#"{"auths":{"registry.example.com":{"auth":"c2VjcmV0OnNlY3JldA=="}}}"#);
    std::fs::create_dir(folder.path("machines")).unwrap();
    let script = "#!/bin/sh\ncase $1 in\nboot) cp \"$3\" machines/.$2 && mv machines/.$2 machines/$2 ;;\nis-on) test -e machines/$2 ;;\nremove) rm -f machines/$2 ;;\nesac\n";
    folder.write_program("machine", script);
    folder
}
