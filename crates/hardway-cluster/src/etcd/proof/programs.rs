//! The programs that a proof starts.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::{Child, Command};

/// Where they are.
#[derive(Clone, Debug)]
pub struct Programs {
    /// The server.
    pub etcd: PathBuf,
    /// Restores snapshots.
    pub etcdutl: PathBuf,
    /// Without it, objects are compared in etcd alone.
    pub kube_apiserver: Option<PathBuf>,
}

/// One that cannot be done without is not there.
#[derive(Debug, thiserror::Error)]
#[error("{name} was not found in {place}: a backup is restored with etcd's own programs")]
pub struct ProgramMissing {
    /// Which.
    pub name: &'static str,
    /// Where it was looked for.
    pub place: String,
}

impl Programs {
    /// In that folder; without one, in those of `PATH`.
    ///
    /// # Errors
    /// When etcd or etcdutl is not there.
    pub fn find(folder: Option<&Path>) -> Result<Self, ProgramMissing> {
        Ok(Self {
            etcd: needed(folder, "etcd")?,
            etcdutl: Self::etcdutl(folder)?,
            kube_apiserver: found(folder, "kube-apiserver"),
        })
    }

    /// The one that restores snapshots, in that folder; without one, in those of `PATH`.
    ///
    /// # Errors
    /// When it is not there.
    pub fn etcdutl(folder: Option<&Path>) -> Result<PathBuf, ProgramMissing> {
        needed(folder, "etcdutl")
    }
}

fn needed(folder: Option<&Path>, name: &'static str) -> Result<PathBuf, ProgramMissing> {
    let place = || folder.map_or("PATH".to_owned(), |folder| folder.display().to_string());
    found(folder, name).ok_or_else(|| ProgramMissing { name, place: place() })
}

fn found(folder: Option<&Path>, name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = match folder {
        Some(folder) => vec![folder.to_owned()],
        None => std::env::split_paths(&path).collect(),
    };
    folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// A server that ends with this process, however that ends: a shell between holds its end of a pipe, and when ours is closed, it kills
/// the server. What it says goes into a file.
pub(super) struct Scratch {
    _shell: Child,
}

impl Scratch {
    pub(super) fn start(program: &Path, flags: &[String], log: &Path) -> std::io::Result<Self> {
        const WATCHED: &str = r#"exec 3<&0; log=$1; shift; "$@" </dev/null 3<&- >"$log" 2>&1 & read -r _ <&3; kill -9 $!; wait $!"#;
        let mut command = Command::new("sh");
        command.args(["-c", WATCHED, "sh"]).arg(log).arg(program).args(flags);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Self { _shell: command.spawn()? })
    }
}

/// The last lines that a server said.
pub(super) fn last_words(log: &Path) -> String {
    let text = fs_err::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(3)..].join(" | ")
}
