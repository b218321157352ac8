//! Everything of a folder at one moment.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use fs_err as fs;

/// By path. Folders are in it too, with nothing in them.
#[derive(Debug)]
pub struct Snapshot(BTreeMap<String, Entry>);

#[derive(Debug, PartialEq, Eq)]
struct Entry {
    mode: u32,
    bytes: Vec<u8>,
    inode: u64,
    changed: (i64, i64),
}

impl Snapshot {
    /// Of everything below.
    ///
    /// # Panics
    /// When something cannot be read.
    pub fn of(root: &Path) -> Self {
        let mut entries = BTreeMap::new();
        walk(root, "", &mut entries);
        Self(entries)
    }

    /// Writes the files down again.
    ///
    /// # Panics
    /// When that does not work.
    pub fn restore(&self, root: &Path, wanted: impl Fn(&str) -> bool) {
        for (path, entry) in self.0.iter().filter(|(path, _)| wanted(path)) {
            let place = root.join(path);
            if path.ends_with('/') {
                fs::create_dir_all(&place).unwrap();
            } else {
                fs::write(&place, &entry.bytes).unwrap();
            }
            fs::set_permissions(&place, Permissions::from_mode(entry.mode)).unwrap();
        }
    }

    /// Of files and folders; those of folders end in a slash.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Every file with its permissions and content.
    pub fn files(&self) -> impl Iterator<Item = (&str, u32, &[u8])> {
        let files = self.0.iter().filter(|(path, _)| !path.ends_with('/'));
        files.map(|(path, entry)| (path.as_str(), entry.mode, entry.bytes.as_slice()))
    }

    /// The content of a file.
    ///
    /// # Panics
    /// When there is none.
    pub fn get(&self, path: &str) -> &[u8] {
        &self.0.get(path).unwrap_or_else(|| panic!("no {path}")).bytes
    }

    /// Not one byte was written, not even the same one again.
    ///
    /// # Panics
    /// When that is not so.
    pub fn assert_untouched(&self, later: &Self) {
        self.assert_by(later, |before, after| before == after);
    }

    /// Same files, same permissions, same bytes.
    ///
    /// # Panics
    /// When that is not so.
    pub fn assert_same(&self, other: &Self) {
        self.assert_by(other, |one, two| one.mode == two.mode && one.bytes == two.bytes);
    }

    /// Paths whose content differs, or that only one side has.
    pub fn changes(&self, later: &Self) -> Vec<String> {
        self.differing(later, |one, two| one.bytes == two.bytes)
    }

    fn assert_by(&self, other: &Self, same: fn(&Entry, &Entry) -> bool) {
        let differing = self.differing(other, same);
        assert!(differing.is_empty(), "these differ: {differing:#?}");
    }

    fn differing(&self, other: &Self, same: fn(&Entry, &Entry) -> bool) -> Vec<String> {
        let mut paths: Vec<&String> = self.0.keys().chain(other.0.keys()).collect();
        paths.sort();
        paths.dedup();
        let differs = |path: &&String| match (self.0.get(*path), other.0.get(*path)) {
            (Some(one), Some(two)) => !same(one, two),
            _ => true,
        };
        paths.into_iter().filter(differs).cloned().collect()
    }
}

fn walk(root: &Path, folder: &str, entries: &mut BTreeMap<String, Entry>) {
    for entry in fs::read_dir(root.join(folder)).unwrap() {
        let entry = entry.unwrap();
        let metadata = entry.metadata().unwrap();
        let mut path = format!("{folder}{}", entry.file_name().to_str().unwrap());
        let bytes = if metadata.is_dir() {
            path.push('/');
            walk(root, &path, entries);
            Vec::new()
        } else {
            fs::read(entry.path()).unwrap()
        };
        let changed = if metadata.is_dir() { (0, 0) } else { (metadata.mtime(), metadata.mtime_nsec()) };
        entries.insert(path, Entry { mode: metadata.mode() & 0o7777, bytes, inode: metadata.ino(), changed });
    }
}
