//! The working directory: read whole, written file by file, each by rename.

use std::collections::BTreeSet;
use std::fs::Permissions;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use fs_err as fs;
use hardway_assets::graph::{Lock, LockedRelease, Plan};
use hardway_assets::secrets::{Identity, SecretBundle};
use hardway_assets::work_paths::{HOST_KUBECONFIGS, POINTERS, RECOVERY, RENDERED, SECRETS};
use hardway_assets::{File, Tree};
use hardway_base::{files, shell_word};

use crate::report::{Code, Report};

/// A folder that holds everything of one cluster.
#[derive(Clone, Debug)]
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
pub(crate) const LOCK: &str = "assets.lock";
/// The lock of a run that has begun to write. Left behind only by a run that was cut off.
const NEXT_LOCK: &str = ".assets.lock.next";

impl Workdir {
    /// An existing folder.
    pub(crate) fn open(dir: &Path) -> Result<Self, Report> {
        if dir.is_dir() {
            return Ok(Self { dir: dir.to_owned() });
        }
        let report = Report::new(Code::Usage, format!("{} is not a folder", dir.display()));
        // What is there already stands in the way.
        let there = dir.ancestors().find(|path| path.symlink_metadata().is_ok());
        Err(match there.filter(|path| !path.is_dir()) {
            Some(file) => report.fix(format!("name a folder with --dir: {} is a file", file.display())),
            None => {
                let word = shell_word(&dir.display().to_string());
                report.fix(format!(
                    "check --dir; for a new cluster: mkdir -p {word} && hardway init --dir {word}"
                ))
            }
        })
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

    /// The path inside of a file that somebody named: as a path from where they are, or from the folder.
    pub(crate) fn name_of(&self, file: &Path) -> String {
        let parent = file.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
        let whole = fs::canonicalize(parent).ok().zip(file.file_name());
        let inside = whole.zip(fs::canonicalize(&self.dir).ok()).and_then(|((parent, name), dir)| {
            parent.join(name).strip_prefix(dir).map(Path::to_path_buf).ok()
        });
        let path = inside.unwrap_or_else(|| file.to_owned());
        path.components().as_path().to_string_lossy().trim_start_matches("./").to_owned()
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

    /// Every file of one folder.
    pub(crate) fn folder(&self, name: &str) -> Result<Tree, Report> {
        let mut tree = Tree::default();
        read_folder(&self.dir, Path::new(name), &mut tree)?;
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
        let tree = self.folder(SECRETS)?;
        let files = tree.iter().filter_map(|(path, bytes)| {
            Some((path.strip_prefix(SECRETS)?.strip_prefix('/')?.to_owned(), bytes.to_vec()))
        });
        Ok(SecretBundle::from_files(files.collect::<Vec<_>>()))
    }

    /// The cluster's identity, if one was drawn.
    pub(crate) fn identity(&self) -> Result<Option<Identity>, Report> {
        let name = format!("{SECRETS}/identity.json");
        let Some(bytes) = self.bytes(&name)? else { return Ok(None) };
        let secrets = SecretBundle::from_files([("identity.json".to_owned(), bytes)]);
        secrets.identity().map(Some).map_err(|error| Report::from_error(Code::SecretsDamaged, &error))
    }

    /// What to say where others than the owner can read files that they should not, whichever of these there are.
    pub(crate) fn open_to_others<'n>(&self, names: impl Iterator<Item = &'n str>) -> Option<String> {
        let is_open = |name: &&str| {
            fs::metadata(self.path(name)).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
        };
        let open: Vec<&str> = names.filter(is_open).collect();
        match open[..] {
            [] => None,
            [name] => Some(format!("{name} can be read by others: chmod 600 {}", self.shown(name))),
            [..] => {
                let dir = shell_word(&self.path("").display().to_string());
                Some(format!("{} files with secrets can be read by others: chmod -R go= {dir}", open.len()))
            }
        }
    }

    /// Writes the secrets that differ from those on disk. One that files were made from and that is missing is not replaced.
    pub(crate) fn write_secrets(&self, before: &SecretBundle, after: &SecretBundle) -> Result<(), Report> {
        let known = self.locked_secrets()?;
        let is_lost = |name: &&str| before.get(name).is_err() && known.contains(*name);
        let lost: Vec<&str> = after.files().map(|(name, _)| name).filter(is_lost).collect();
        match lost.is_empty() {
            true => self.replace_secrets(before, after),
            false => Err(secrets_missing(&lost)),
        }
    }

    /// The same for somebody who wants new ones in place of those that are missing.
    pub(crate) fn replace_secrets(&self, before: &SecretBundle, after: &SecretBundle) -> Result<(), Report> {
        for (name, secret) in after.files() {
            if before.get(name).ok() != Some(secret) {
                self.write(&File::secret(format!("{SECRETS}/{name}"), secret.expose()))?;
            }
        }
        Ok(())
    }

    /// Files of `secrets/` that something in this folder was made from, also by a run that was cut off.
    pub(crate) fn locked_secrets(&self) -> Result<BTreeSet<String>, Report> {
        let mut names = BTreeSet::new();
        for lock in [LOCK, NEXT_LOCK] {
            let lock = self.read_lock(lock)?.unwrap_or_default();
            names.extend(lock.secrets().into_iter().map(str::to_owned));
        }
        Ok(names)
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
                .fix("restore the file, or remove it: hardway then treats every file in the folder as edited by hand and keeps \
                 it")
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
        let below = ["", SECRETS, RENDERED, POINTERS, HOST_KUBECONFIGS, RECOVERY];
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

/// Secrets that files were made from are gone. New ones in their place would be a new cluster's.
pub(crate) fn secrets_missing(names: &[&str]) -> Report {
    let (what, fix) = match names {
        [name] => (
            format!("secrets/{name} is missing, and files in this folder were made from it"),
            "restore the file from a copy; a new one means a new cluster",
        ),
        names => (
            format!(
                "{} files are missing from secrets/, and files in this folder were made from them",
                names.len()
            ),
            "restore the files from a copy; new ones mean a new cluster",
        ),
    };
    let shown = names.iter().take(SHOWN_MISSING).map(|name| format!("secrets/{name}"));
    let more = names.len().checked_sub(SHOWN_MISSING).filter(|more| *more > 0);
    let evidence: Vec<String> = shown.chain(more.map(|more| format!("and {more} more"))).collect();
    Report::new(Code::SecretsDamaged, what)
        .evidence(if names.len() == 1 { Vec::new() } else { evidence })
        .fix(format!("{fix}: hardway create ignition-configs --redraw-secrets"))
}

/// Whoever misses more than these misses the folder.
const SHOWN_MISSING: usize = 5;

/// An error without its path.
pub(crate) fn at(path: &Path, error: &std::io::Error) -> Report {
    Report::new(Code::WorkdirUnusable, format!("{}: {error}", path.display()))
}

/// An error of `fs_err`, which names the path itself.
pub(crate) fn io(error: &std::io::Error) -> Report {
    Report::from_error(Code::WorkdirUnusable, error)
}
