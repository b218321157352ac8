//! What the machines of a pool get: an Ignition config as the machine-config-server of a hosted cluster renders one, reduced to what
//! makes a node. The kubelet's unit and files have the names and flags that OpenShift's have
//! (machine-config-operator `templates/worker/01-worker-kubelet`).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// For the hosted API server there, with a token that may ask for certificates.
pub(super) fn payload(server: &str, authority: &str, token: &str, release: &str) -> Value {
    let kubeconfig = json!({"apiVersion": "v1", "kind": "Config", "current-context": "kubelet",
        "clusters": [{"name": "local", "cluster": {"server": server, "certificate-authority-data": STANDARD.encode(authority)}}],
        "users": [{"name": "kubelet", "user": {"token": token}}],
        "contexts": [{"name": "kubelet", "context": {"cluster": "local", "user": "kubelet"}}]});
    let kubelet = json!({"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
        "authentication": {"x509": {"clientCAFile": "/etc/kubernetes/kubelet-ca.crt"}, "anonymous": {"enabled": false}},
        "staticPodPath": "/etc/kubernetes/manifests", "clusterDomain": "cluster.local", "clusterDNS": ["172.31.0.10"],
        "containerRuntimeEndpoint": "unix:///var/run/crio/crio.sock", "rotateCertificates": true, "serverTLSBootstrap": true,
        "nodeStatusUpdateFrequency": "5s"});
    // Nothing has to run in pods for a node to be Ready, but a network must be configured.
    let network = json!({"cniVersion": "0.4.0", "name": "drill", "plugins": [
        {"type": "bridge", "bridge": "pods0", "isGateway": true, "ipMasq": true,
            "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.132.0.0/24"}]]}}]});
    let files = [
        ("/etc/kubernetes/kubeconfig", kubeconfig.to_string(), 0o600),
        ("/etc/kubernetes/kubelet.conf", kubelet.to_string(), 0o644),
        ("/etc/kubernetes/kubelet-ca.crt", authority.to_owned(), 0o644),
        ("/etc/kubernetes/cni/net.d/10-drill.conflist", network.to_string(), 0o644),
        ("/etc/crio/crio.conf.d/00-default", RUNTIME.to_owned(), 0o644),
        ("/etc/hardway-drill/release", format!("{release}\n"), 0o644),
    ];
    let files: Vec<Value> = files
        .iter()
        .map(|(path, text, mode)| {
            json!({"path": path, "mode": mode, "overwrite": true,
                "contents": {"source": format!("data:;base64,{}", STANDARD.encode(text))}})
        })
        .collect();
    json!({"ignition": {"version": "3.2.0"}, "storage": {"files": files},
        "systemd": {"units": [{"name": "crio.service", "enabled": true}, {"name": "kubelet.service", "enabled": true, "contents": UNIT}]}})
}

/// As far as the lab's runtime reads it.
const RUNTIME: &str = "[crio.image]
pause_image = \"localhost/hardway-drill-daemon:1\"
[crio.network]
network_dir = \"/etc/kubernetes/cni/net.d/\"
";

const UNIT: &str = "[Unit]
Description=Kubernetes Kubelet
Wants=network-online.target crio.service
After=network-online.target crio.service

[Service]
ExecStartPre=/bin/mkdir --parents /etc/kubernetes/manifests
ExecStart=/usr/bin/kubelet --config=/etc/kubernetes/kubelet.conf \\
  --bootstrap-kubeconfig=/etc/kubernetes/kubeconfig --kubeconfig=/var/lib/kubelet/kubeconfig \\
  --node-labels=node-role.kubernetes.io/worker,node.openshift.io/os_id=rhcos --v=2
Restart=always
RestartSec=5

[Install]
WantedBy=multi-user.target
";
