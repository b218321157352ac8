//! The working directory: read whole, written file by file, each by rename.

use std::fs::File as StdFile;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use fs_err as fs;
use hardway_assets::graph::{Lock, Plan};
use hardway_assets::secrets::SecretBundle;
use hardway_assets::{File, Tree};

use crate::report::Report;

/// A folder that holds everything of one cluster.
#[derive(Debug)]
pub(crate) struct Workdir {
    dir: PathBuf,
}

/// Held while a command changes the folder. Let go by the system when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct Held(#[expect(dead_code, reason = "dropping it lets the lock go")] StdFile);

/// What assets read and write; `secrets/`, logs and the user's other files are not looked at.
const FOLDERS: [&str; 9] = [
    "auth",
    "ignition",
    "kubeconfigs",
    "manifests",
    "openshift",
    "operator-seeds",
    "pki",
    "release",
    "static-pods",
];
const LOCK: &str = "assets.lock";
/// The lock of a run that has begun to write. Left behind only by a run that was cut off.
const NEXT_LOCK: &str = ".assets.lock.next";

impl Workdir {
    /// An existing folder.
    pub(crate) fn open(dir: &Path) -> Result<Self, Report> {
        if dir.is_dir() {
            Ok(Self { dir: dir.to_owned() })
        } else {
            Err(Report::new("usage", format!("{} is not a folder", dir.display()))
                .exit(crate::report::EXIT_USAGE)
                .fix(format!("mkdir -p {0} && hardway init --dir {0}", dir.display())))
        }
    }

    /// A path inside.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Keeps other hardways out.
    pub(crate) fn hold(&self) -> Result<Held, Report> {
        let path = self.path(".hardway.lock");
        let file = fs::OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(io)?;
        let file = file.into_parts().0;
        file.try_lock().map_err(|_| {
            Report::new("workdir-locked", format!("another hardway is working in {}", self.dir.display()))
                .fix("wait for it to end; the lock goes with the process that holds it")
        })?;
        Ok(Held(file))
    }

    /// A file as text, if it is there.
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, Report> {
        match fs::read_to_string(self.path(name)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(io(error)),
        }
    }

    /// Every file the assets know.
    pub(crate) fn tree(&self) -> Result<Tree, Report> {
        let mut tree = Tree::default();
        for folder in FOLDERS {
            read_folder(&self.dir, Path::new(folder), &mut tree)?;
        }
        for entry in fs::read_dir(&self.dir).map_err(io)? {
            let entry = entry.map_err(io)?;
            if let Some(name) = entry.file_name().to_str()
                && (name.ends_with(".ign") || name == "metadata.json")
            {
                tree.insert(name, fs::read(entry.path()).map_err(io)?);
            }
        }
        Ok(tree)
    }

    /// The files of `secrets/`.
    pub(crate) fn secrets(&self) -> Result<SecretBundle, Report> {
        let mut tree = Tree::default();
        read_folder(&self.dir, Path::new("secrets"), &mut tree)?;
        let files = tree
            .iter()
            .filter_map(|(path, bytes)| Some((path.strip_prefix("secrets/")?.to_owned(), bytes.to_vec())));
        Ok(SecretBundle::from_files(files.collect::<Vec<_>>()))
    }

    /// Writes the secrets that differ from those on disk.
    pub(crate) fn write_secrets(&self, before: &SecretBundle, after: &SecretBundle) -> Result<(), Report> {
        for (name, secret) in after.files() {
            if before.get(name).ok() != Some(secret) {
                self.write(&File::secret(format!("secrets/{name}"), secret.expose()))?;
            }
        }
        Ok(())
    }

    /// `assets.lock`; with what a cut-off run had already written counted as ours.
    pub(crate) fn lock(&self, tree: &Tree) -> Result<Lock, Report> {
        let read = |name: &str| -> Result<Option<Lock>, Report> {
            let Some(text) = self.text(name)? else { return Ok(None) };
            Lock::parse(&text).map(Some).map_err(|error| {
                Report::from_error("lock-damaged", &error)
                    .fix("restore the file, or remove it: hardway then takes every file in the folder for yours and keeps it")
            })
        };
        let lock = read(LOCK)?.unwrap_or_default();
        Ok(match read(NEXT_LOCK)? {
            Some(next) => lock.recover(&next, tree),
            None => lock,
        })
    }

    /// Carries a plan out. Nothing that is the same is touched.
    pub(crate) fn apply(&self, plan: &Plan, lock_before: &Lock) -> Result<(), Report> {
        let text = plan.lock.write();
        if plan.writes.is_empty() && plan.removals.is_empty() && plan.lock == *lock_before {
            return Ok(());
        }
        self.write(&File::public(NEXT_LOCK, text.clone()))?;
        for file in &plan.writes {
            self.write(file)?;
        }
        for path in &plan.removals {
            fs::remove_file(self.path(path)).map_err(io)?;
        }
        self.write(&File::public(LOCK, text))?;
        fs::remove_file(self.path(NEXT_LOCK)).map_err(io)
    }

    /// Writes by rename, with the mode set before there is content.
    pub(crate) fn write(&self, file: &File) -> Result<(), Report> {
        let path = self.path(&file.path);
        let folder = path.parent().unwrap_or(&self.dir);
        let is_private = file.path.starts_with("secrets/") || file.path.starts_with("auth/");
        let mode = if is_private { 0o700 } else { 0o755 };
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(mode)
            .create(folder)
            .map_err(|error| at(folder, &error))?;
        let mut temporary = tempfile::Builder::new()
            .prefix(".hardway-")
            .permissions(std::fs::Permissions::from_mode(file.mode))
            .tempfile_in(folder)
            .map_err(|error| at(folder, &error))?;
        // The process's umask may have taken bits away.
        temporary
            .as_file()
            .set_permissions(std::fs::Permissions::from_mode(file.mode))
            .map_err(|e| at(&path, &e))?;
        temporary.write_all(&file.bytes).map_err(|error| at(&path, &error))?;
        temporary.persist(&path).map_err(|error| at(&path, &error.error))?;
        Ok(())
    }
}

/// Every file of a folder, at any depth.
pub(crate) fn read_folder(root: &Path, folder: &Path, tree: &mut Tree) -> Result<(), Report> {
    let entries = match fs::read_dir(root.join(folder)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(io(error)),
    };
    for entry in entries {
        let entry = entry.map_err(io)?;
        let path = folder.join(entry.file_name());
        if entry.file_type().map_err(io)?.is_dir() {
            read_folder(root, &path, tree)?;
        } else if let Some(name) = path.to_str().filter(|name| !name.contains("/.")) {
            tree.insert(name, fs::read(root.join(&path)).map_err(io)?);
        }
    }
    Ok(())
}

fn at(path: &Path, error: &std::io::Error) -> Report {
    Report::new("workdir-unusable", format!("{}: {error}", path.display()))
}

#[expect(clippy::needless_pass_by_value, reason = "the shape of map_err")]
fn io(error: std::io::Error) -> Report {
    Report::from_error("workdir-unusable", &error)
}
