//! A network of the test's own: no traffic leaves it, and the cluster's fixed ports and addresses are free in it.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A network and mount namespace, alive as long as this value.
pub(crate) struct Namespace {
    holder: Child,
}

impl Namespace {
    /// With an address of its own and names in `/etc/hosts`. `None` where the kernel or the user's rights do not allow it.
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
