//! How everything of a lab is called, and where it lies. The same as in `lab/common.sh`.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use hardway_assets::Cluster;

use super::network::gateway;
use super::{LabSettings, REGISTRY_PORT};
use crate::actions::{ActionCheck, Program};
use crate::providers::ProviderError;

/// One lab on this computer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabSite {
    /// Its name.
    pub lab: String,
    /// The folder `lab/` of hardway's sources.
    pub files: PathBuf,
    /// Whether the inventory asks for a release with real operators.
    pub has_real_operators: bool,
}

/// Where labs keep what does not outlive a reboot.
const STATE: &str = "/run/hardway-lab";

/// Where the lab's scripts lie, if not beside the program.
const FILES: &str = "HARDWAY_LAB_FILES";
/// What podman says of a container that runs.
pub(super) const RUNNING: &str = "running";

impl LabSite {
    /// Of a cluster.
    ///
    /// # Errors
    /// When the settings are wrong, or the lab's scripts are not found.
    pub fn of(cluster: &Cluster) -> Result<Self, ProviderError> {
        let settings = LabSettings::read(cluster)?;
        let files = files().ok_or_else(|| ProviderError::LabFilesMissing { fix: find_files() })?;
        Ok(Self { lab: settings.name, files, has_real_operators: settings.has_real_operators })
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

    /// The lab's own registry: `HOST:PORT`, as nodes know it.
    pub fn registry(&self, cluster: &Cluster) -> String {
        format!("{}:{REGISTRY_PORT}", gateway(cluster))
    }

    /// Registries that speak plain HTTP.
    pub fn plain_http(&self, cluster: &Cluster) -> Vec<String> {
        cluster.inventory.network.gateway.iter().map(|gateway| format!("{gateway}:{REGISTRY_PORT}")).collect()
    }

    pub(super) fn status(&self, name: &str) -> Program {
        Program::words("podman container inspect --format={{.State.Status}}").with([self.container(name)])
    }

    pub(super) fn is_running(&self, name: &str) -> ActionCheck {
        ActionCheck::Prints { program: self.status(name), line: RUNNING.to_owned() }
    }
}

/// The folder `lab/` of hardway's sources: the one that was named, or the one beside this program. Its scripts run as root, so
/// neither a folder in the current directory counts, nor one that somebody else put beside the program.
pub(super) fn files() -> Option<PathBuf> {
    let named = std::env::var_os(FILES).map(PathBuf::from);
    let program = std::env::current_exe().ok();
    let owner = program.as_deref().and_then(|program| Some(fs_err::metadata(program).ok()?.uid()));
    let mut beside = program.as_deref().map(beside).unwrap_or_default();
    beside.retain(|folder| owner.is_some_and(|owner| is_of(folder, owner)));
    named.into_iter().chain(beside).find(|folder| folder.join(BUILD).is_file())
}

/// Whether the scripts belong to root or to the program's owner, who is trusted already.
fn is_of(folder: &Path, owner: u32) -> bool {
    let is_theirs =
        |path: &Path| fs_err::metadata(path).is_ok_and(|found| found.uid() == owner || found.uid() == 0);
    is_theirs(folder) && is_theirs(&folder.join(BUILD))
}

const BUILD: &str = "node/build.sh";

/// Beside the program; for one that Cargo built, in the checkout it was built from.
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
        format!("{FILES} is {folder}, which has no {BUILD}; ")
    });
    format!(
        "{}set {FILES} to the lab/ folder of hardway's sources, or copy that folder next to the program; a program built by \
         Cargo finds its own checkout",
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

    /// A program that was built into /tmp/target has /tmp/lab beside it, which anybody can make.
    #[test]
    fn scripts_of_somebody_else_are_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let lab = folder.path().join("lab");
        fs_err::create_dir_all(lab.join("node")).unwrap();
        fs_err::write(lab.join(BUILD), "").unwrap();
        let owner = fs_err::metadata(&lab).unwrap().uid();
        assert!(is_of(&lab, owner));
        let stranger = owner + 65534;
        if owner == 0 {
            std::os::unix::fs::chown(lab.join(BUILD), Some(stranger), None).unwrap();
            assert!(!is_of(&lab, owner), "the script is a stranger's");
            std::os::unix::fs::chown(&lab, Some(stranger), None).unwrap();
        }
        assert_eq!((is_of(&lab, owner + 1), is_of(&folder.path().join("none"), owner)), (false, false));
    }
}
