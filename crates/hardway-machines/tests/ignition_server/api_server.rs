//! A real etcd and kube-apiserver on ports of their own, without certificates to prepare: users are known by static tokens.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

pub(crate) const NAMESPACE: &str = "clusters-demo";

pub(crate) struct ApiServer {
    bin: PathBuf,
    dir: tempfile::TempDir,
    port: u16,
    children: Vec<Child>,
}

impl ApiServer {
    /// `None` where the tools are not built: `./test.sh` builds them.
    pub(crate) fn start() -> Option<Self> {
        let Some(bin) = std::env::var_os("HARDWAY_TOOLS_BIN").map(PathBuf::from) else {
            assert!(std::env::var_os("CI").is_none(), "CI must run this test: HARDWAY_TOOLS_BIN is not set");
            eprintln!("skipped: HARDWAY_TOOLS_BIN is not set; ./test.sh sets it");
            return None;
        };
        let ports = free_ports();
        let mut server =
            Self { bin, dir: tempfile::tempdir().unwrap(), port: ports[2], children: Vec::new() };
        server.etcd(ports[0], ports[1]);
        server.kube_apiserver(ports[0]);
        server.until("ready", || server.kubectl("admin", &["get", "--raw", "/readyz"]).is_ok());
        server
            .until("its namespace", || server.kubectl("admin", &["create", "namespace", NAMESPACE]).is_ok());
        Some(server)
    }

    /// A kubeconfig for `admin`, or for the `server` that the deployment's service account stands for.
    pub(crate) fn kubeconfig(&self, user: &str) -> PathBuf {
        let path = self.dir.path().join(format!("{user}.kubeconfig"));
        let config = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {
                "server": format!("https://127.0.0.1:{}", self.port), "insecure-skip-tls-verify": true}}],
            "users": [{"name": user, "user": {"token": format!("{user}-token")}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": user, "namespace": NAMESPACE}}],
            "current-context": "x",
        });
        std::fs::write(&path, config.to_string()).unwrap();
        path
    }

    pub(crate) fn kubectl(&self, user: &str, args: &[&str]) -> Result<String, String> {
        let output = Command::new(self.bin.join("kubectl"))
            .arg("--kubeconfig")
            .arg(self.kubeconfig(user))
            .arg("--request-timeout=30s")
            .args(args)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        if output.status.success() {
            Ok(text(output.stdout))
        } else {
            Err(text(output.stdout) + &text(output.stderr))
        }
    }

    pub(crate) fn apply(&self, object: &serde_json::Value) {
        let path = self.dir.path().join("object.json");
        std::fs::write(&path, object.to_string()).unwrap();
        self.kubectl("admin", &["apply", "--server-side", "--force-conflicts", "-f", path.to_str().unwrap()])
            .unwrap();
    }

    fn etcd(&mut self, client: u16, peer: u16) {
        let data = self.dir.path().join("etcd");
        let url = |port: u16| format!("http://127.0.0.1:{port}");
        let mut command = Command::new(self.bin.join("etcd"));
        command.arg("--data-dir").arg(data).arg("--unsafe-no-fsync");
        command.args(["--listen-client-urls", &url(client), "--advertise-client-urls", &url(client)]);
        command.args(["--listen-peer-urls", &url(peer), "--initial-advertise-peer-urls", &url(peer)]);
        command.args(["--initial-cluster", &format!("default={}", url(peer))]);
        self.spawn(command, "etcd");
    }

    fn kube_apiserver(&mut self, etcd: u16) {
        let own = |name: &str| self.dir.path().join(name);
        let account = format!("system:serviceaccount:{NAMESPACE}:hardway-ignition-server");
        let groups = format!("\"system:serviceaccounts,system:serviceaccounts:{NAMESPACE}\"");
        let tokens = format!("admin-token,admin,1,system:masters\nserver-token,{account},2,{groups}\n");
        std::fs::write(own("tokens.csv"), tokens).unwrap();
        let key = Command::new("openssl")
            .args(["genrsa", "-out"])
            .arg(own("sa.key"))
            .stderr(Stdio::null())
            .status();
        assert!(key.unwrap().success());
        let flag = |name: &str, file: &str| format!("--{name}={}", own(file).display());
        let mut command = Command::new(self.bin.join("kube-apiserver"));
        command
            .arg(format!("--etcd-servers=http://127.0.0.1:{etcd}"))
            .arg(format!("--secure-port={}", self.port))
            .args([
                "--bind-address=127.0.0.1",
                "--advertise-address=192.0.2.1",
                "--endpoint-reconciler-type=none",
            ])
            .args(["--service-cluster-ip-range=10.0.0.0/24", "--authorization-mode=RBAC"])
            .args(["--service-account-issuer=https://test", "--disable-admission-plugins=ServiceAccount"])
            .arg(flag("cert-dir", "certificates"))
            .arg(flag("token-auth-file", "tokens.csv"))
            .arg(flag("service-account-key-file", "sa.key"))
            .arg(flag("service-account-signing-key-file", "sa.key"));
        self.spawn(command, "kube-apiserver");
    }

    fn spawn(&mut self, mut command: Command, name: &str) {
        let log = std::fs::File::create(self.dir.path().join(format!("{name}.log"))).unwrap();
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        self.children.push(command.spawn().unwrap());
    }

    fn until(&self, what: &str, check: impl Fn() -> bool) {
        let start = Instant::now();
        while !check() {
            if start.elapsed() > Duration::from_secs(240) {
                let log = std::fs::read_to_string(self.dir.path().join("kube-apiserver.log")).unwrap();
                let tail: Vec<&str> = log.lines().rev().take(20).collect();
                panic!("the API server never got to: {what}\n{}", tail.join("\n"));
            }
            std::thread::sleep(Duration::from_millis(300));
        }
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        for child in self.children.iter_mut().rev() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Ports that nobody has now.
fn free_ports() -> [u16; 3] {
    let listeners = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}
