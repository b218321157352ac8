//! The working directory: read whole, written file by file, each by rename.

use std::fs::Permissions;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use fs_err as fs;
use hardway_assets::graph::{Lock, LockedRelease, Plan};
use hardway_assets::secrets::{Identity, SecretBundle};
use hardway_assets::{File, Tree};
use hardway_base::{files, shell_word};

use crate::report::{Code, Report};

/// A folder that holds everything of one cluster.
#[derive(Debug)]
pub(crate) struct Workdir {
    dir: PathBuf,
}

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
const SECRETS: &str = "secrets";
/// The one folder below the others that files are written to one by one.
const RENDERED: &str = "release/rendered";
pub(crate) const LOCK: &str = "assets.lock";
/// The lock of a run that has begun to write. Left behind only by a run that was cut off.
const NEXT_LOCK: &str = ".assets.lock.next";

impl Workdir {
    /// An existing folder.
    pub(crate) fn open(dir: &Path) -> Result<Self, Report> {
        if dir.is_dir() {
            Ok(Self { dir: dir.to_owned() })
        } else {
            let word = shell_word(&dir.display().to_string());
            Err(Report::new(Code::Usage, format!("{} is not a folder", dir.display()))
                .fix(format!("mkdir -p {word} && hardway init --dir {word}")))
        }
    }

    /// A path inside.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// A path inside, for a person to read.
    pub(crate) fn shown(&self, name: &str) -> String {
        let path = if self.dir == Path::new(".") { PathBuf::from(name) } else { self.path(name) };
        path.display().to_string()
    }

    /// A file, if it is there.
    pub(crate) fn bytes(&self, name: &str) -> Result<Option<Vec<u8>>, Report> {
        match fs::read(self.path(name)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(io(&error)),
        }
    }

    /// A file as text, if it is there.
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, Report> {
        Ok(self.bytes(name)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Every file the assets know.
    pub(crate) fn tree(&self) -> Result<Tree, Report> {
        let mut tree = Tree::default();
        for folder in FOLDERS {
            read_folder(&self.dir, Path::new(folder), &mut tree)?;
        }
        for entry in fs::read_dir(&self.dir).map_err(|error| io(&error))? {
            let entry = entry.map_err(|error| io(&error))?;
            if let Some(name) = entry.file_name().to_str()
                && (name.ends_with(".ign") || name == "metadata.json")
            {
                tree.insert(name, fs::read(entry.path()).map_err(|error| io(&error))?);
            }
        }
        Ok(tree)
    }

    /// Every file there is, but for hardway's own marks.
    pub(crate) fn everything(&self) -> Result<Tree, Report> {
        let mut tree = Tree::default();
        read_folder(&self.dir, Path::new(""), &mut tree)?;
        [super::folder_lock::FILE, NEXT_LOCK].iter().for_each(|mark| tree.remove(mark));
        Ok(tree)
    }

    /// The files of `secrets/`.
    pub(crate) fn secrets(&self) -> Result<SecretBundle, Report> {
        let mut tree = Tree::default();
        read_folder(&self.dir, Path::new(SECRETS), &mut tree)?;
        let files = tree
            .iter()
            .filter_map(|(path, bytes)| Some((path.strip_prefix("secrets/")?.to_owned(), bytes.to_vec())));
        Ok(SecretBundle::from_files(files.collect::<Vec<_>>()))
    }

    /// The cluster's identity, if one was drawn.
    pub(crate) fn identity(&self) -> Result<Option<Identity>, Report> {
        let name = format!("{SECRETS}/identity.json");
        let Some(bytes) = self.bytes(&name)? else { return Ok(None) };
        let secrets = SecretBundle::from_files([("identity.json".to_owned(), bytes)]);
        secrets.identity().map(Some).map_err(|error| Report::from_error(Code::SecretsDamaged, &error))
    }

    /// Those of `secrets/` that others than the owner can read.
    pub(crate) fn open_secrets(&self, secrets: &SecretBundle) -> Vec<String> {
        let names = secrets.files().map(|(name, _)| format!("{SECRETS}/{name}"));
        let is_open = |name: &String| {
            fs::metadata(self.path(name)).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
        };
        names.filter(is_open).collect()
    }

    /// Writes the secrets that differ from those on disk.
    pub(crate) fn write_secrets(&self, before: &SecretBundle, after: &SecretBundle) -> Result<(), Report> {
        for (name, secret) in after.files() {
            if before.get(name).ok() != Some(secret) {
                self.write(&File::secret(format!("{SECRETS}/{name}"), secret.expose()))?;
            }
        }
        Ok(())
    }

    /// `assets.lock`; with what a cut-off run had already written counted as ours.
    pub(crate) fn lock(&self, tree: &Tree) -> Result<Lock, Report> {
        let lock = self.read_lock(LOCK)?.unwrap_or_default();
        Ok(match self.read_lock(NEXT_LOCK)? {
            Some(next) => lock.recover(&next, tree),
            None => lock,
        })
    }

    /// What the release was resolved to, also by a run that was cut off.
    pub(crate) fn locked_release(&self) -> Result<Option<LockedRelease>, Report> {
        let next = self.read_lock(NEXT_LOCK)?.and_then(|lock| lock.release);
        Ok(match next {
            None => self.read_lock(LOCK)?.and_then(|lock| lock.release),
            next => next,
        })
    }

    fn read_lock(&self, name: &str) -> Result<Option<Lock>, Report> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        Lock::parse(&text).map(Some).map_err(|error| {
            let what = format!("{}:{}: not a line of a lock file", self.shown(name), error.line);
            Report::new(Code::LockDamaged, what)
                .fix("restore the file, or remove it: hardway then takes every file in the folder for yours and keeps it")
        })
    }

    /// Carries a plan out. Nothing that is the same is touched.
    pub(crate) fn apply(&self, plan: &Plan, lock_before: &Lock) -> Result<(), Report> {
        let (text, before) = (plan.lock.write(), lock_before.write());
        let was_cut_off = self.path(NEXT_LOCK).exists();
        if plan.writes.is_empty() && plan.removals.is_empty() && text == before && !was_cut_off {
            return Ok(());
        }
        if was_cut_off {
            // What the cut-off run had written must stay known as ours if this run is cut off as well.
            self.write(&File::secret(LOCK, before))?;
        }
        self.write(&File::secret(NEXT_LOCK, text.clone()))?;
        for file in &plan.writes {
            self.make_folders(&file.path)?;
        }
        let writes = plan.writes.iter().map(|file| (self.path(&file.path), file.mode, &*file.bytes));
        files::replace_all(writes).map_err(|error| io(&error))?;
        for path in &plan.removals {
            self.remove(path)?;
        }
        self.write(&File::secret(LOCK, text))?;
        self.remove(NEXT_LOCK)
    }

    /// Takes away files that a cut-off run did not finish. Only for the holder of the folder's lock.
    pub(crate) fn sweep(&self) -> Result<(), Report> {
        let below = ["", SECRETS, RENDERED, "ignition/pointers", "kubeconfigs/hosts", "recovery"];
        for folder in FOLDERS.iter().chain(&below) {
            let entries = match fs::read_dir(self.path(folder)) {
                Ok(entries) => entries,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(io(&error)),
            };
            for entry in entries {
                let entry = entry.map_err(|error| io(&error))?;
                if entry.file_name().to_string_lossy().starts_with(files::UNFINISHED) {
                    let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                    let remove = if is_folder { fs::remove_dir_all } else { fs::remove_file };
                    remove(entry.path()).map_err(|error| io(&error))?;
                }
            }
        }
        Ok(())
    }

    /// Writes by rename, with the mode set before there is content.
    pub(crate) fn write(&self, file: &File) -> Result<(), Report> {
        let path = self.path(&file.path);
        self.make_folders(&file.path)?;
        files::replace(&path, file.mode, &file.bytes).map_err(|error| io(&error))
    }

    fn remove(&self, name: &str) -> Result<(), Report> {
        match fs::remove_file(self.path(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(io(&error)),
            _ => Ok(()),
        }
    }

    /// The folders above a file, whatever the umask says.
    fn make_folders(&self, file: &str) -> Result<(), Report> {
        let is_private = ["secrets/", "auth/", "recovery/"].iter().any(|folder| file.starts_with(folder));
        let mode = if is_private { 0o700 } else { 0o755 };
        for (slash, _) in file.match_indices('/') {
            let folder = self.path(&file[..slash]);
            match std::fs::DirBuilder::new().mode(mode).create(&folder) {
                Ok(()) => {
                    fs::set_permissions(&folder, Permissions::from_mode(mode)).map_err(|e| io(&e))?;
                    // What is synced in a folder is lost with the folder's own name.
                    files::sync_folder(files::folder_of(&folder)).map_err(|e| io(&e))?;
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(at(&folder, &error)),
            }
        }
        Ok(())
    }
}

/// Every file of a folder, at any depth. Hidden files are an editor's or our own business, but for those at the top;
/// hidden folders are a version control's.
fn read_folder(root: &Path, folder: &Path, tree: &mut Tree) -> Result<(), Report> {
    let entries = match fs::read_dir(root.join(folder)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(io(&error)),
    };
    for entry in entries {
        let path = folder.join(entry.map_err(|error| io(&error))?.file_name());
        let Some(name) = path.to_str().filter(|name| !name.contains("/.")) else { continue };
        let metadata = fs::metadata(root.join(&path)).map_err(|error| io(&error))?;
        if metadata.is_dir() {
            if !name.starts_with('.') {
                read_folder(root, &path, tree)?;
            }
        } else if metadata.is_file() && metadata.len() <= LARGEST {
            tree.insert(name, fs::read(root.join(&path)).map_err(|error| io(&error))?);
        }
    }
    Ok(())
}

/// No file of ours or of openshift-install's is larger; an install medium that lies beside them is.
const LARGEST: u64 = 64 << 20;

/// An error without its path.
pub(crate) fn at(path: &Path, error: &std::io::Error) -> Report {
    Report::new(Code::WorkdirUnusable, format!("{}: {error}", path.display()))
}

/// An error of `fs_err`, which names the path itself.
pub(crate) fn io(error: &std::io::Error) -> Report {
    Report::from_error(Code::WorkdirUnusable, error)
}
