//! A program that ends with the test.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

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
