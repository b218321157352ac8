//! A computer that joins: a real kubelet with a real container runtime.

use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use fs_err as fs;
use serde_json::{Value, json};

use crate::{ControlPlane, Identity, Server, free_port, succeed, tools};

/// What its kubelet begins with.
const BOOTSTRAP: &str = "bootstrap.kubeconfig";

/// An image with a shell that it has, as `docker save` would call it.
pub const SHELL_IMAGE: &str = "localhost/shell:1";

/// containerd and kubelet, in namespaces of their own: with this, they and everything that they started end.
#[derive(Debug)]
pub struct Machine {
    folder: PathBuf,
    port: u16,
    running: Option<Server>,
}

impl Machine {
    /// One that has nothing but the kubeconfig of whoever it is until it is a node, at an address of this host. It is off.
    ///
    /// # Panics
    /// When the control plane refuses what it needs.
    pub fn new(plane: &ControlPlane, folder: &Path, name: &str, address: IpAddr, who: &Identity) -> Self {
        let port = free_port();
        fs::copy(who.kubeconfig(), folder.join(BOOTSTRAP)).unwrap();
        let config = kubelet_config(folder, &plane.folder().join("ca.crt"), port);
        fs::write(folder.join("kubelet.json"), config.to_string()).unwrap();
        fs::write(folder.join("containerd.toml"), runtime_config(folder)).unwrap();
        pod_network(folder);
        shell_image(folder);
        let kubelet = tools(&["kubelet"]).join("kubelet");
        let flags = [
            format!("--config={}", folder.join("kubelet.json").display()),
            format!("--bootstrap-kubeconfig={}", folder.join(BOOTSTRAP).display()),
            format!("--kubeconfig={}", folder.join("kubelet.kubeconfig").display()),
            format!("--cert-dir={}", folder.join("kubelet-pki").display()),
            format!("--root-dir={}", folder.join("kubelet").display()),
            format!("--hostname-override={name}"),
            format!("--node-ip={address}"),
        ];
        let script = folder.join("machine");
        fs::write(&script, machine_script(&kubelet, &flags)).unwrap();
        make_executable(&script);
        Self { folder: folder.to_owned(), port, running: None }
    }

    /// Exchanges who it is until it is a node. Its kubelet reads that when it starts.
    ///
    /// # Panics
    /// When the disk is full.
    pub fn becomes(&self, who: &Identity) {
        fs::copy(who.kubeconfig(), self.folder.join(BOOTSTRAP)).unwrap();
    }

    /// Switches it on.
    pub fn boot(&mut self) {
        self.running = Some(Server::start(&self.folder.join("machine"), [] as [&str; 0], &self.folder));
    }

    /// Pulls its plug. What is on its disk stays.
    pub fn cut_power(&mut self) {
        self.running = None;
    }

    /// Where its kubelet serves.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Machine {
    /// Why it did not join is in there.
    #[expect(clippy::print_stderr, reason = "the test has failed, and this is what its reader needs")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            for log in ["machine.log", "containerd.log"] {
                let text = fs::read_to_string(self.folder.join(log)).unwrap_or_default();
                let lines: Vec<&str> = text.lines().collect();
                eprintln!("{log}:\n{}", lines[lines.len().saturating_sub(20)..].join("\n"));
            }
        }
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
    // The one of the boot before may still be about to end, and answer.
    inside += "rm -f containerd.sock; containerd --config=containerd.toml >>containerd.log 2>&1 & ";
    // A kubelet ends when its runtime is not ready; here nobody would start it again.
    inside += "until ctr --address containerd.sock plugins ls 2>/dev/null | grep -q \"cri .*ok\"; do sleep 0.2; done; ";
    inside +=
        "ctr --address containerd.sock --namespace k8s.io images import --snapshotter native shell.tar; ";
    inside += &format!("exec {} {}", kubelet.display(), flags.join(" "));
    let namespaces = "--mount --propagation private --pid --mount-proc --fork --kill-child";
    format!("#!/bin/bash\nexec unshare {namespaces} bash -c '{inside}'\n")
}

/// What stands in for a pod network: an address inside the pod that leads nowhere. `kubectl exec` and `logs` do without.
fn pod_network(folder: &Path) {
    const PLUGIN: &str = r#"#!/bin/sh
case $CNI_COMMAND in
  ADD)
    address=10.99.0.2/32
    if [ "$CNI_IFNAME" = lo ]; then
      address=127.0.0.1/8
      nsenter --net="$CNI_NETNS" ip link set lo up >&2
    else
      nsenter --net="$CNI_NETNS" sh -c "ip link add $CNI_IFNAME type veth peer name nowhere; ip address add $address dev $CNI_IFNAME; ip link set $CNI_IFNAME up" >&2
    fi
    echo "{\"cniVersion\":\"0.4.0\",\"interfaces\":[{\"name\":\"$CNI_IFNAME\",\"sandbox\":\"$CNI_NETNS\"}],\"ips\":[{\"version\":\"4\",\"address\":\"$address\",\"interface\":0}]}"
    ;;
  VERSION) echo '{"cniVersion":"0.4.0","supportedVersions":["0.3.1","0.4.0"]}' ;;
esac
"#;
    for name in ["cni/bin", "cni/conf"] {
        fs::create_dir_all(folder.join(name)).unwrap();
    }
    for name in ["loopback", "nowhere"] {
        let path = folder.join("cni/bin").join(name);
        fs::write(&path, PLUGIN).unwrap();
        make_executable(&path);
    }
    let config = json!({"cniVersion": "0.4.0", "name": "nowhere", "plugins": [{"type": "nowhere"}]});
    fs::write(folder.join("cni/conf/nowhere.conflist"), config.to_string()).unwrap();
}

/// busybox, as the archive that `docker save` makes.
fn shell_image(folder: &Path) {
    let script = r#"set -euo pipefail
        mkdir -p image/root/bin image/root/tmp
        cp /bin/busybox image/root/bin/busybox
        for name in sh sleep echo; do ln -s busybox "image/root/bin/$name"; done
        tar --owner=0 --group=0 -C image/root -cf image/layer.tar .
        digest=$(sha256sum image/layer.tar | cut -d ' ' -f 1)
        machine=$(uname -m); case $machine in x86_64) machine=amd64 ;; aarch64) machine=arm64 ;; esac
        printf '{"architecture":"%s","os":"linux","config":{"Cmd":["/bin/sleep","1000000"],"Env":["PATH=/bin"]},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' "$machine" "$digest" >image/config.json
        printf '[{"Config":"config.json","RepoTags":["%s"],"Layers":["layer.tar"]}]' "$1" >image/manifest.json
        tar -C image -cf shell.tar manifest.json config.json layer.tar"#;
    succeed(Command::new("bash").args(["-c", script, "bash", SHELL_IMAGE]).current_dir(folder));
}

fn make_executable(path: &Path) {
    fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
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
         [plugins.\"io.containerd.grpc.v1.cri\"]\nrestrict_oom_score_adj = true\nsandbox_image = \"{SHELL_IMAGE}\"\n\
         [plugins.\"io.containerd.grpc.v1.cri\".cni]\nbin_dir = \"{}\"\nconf_dir = \"{}\"\n\
         [plugins.\"io.containerd.grpc.v1.cri\".containerd]\nsnapshotter = \"native\"\n\
         [plugins.\"io.containerd.internal.v1.opt\"]\npath = \"{}\"\n",
        path("containerd-root"),
        path("containerd-state"),
        path("containerd.sock"),
        path("containerd-ttrpc.sock"),
        path("cni/bin"),
        path("cni/conf"),
        path("containerd-opt"),
    )
}

/// One of this host's own: a kubelet does not take a loopback address for its node's.
///
/// # Panics
/// When it has none.
pub fn own_address() -> IpAddr {
    let all = succeed(Command::new("hostname").arg("-I"));
    let mut all = all.split_whitespace().filter_map(|text| text.parse::<IpAddr>().ok());
    all.find(|address| !address.is_loopback()).expect("this test needs an address that is not loopback")
}
