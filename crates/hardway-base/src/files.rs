//! Replacing files so that a crash, a kill or a power cut leaves either the old content or the new, and never half of one.
//!
//! The content goes into a temporary file in the same folder, which is synced, renamed over the old file, and made
//! permanent by syncing the folder. When [`replace`] has returned, the new content is on the disk.

use std::collections::BTreeSet;
use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use fs_err::File;
use tempfile::{NamedTempFile, TempDir};

/// How the names of files begin that were not finished. Whoever owns a folder may remove those that a cut-off run left.
pub const UNFINISHED: &str = ".hardway-";

/// Replaces a file, or makes it. Its folder must be there. The mode is set before there is content to read.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("token");
/// hardway_base::files::replace(&path, 0o600, b"hush")?;
/// assert_eq!(std::fs::read(&path)?, b"hush");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// When any step fails, with the path in the message; then the old file is as it was.
pub fn replace(path: &Path, mode: u32, content: &[u8]) -> io::Result<()> {
    let mut replacement = Replacement::begin(path, mode)?;
    replacement.write_all(content)?;
    replacement.commit()
}

/// Replaces many files at the price of few. Each of them is whole, old or new, at any time; all are on the disk once this
/// has returned. Their folders must be there.
///
/// # Errors
/// At the first file that cannot be replaced. Some of the others may have been.
pub fn replace_all<'f>(files: impl IntoIterator<Item = (PathBuf, u32, &'f [u8])>) -> io::Result<()> {
    let mut files = files.into_iter().peekable();
    let mut folders = BTreeSet::new();
    while files.peek().is_some() {
        // A disk syncs many files that lie ready faster than as many one after the other.
        let mut ready = Vec::new();
        for (path, mode, content) in files.by_ref().take(OPEN_AT_ONCE) {
            let mut replacement = Replacement::begin(&path, mode)?;
            replacement.write_all(content)?;
            ready.push(replacement);
        }
        ready.iter().try_for_each(Replacement::sync)?;
        for replacement in ready {
            folders.insert(folder_of(&replacement.path).to_owned());
            replacement.rename()?;
        }
    }
    folders.iter().try_for_each(|folder| sync_folder(folder))
}

/// Well below the 1,024 open files that a process is given by default.
const OPEN_AT_ONCE: usize = 128;

/// A file's next content, written piece by piece. It counts once [`commit`](Self::commit) has returned; dropped before
/// that, it is as if it had never been.
#[derive(Debug)]
pub struct Replacement {
    path: PathBuf,
    unfinished: NamedTempFile,
}

impl Replacement {
    /// Begins the next content of a file whose folder is there.
    ///
    /// # Errors
    /// When no file can be made in that folder.
    pub fn begin(path: &Path, mode: u32) -> io::Result<Self> {
        let permissions = Permissions::from_mode(mode);
        let unfinished = tempfile::Builder::new()
            .prefix(UNFINISHED)
            .permissions(permissions.clone())
            .tempfile_in(folder_of(path))
            .map_err(|error| named(path, &error))?;
        // The process's umask may have taken bits away.
        unfinished.as_file().set_permissions(permissions).map_err(|error| named(path, &error))?;
        Ok(Self { path: path.to_owned(), unfinished })
    }

    /// The temporary file, for whoever must seek in it.
    pub fn file(&mut self) -> &mut std::fs::File {
        self.unfinished.as_file_mut()
    }

    /// Where the temporary file lies, for a program that reads it before it counts.
    pub fn unfinished_path(&self) -> &Path {
        self.unfinished.path()
    }

    /// Puts it in place. What it replaces is gone only when this is on the disk.
    ///
    /// # Errors
    /// When it cannot be synced or renamed; then the old file is as it was.
    pub fn commit(self) -> io::Result<()> {
        self.sync()?;
        let path = self.path.clone();
        self.rename()?;
        sync_folder(folder_of(&path))
    }

    fn sync(&self) -> io::Result<()> {
        self.unfinished.as_file().sync_all().map_err(|error| named(&self.path, &error))
    }

    fn rename(self) -> io::Result<()> {
        let Self { path, unfinished } = self;
        unfinished.persist(&path).map(drop).map_err(|error| named(&path, &error.error))
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unfinished.write(bytes).map_err(|error| named(&self.path, &error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unfinished.flush().map_err(|error| named(&self.path, &error))
    }
}

/// A folder for a while, which nobody but its owner can look into, whatever the umask. It goes when it is dropped.
///
/// # Errors
/// When none can be made where temporary files go (`TMPDIR`).
pub fn private_folder(prefix: &str) -> io::Result<TempDir> {
    // By itself `tempfile` gives a folder the mode that every new one has: others could read in it.
    tempfile::Builder::new().prefix(prefix).permissions(Permissions::from_mode(0o700)).tempdir()
}

/// Makes names that were given, changed or taken away in a folder permanent: until then, a power cut may undo them.
///
/// # Errors
/// When the folder cannot be opened or synced.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// The folder a file lies in; the current one for a bare name.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// tempfile's errors name the temporary file, or nothing.
fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs_err::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn the_new_content_has_the_mode_that_was_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs_err::write(&path, "old").unwrap();
        for mode in [0o600, 0o666, 0o755] {
            replace(&path, mode, b"new").unwrap();
            assert_eq!(fs_err::metadata(&path).unwrap().permissions().mode() & 0o7777, mode);
            assert_eq!(fs_err::read(&path).unwrap(), b"new");
        }
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn what_is_not_committed_never_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs_err::write(&path, "old").unwrap();
        let mut replacement = Replacement::begin(&path, 0o600).unwrap();
        replacement.write_all(b"new").unwrap();
        drop(replacement);
        assert_eq!(fs_err::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn more_files_than_may_be_open_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let count = OPEN_AT_ONCE * 2 + 1;
        let contents: Vec<String> = (0..count).map(|n| n.to_string()).collect();
        let files = contents.iter().map(|text| (folder.path().join(text), 0o600, text.as_bytes()));
        replace_all(files).unwrap();
        assert_eq!(names(folder.path()).len(), count);
        for text in &contents {
            assert_eq!(fs_err::read_to_string(folder.path().join(text)).unwrap(), *text);
        }
    }

    #[test]
    fn a_private_folder_is_its_owners_alone_and_goes() {
        let folder = private_folder("hardway-test-").unwrap();
        assert_eq!(fs_err::metadata(folder.path()).unwrap().permissions().mode() & 0o7777, 0o700);
        let path = folder.path().to_owned();
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn an_error_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("absent/a");
        let error = replace(&path, 0o600, b"new").unwrap_err().to_string();
        assert!(error.contains(&path.display().to_string()), "{error}");
    }
}
