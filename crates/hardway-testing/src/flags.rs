//! The command lines of the servers. Files are named relative to the control plane's folder.

/// etcd, without waiting for the disk: what it holds is gone with the test anyway.
pub(crate) fn etcd(port: u16, peer_port: u16) -> Vec<String> {
    let (client, peer) = (format!("https://127.0.0.1:{port}"), format!("http://127.0.0.1:{peer_port}"));
    let mut flags: Vec<String> =
        ["--data-dir=etcd", "--cert-file=server.crt", "--key-file=server.key"].map(str::to_owned).into();
    flags.extend(["--trusted-ca-file=ca.crt", "--client-cert-auth", "--unsafe-no-fsync"].map(str::to_owned));
    flags.push(format!("--listen-client-urls={client}"));
    flags.push(format!("--advertise-client-urls={client}"));
    flags.push(format!("--listen-peer-urls={peer}"));
    flags.push(format!("--initial-advertise-peer-urls={peer}"));
    flags.push(format!("--initial-cluster=default={peer}"));
    flags
}

/// kube-apiserver with the authorizers of a real cluster, but without NodeRestriction: what a policy refuses must be able to
/// reach it.
pub(crate) fn api_server(port: u16, etcd_port: u16) -> Vec<String> {
    let flags = [
        "--bind-address=127.0.0.1",
        "--etcd-cafile=ca.crt",
        "--etcd-certfile=admin.crt",
        "--etcd-keyfile=admin.key",
        "--tls-cert-file=server.crt",
        "--tls-private-key-file=server.key",
        "--client-ca-file=ca.crt",
        "--service-account-key-file=admin.crt",
        "--service-account-signing-key-file=admin.key",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--authorization-mode=Node,RBAC",
        "--disable-admission-plugins=ServiceAccount",
        "--kubelet-certificate-authority=ca.crt",
        "--kubelet-client-certificate=admin.crt",
        "--kubelet-client-key=admin.key",
        "--kubelet-preferred-address-types=InternalIP",
    ];
    let ports = [format!("--secure-port={port}"), format!("--etcd-servers=https://127.0.0.1:{etcd_port}")];
    flags.map(str::to_owned).into_iter().chain(ports).collect()
}

/// kube-controller-manager with what issues, renews and clears away certificates, and nothing else. It takes its lease at
/// once when the one before was killed.
pub(crate) fn controller_manager(port: u16) -> Vec<String> {
    let controllers = ["csrapproving", "csrcleaner", "csrsigning"];
    let mut flags: Vec<String> = [
        "--kubeconfig=kubeconfig",
        "--authentication-kubeconfig=kubeconfig",
        "--authorization-kubeconfig=kubeconfig",
        "--cluster-signing-cert-file=ca.crt",
        "--cluster-signing-key-file=ca.key",
        "--leader-elect=false",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
        "--bind-address=127.0.0.1",
    ]
    .map(str::to_owned)
    .into();
    flags.push(format!("--controllers={}", controllers.join(",")));
    flags.push(format!("--secure-port={port}"));
    flags
}

/// kube-scheduler, with the rights of an administrator.
pub(crate) fn scheduler(port: u16) -> Vec<String> {
    let flags = [
        "--kubeconfig=kubeconfig",
        "--authentication-kubeconfig=kubeconfig",
        "--authorization-kubeconfig=kubeconfig",
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
    ];
    flags.map(str::to_owned).into_iter().chain([format!("--secure-port={port}")]).collect()
}
