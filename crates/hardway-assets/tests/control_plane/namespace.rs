//! A network of the test's own: no traffic leaves it, and the cluster's fixed ports and addresses are free in it.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A network and mount namespace, alive as long as this value.
pub(crate) struct Namespace {
    holder: Child,
}

impl Namespace {
    /// With an address of its own and names in `/etc/hosts`. `None` where the kernel or the user may not.
    pub(crate) fn new(dir: &Path, address: &str, names: &[String]) -> Option<Self> {
        let hosts = dir.join("hosts");
        std::fs::write(&hosts, format!("127.0.0.1 localhost\n{address} {}\n", names.join(" "))).unwrap();
        let ready = dir.join("namespace-ready");
        let script = format!(
            "set -e; ip link set lo up; ip addr add {address}/24 dev lo; mount --bind {} /etc/hosts; touch {}; exec sleep infinity",
            hosts.display(),
            ready.display()
        );
        let mut holder = Command::new("unshare")
            .args(["--net", "--mount", "bash", "-c", &script])
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .ok()?;
        for _ in 0..100 {
            if ready.exists() {
                return Some(Self { holder });
            }
            if holder.try_wait().unwrap().is_some() {
                return None;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        None
    }

    /// A program that runs inside.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.holder.id().to_string(), "--net", "--mount", "--"]).arg(program);
        command
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

/// A server inside, stopped when dropped. Its output goes to a file.
pub(crate) struct Server {
    name: String,
    log: std::path::PathBuf,
    child: Child,
}

impl Server {
    pub(crate) fn start(mut command: Command, name: &str, dir: &Path) -> Self {
        let log = dir.join(format!("{name}.log"));
        let file = std::fs::File::create(&log).unwrap();
        command.stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file);
        Self { name: name.to_owned(), log, child: command.spawn().unwrap() }
    }

    /// Waits until a check holds; shows the end of the log when it does not, or when the server is gone.
    pub(crate) fn until(&mut self, what: &str, mut check: impl FnMut() -> bool) {
        let start = Instant::now();
        while !check() {
            let gone = self.child.try_wait().unwrap();
            if gone.is_some() || start.elapsed() > Duration::from_secs(90) {
                let log = std::fs::read_to_string(&self.log).unwrap();
                let tail: Vec<&str> = log.lines().rev().take(25).collect();
                let tail: Vec<&str> = tail.into_iter().rev().collect();
                panic!("{} never got to: {what} ({gone:?})\n{}", self.name, tail.join("\n"));
            }
            std::thread::sleep(Duration::from_millis(300));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
