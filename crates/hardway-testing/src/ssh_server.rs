//! A real sshd on loopback.

use std::path::Path;
use std::process::Command;

use fs_err as fs;

use crate::Server;
use crate::tools::succeed;

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
