//! A program that ends with the test.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use fs_err as fs;

use crate::tools::succeed;

/// A running program. It is killed when this is dropped, and with this process however that ends: the shell between holds
/// its end of a pipe, and when ours is closed, it kills the program.
#[derive(Debug)]
pub struct Server {
    shell: Child,
}

impl Server {
    /// Starts a program in a folder; what it says goes to `<program>.log` there.
    ///
    /// # Panics
    /// When there is no shell to start it.
    pub fn start(
        program: &Path,
        arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
        folder: &Path,
    ) -> Self {
        let name = program.file_name().unwrap().to_str().unwrap();
        let watched = format!(
            r#"exec 3<&0; "$@" </dev/null 3<&- >>{name}.log 2>&1 & read -r _ <&3; kill -9 $!; wait $!"#
        );
        let mut command = Command::new("bash");
        command.args(["-c", &watched, "bash"]).arg(program).args(arguments).current_dir(folder);
        // The shell says which program it killed; nobody wants to know.
        command.stdin(Stdio::piped()).stderr(Stdio::null());
        Self { shell: command.spawn().unwrap() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

/// Who runs the tests, and may log in.
pub fn user() -> String {
    succeed(&mut Command::new("whoami")).trim().to_owned()
}

/// Lets in whoever has a key of `authorized_keys` in that folder. Its own key is the file `host_key` there, drawn if it is
/// missing; `more` are lines of its configuration.
pub fn sshd(folder: &Path, port: u16, host_key: &str, more: &str) -> Server {
    let path = |name: &str| folder.join(name).display().to_string();
    if !folder.join(host_key).exists() {
        succeed(Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f", &path(host_key)]));
    }
    let config = format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\n\
         PidFile none\nPasswordAuthentication no\nPermitRootLogin prohibit-password\n{more}",
        path(host_key),
        path("authorized_keys"),
    );
    fs::write(folder.join("sshd_config"), config).unwrap();
    fs::create_dir_all("/run/sshd").unwrap();
    Server::start(Path::new("/usr/sbin/sshd"), ["-D", "-e", "-f", &path("sshd_config")], folder)
}
