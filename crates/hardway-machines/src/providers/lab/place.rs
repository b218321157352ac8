//! How everything of a lab is called, and where it lies. The same as in `lab/common.sh`.

use std::path::{Path, PathBuf};

use hardway_assets::Cluster;

use super::{LabSettings, REGISTRY_PORT};
use crate::actions::{Check, Program};
use crate::providers::ProviderError;

/// One lab on this computer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its name.
    pub lab: String,
    /// The folder `lab/` of hardway's sources.
    pub files: PathBuf,
}

/// Where labs keep what does not outlive a reboot.
const STATE: &str = "/run/hardway-lab";

/// Where the lab's scripts lie, if not beside the program.
const FILES: &str = "HARDWAY_LAB_FILES";
/// What podman says of a container that runs.
pub(super) const RUNNING: &str = "running";

impl Place {
    /// Of a cluster.
    ///
    /// # Errors
    /// When the settings are wrong, or the lab's scripts are not found.
    pub fn of(cluster: &Cluster) -> Result<Self, ProviderError> {
        let settings = LabSettings::read(cluster)?;
        let files = files().ok_or_else(|| ProviderError::LabFilesMissing { fix: find_files() })?;
        Ok(Self { lab: settings.name, files })
    }

    /// The network namespace of the segment.
    pub fn namespace(&self) -> String {
        format!("hardway-{}", self.lab)
    }

    /// A machine or a service: its container, and a machine's namespace.
    pub fn container(&self, name: &str) -> String {
        format!("hardway-{}-{name}", self.lab)
    }

    /// The file by which the segment's namespace can be entered.
    pub fn namespace_file(&self) -> PathBuf {
        PathBuf::from("/run/netns").join(self.namespace())
    }

    /// A file of the lab.
    pub fn state(&self, name: &str) -> PathBuf {
        PathBuf::from(STATE).join(&self.lab).join(name)
    }

    /// One of the lab's scripts.
    pub fn script(&self, name: &str) -> Program {
        Program::new(self.files.join(name).display().to_string(), Vec::<String>::new())
    }

    /// A program that runs in the lab's network and knows its names, as somebody on the segment would.
    pub fn inside(&self, program: &Program) -> Program {
        let script = "mount --bind \"$1\" /etc/resolv.conf; shift; exec \"$@\"";
        Program::new("nsenter", [format!("--net={}", self.namespace_file().display())])
            .with("unshare --mount --propagation=slave sh -ec".split(' '))
            .with([script.to_owned(), "sh".to_owned(), self.state("resolv.conf").display().to_string()])
            .with([program.program.clone()])
            .with(program.arguments.iter().cloned())
    }

    /// Registries that speak plain HTTP.
    pub fn plain_http(&self, cluster: &Cluster) -> Vec<String> {
        cluster.inventory.network.gateway.iter().map(|gateway| format!("{gateway}:{REGISTRY_PORT}")).collect()
    }

    /// Prints what podman has to be told on this host, one word per line.
    pub fn podman_limits(&self) -> Program {
        let script = format!(". {}; podman_limits", self.files.join("common.sh").display());
        Program::new("bash", ["-c", script.as_str()])
    }

    pub(super) fn status(&self, name: &str) -> Program {
        Program::words("podman container inspect --format={{.State.Status}}").with([self.container(name)])
    }

    pub(super) fn is_running(&self, name: &str) -> Check {
        Check::Prints { program: self.status(name), line: RUNNING.to_owned() }
    }
}

/// The folder `lab/` of hardway's sources: named, or beside this program. Its scripts run as root, so no folder is taken that
/// happens to lie around where somebody stands.
pub(super) fn files() -> Option<PathBuf> {
    let named = std::env::var_os(FILES).map(PathBuf::from);
    let beside = std::env::current_exe().ok().as_deref().map(beside).unwrap_or_default();
    named.into_iter().chain(beside).find(|folder| folder.join("node/build.sh").is_file())
}

/// In the program's own folder; and of one that Cargo built, in the checkout that it built it in.
fn beside(program: &Path) -> Vec<PathBuf> {
    let folder = program.parent();
    let target = folder.and_then(Path::parent).filter(|target| target.ends_with("target"));
    folder.into_iter().chain(target.and_then(Path::parent)).map(|folder| folder.join("lab")).collect()
}

/// What to do where they are not found.
pub(super) fn find_files() -> String {
    let named = std::env::var_os(FILES).map(PathBuf::from);
    let wrong = named.map(|folder| {
        let folder = hardway_base::shell_word(&folder.display().to_string());
        format!("{FILES} is {folder}, and there is no node/build.sh in it; ")
    });
    format!(
        "{}set {FILES} to the folder lab/ of hardway's sources, or put that beside the program; one that Cargo built finds its own checkout",
        wrong.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_looked_for_beside_the_program_and_in_the_checkout_it_was_built_in() {
        let places = |program: &str| beside(Path::new(program));
        assert_eq!(places("/usr/local/bin/hardway"), [Path::new("/usr/local/bin/lab")]);
        assert_eq!(
            places("/tmp/x/hardway"),
            [Path::new("/tmp/x/lab")],
            "not /tmp/lab, which anybody can make"
        );
        let built = [Path::new("/src/target/release/lab"), Path::new("/src/lab")];
        assert_eq!(places("/src/target/release/hardway"), built);
    }
}
