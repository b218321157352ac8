//! A real kubelet with a real container runtime joins with nothing but the bootstrap kubeconfig, through the approver only.

use std::net::{IpAddr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use hardway_cluster::approver::CsrDecided;
use hardway_cluster::csr_policy::{ReasonCode, Verdict};
use hardway_testing::{Server, run, succeed, tools};
use serde_json::{Value, json};

use super::lab::{Lab, name, until};

#[tokio::test(flavor = "multi_thread")]
async fn real_a_kubelet_gets_both_certificates_and_serves_with_them() {
    let mut lab = Lab::start(1).await;
    let address = own_address();
    lab.declared.nodes[0].addresses = vec![address];
    let approver = lab.run("one");
    let port = free_port();
    let _machine = tokio::task::block_in_place(|| Machine::start(&lab, address, port));

    approver.until_told(&format!("joined {}", name(0))).await;
    let decided: Vec<CsrDecided> = until("both decisions in the journal", async || {
        Some(lab.facts::<CsrDecided>())
            .filter(|all| all.iter().filter(|one| one.verdict == Verdict::Approve).count() >= 2)
    })
    .await;
    let reasons: Vec<ReasonCode> =
        decided.iter().filter(|one| one.verdict == Verdict::Approve).map(|one| one.reason).collect();
    assert_eq!(reasons, [ReasonCode::FirstClient, ReasonCode::FirstServing], "{decided:?}");
    assert!(decided.iter().all(|one| one.verdict != Verdict::Deny), "{decided:?}");

    let node = tokio::task::block_in_place(|| lab.plane.lock().unwrap().get(&["node", &name(0)]));
    let conditions = node["status"]["conditions"].as_array().unwrap();
    let condition = |kind: &str| conditions.iter().find(|one| one["type"] == kind).unwrap()["status"].clone();
    assert_eq!(
        (condition("MemoryPressure"), condition("DiskPressure").is_string()),
        (json!("False"), true),
        "{node}"
    );
    assert!(condition("Ready").is_string());
    serves_with_its_certificate(&lab, address, port).await;
    approver.stop().await;
}

/// What the API server does before it asks for logs: the certificate must be of the cluster's signer and for that address.
async fn serves_with_its_certificate(lab: &Lab, address: IpAddr, port: u16) {
    let host = if address.is_ipv6() { format!("[{address}]:{port}") } else { format!("{address}:{port}") };
    let folder = lab.plane.lock().unwrap().folder().to_owned();
    until("a kubelet that serves with its certificate", async || {
        let mut client = Command::new("openssl");
        client.args([
            "s_client",
            "-verify_return_error",
            "-CAfile",
            "ca.crt",
            "-verify_ip",
            &address.to_string(),
        ]);
        client.args(["-connect", &host]).current_dir(&folder).stdin(std::process::Stdio::null());
        let (done, said) = tokio::task::block_in_place(|| run(&mut client));
        (done && said.contains("Verify return code: 0")).then_some(())
    })
    .await;
}

/// containerd and kubelet; both end with this.
struct Machine {
    _kubelet: Server,
    _runtime: Server,
    folder: PathBuf,
}

impl Drop for Machine {
    /// Why it did not join is in there.
    fn drop(&mut self) {
        if std::thread::panicking() {
            for log in ["machine.log", "containerd.log"] {
                let text = std::fs::read_to_string(self.folder.join(log)).unwrap_or_default();
                let lines: Vec<&str> = text.lines().collect();
                eprintln!("{log}:\n{}", lines[lines.len().saturating_sub(20)..].join("\n"));
            }
        }
    }
}

impl Machine {
    fn start(lab: &Lab, address: IpAddr, port: u16) -> Self {
        let plane = lab.plane.lock().unwrap();
        let folder = lab.folder.path();
        let [namespace, account] = ["openshift-machine-config-operator", "node-bootstrapper"];
        succeed(plane.kubectl().args(["create", "namespace", namespace]));
        succeed(plane.kubectl().args(["create", "serviceaccount", account, "-n", namespace]));
        let token = succeed(plane.kubectl().args(["create", "token", account, "-n", namespace]));
        let bootstrapper = plane.token_holder(account, token.trim());
        let config = kubelet_config(folder, &plane.folder().join("ca.crt"), port);
        std::fs::write(folder.join("kubelet.json"), config.to_string()).unwrap();
        std::fs::write(folder.join("containerd.toml"), runtime_config(folder)).unwrap();
        let arguments = [format!("--config={}", folder.join("containerd.toml").display())];
        let runtime = Server::start(Path::new("/usr/bin/containerd"), arguments, folder);
        let kubelet = tools(&["kubelet"]).join("kubelet");
        let flags = [
            format!("--config={}", folder.join("kubelet.json").display()),
            format!("--bootstrap-kubeconfig={}", bootstrapper.kubeconfig().display()),
            format!("--kubeconfig={}", folder.join("kubelet.kubeconfig").display()),
            format!("--cert-dir={}", folder.join("kubelet-pki").display()),
            format!("--root-dir={}", folder.join("kubelet").display()),
            format!("--hostname-override={}", name(0)),
            format!("--node-ip={address}"),
        ];
        let script = folder.join("machine");
        std::fs::write(&script, machine_script(&kubelet, &flags)).unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        let kubelet = Server::start(&script, [] as [&str; 0], folder);
        Self { _kubelet: kubelet, _runtime: runtime, folder: folder.to_owned() }
    }
}

/// A kubelet sets kernel parameters of the whole computer. Here it sets files of its own, in a mount namespace.
fn machine_script(kubelet: &Path, flags: &[String]) -> String {
    let parameters = [
        ("vm/overcommit_memory", "1"),
        ("vm/panic_on_oom", "0"),
        ("kernel/panic", "10"),
        ("kernel/panic_on_oops", "1"),
        ("kernel/keys/root_maxkeys", "1000000"),
        ("kernel/keys/root_maxbytes", "25000000"),
    ];
    let mut inside = String::from("set -e; ");
    for (path, value) in parameters {
        let file = format!("sysctl-{}", path.replace('/', "-"));
        inside += &format!("echo {value} >{file}; mount --bind {file} /proc/sys/{path}; ");
    }
    // A kubelet ends when its runtime is not ready; here nobody would start it again.
    inside += "until ctr --address containerd.sock plugins ls 2>/dev/null | grep -q \"cri .*ok\"; do sleep 0.2; done; ";
    inside += &format!("exec {} {}", kubelet.display(), flags.join(" "));
    format!("#!/bin/bash\nexec unshare --mount --propagation private bash -c '{inside}'\n")
}

fn kubelet_config(folder: &Path, authority: &Path, port: u16) -> Value {
    json!({
        "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
        "authentication": {"anonymous": {"enabled": false}, "x509": {"clientCAFile": authority}},
        "rotateCertificates": true, "serverTLSBootstrap": true,
        "containerRuntimeEndpoint": format!("unix://{}", folder.join("containerd.sock").display()),
        "port": port, "readOnlyPort": 0, "healthzPort": 0,
        "cgroupDriver": "cgroupfs", "cgroupsPerQOS": false, "enforceNodeAllocatable": [],
        "failSwapOn": false, "makeIPTablesUtilChains": false, "maxOpenFiles": 10_000, "oomScoreAdj": 0,
        "localStorageCapacityIsolation": false,
        "podLogsDir": folder.join("pod-logs"),
        "volumePluginDir": folder.join("volume-plugins"),
    })
}

fn runtime_config(folder: &Path) -> String {
    let path = |name: &str| folder.join(name).display().to_string();
    format!(
        "version = 2\nroot = \"{}\"\nstate = \"{}\"\noom_score = 0\n[grpc]\naddress = \"{}\"\n[ttrpc]\naddress = \"{}\"\n\
         [plugins.\"io.containerd.grpc.v1.cri\"]\nrestrict_oom_score_adj = true\n\
         [plugins.\"io.containerd.grpc.v1.cri\".containerd]\nsnapshotter = \"native\"\n\
         [plugins.\"io.containerd.internal.v1.opt\"]\npath = \"{}\"\n",
        path("containerd-root"),
        path("containerd-state"),
        path("containerd.sock"),
        path("containerd-ttrpc.sock"),
        path("containerd-opt"),
    )
}

/// One of this host's own: a kubelet does not take a loopback address for its node's.
fn own_address() -> IpAddr {
    let all = succeed(Command::new("hostname").arg("-I"));
    let mut all = all.split_whitespace().filter_map(|text| text.parse::<IpAddr>().ok());
    all.find(|address| !address.is_loopback()).expect("this test needs an address that is not loopback")
}

fn free_port() -> u16 {
    TcpListener::bind(("0.0.0.0", 0)).unwrap().local_addr().unwrap().port()
}
