//! `release/`: the release that the working directory was made from, so that everything in it can be made again
//! without the registry (`--release-dir D/release`).
//!
//! The folder is replaced as a whole, and only while it is as hardway wrote it: `sha256sums` inside says so, in the
//! format that `sha256sum -c` reads.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use fs_err as fs;
use hardway_assets::release_payload::{ReleasePayload, files};
use hardway_assets::work_paths;
use hardway_assets::{File, Tree};
use hardway_base::files::{folder_of, sync_folder};
use hardway_base::hex;
use sha2::{Digest as _, Sha256};

use crate::inputs::{Workdir, io};
use crate::report::Report;

/// What is to be done about `release/`.
#[derive(Debug)]
pub(crate) enum KeptRelease {
    /// It holds this release.
    Same,
    /// It holds another one, or nothing.
    Stale(Vec<File>),
    /// Somebody else wrote it, or edited it: it is theirs.
    Foreign,
}

const RENDERED: &str = "release/rendered/";
const SUMS: &str = work_paths::RELEASE_SUMS;
const NEXT: &str = ".hardway-release";
const OLD: &str = ".hardway-release-old";

impl KeptRelease {
    /// Compares what is on disk with the release that was used.
    pub(crate) fn compare(payload: &ReleasePayload, tree: &Tree) -> Self {
        let mut files = files(payload);
        files.push(File::public(
            SUMS,
            sums(files.iter().map(|file| (file.path.as_str(), file.bytes.as_slice()))),
        ));
        let on_disk: BTreeMap<&str, &[u8]> = inside(tree).collect();
        let is_same = files.len() == on_disk.len()
            && files.iter().all(|file| on_disk.get(file.path.as_str()) == Some(&file.bytes.as_slice()));
        if is_same {
            Self::Same
        } else if on_disk.is_empty() || is_ours(&on_disk) {
            Self::Stale(files)
        } else {
            Self::Foreign
        }
    }

    /// Puts the files in place of those that are there. What was rendered goes along.
    pub(crate) fn replace(workdir: &Workdir, files: &[File], tree: &Tree) -> Result<(), Report> {
        let rendered = tree.iter().filter(|(path, _)| path.starts_with(RENDERED));
        let rendered: Vec<File> = rendered.map(|(path, bytes)| File::secret(path, bytes)).collect();
        for file in files.iter().chain(&rendered) {
            let path = file.path.replacen(work_paths::RELEASE, NEXT, 1);
            workdir.write(&File { path, ..file.clone() })?;
        }
        let (folder, old) = (workdir.path(work_paths::RELEASE), workdir.path(OLD));
        if folder.exists() {
            fs::rename(&folder, &old).map_err(|error| io(&error))?;
        }
        fs::rename(workdir.path(NEXT), &folder).map_err(|error| io(&error))?;
        sync_folder(folder_of(&folder)).map_err(|error| io(&error))?;
        remove_if_there(&old)
    }
}

/// What was rendered is kept there too, but is of the graph: it changes without the release.
fn inside(tree: &Tree) -> impl Iterator<Item = (&str, &[u8])> {
    tree.iter().filter(|(path, _)| path.starts_with("release/") && !path.starts_with(RENDERED))
}

/// Nothing added, nothing missing, nothing changed since the sums were written.
fn is_ours(on_disk: &BTreeMap<&str, &[u8]>) -> bool {
    let others = on_disk.iter().filter(|(path, _)| **path != SUMS).map(|(path, bytes)| (*path, *bytes));
    on_disk.get(SUMS).is_some_and(|written| *written == sums(others).as_bytes())
}

fn sums<'f>(files: impl Iterator<Item = (&'f str, &'f [u8])>) -> String {
    let files: BTreeMap<&str, &[u8]> = files.collect();
    let mut text = String::new();
    for (path, bytes) in files {
        let name = path.strip_prefix("release/").unwrap_or(path);
        let sum = hex::encode(Sha256::digest(bytes));
        let _ = writeln!(text, "{sum}  {name}");
    }
    text
}

fn remove_if_there(folder: &Path) -> Result<(), Report> {
    if folder.exists() { fs::remove_dir_all(folder).map_err(|error| io(&error)) } else { Ok(()) }
}
