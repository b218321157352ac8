//! Keeping other hardways out of a working directory.

use std::fs::TryLockError;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::parent_id;
use std::path::Path;
use std::time::Duration;

use fs_err as fs;
use fs_err::os::unix::fs::OpenOptionsExt as _;

use super::{Workdir, at, io};
use crate::report::{Code, Report};

/// Locked while somebody works in the folder. Empty, and left in place: removing it would let two in at once.
pub(crate) const FILE: &str = ".hardway.lock";

/// Held while a command changes the folder. The system releases it when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct FolderLock(
    #[expect(dead_code, reason = "dropping it lets the lock go")] Option<std::fs::File>,
);

impl FolderLock {
    /// Keeps others out from now on, and clears away what a run that was cut off did not finish.
    pub(crate) fn take(workdir: &Workdir) -> Result<Self, Report> {
        let path = workdir.path(FILE);
        let file = fs::OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(&path)
            .map_err(|error| io(&error))?
            .into_parts()
            .0;
        match try_for_a_moment(&file) {
            Ok(()) => {}
            Err(TryLockError::Error(error)) => return Err(at(&path, &error)),
            Err(TryLockError::WouldBlock) => {
                let holder = holder(&file);
                if holder == Some(parent_id().to_string()) {
                    // A step of an install runs this, and holds the folder for it.
                    return Ok(Self(None));
                }
                let who = holder.map(|id| format!(" (process {id})")).unwrap_or_default();
                let what = format!("another hardway{who} is working in {}", workdir.path("").display());
                return Err(Report::new(Code::WorkdirLocked, what)
                    .fix("wait until it has finished; the lock is released when that process ends"));
            }
        }
        workdir.sweep()?;
        Ok(Self(Some(file)))
    }

    /// Whether somebody works in the folder.
    pub(crate) fn is_taken(workdir: &Workdir) -> bool {
        let file = fs::OpenOptions::new().write(true).open(workdir.path(FILE));
        file.is_ok_and(|file| matches!(file.into_parts().0.try_lock(), Err(TryLockError::WouldBlock)))
    }
}

/// The folder itself, locked by whoever serves from it: several may, and nobody puts its journal away meanwhile.
#[derive(Debug)]
pub(crate) struct ServeLock(#[expect(dead_code, reason = "dropping it lets the lock go")] std::fs::File);

impl ServeLock {
    /// Says that the folder is served from now on.
    pub(crate) fn begin(dir: &Path) -> Result<Self, Report> {
        let file = fs::File::open(dir).map_err(|error| io(&error))?.into_parts().0;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => {
                let what = format!("hardway destroy is running in {}", dir.display());
                Err(Report::new(Code::WorkdirLocked, what).fix("wait for it to end"))
            }
            // Where folders cannot be locked, nobody is told.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Self(file)),
        }
    }

    /// Nobody serves from the folder, and nobody begins to before this is dropped.
    pub(crate) fn none(workdir: &Workdir) -> Result<Self, Report> {
        let dir = workdir.path("");
        let file = fs::File::open(&dir).map_err(|error| io(&error))?.into_parts().0;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                let who = holder(&file).map(|id| format!(" (process {id})")).unwrap_or_default();
                let what = format!("hardway serve{who} hands out configs from {}", dir.display());
                Err(Report::new(Code::WorkdirLocked, what).fix("end it first"))
            }
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Self(file)),
        }
    }
}

/// A process that was killed while it started another holds the lock for as long as that takes to begin.
fn try_for_a_moment(file: &std::fs::File) -> Result<(), TryLockError> {
    for _ in 0..20 {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(50)),
            result => return result,
        }
    }
    file.try_lock()
}

/// The process that holds the lock, from a line such as `1: FLOCK  ADVISORY  WRITE 708 fd:00:1234 0 EOF`.
fn holder(file: &std::fs::File) -> Option<String> {
    let inode = file.metadata().ok()?.ino().to_string();
    let locks = fs::read_to_string("/proc/locks").ok()?;
    let line = locks.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()).find(|words| {
        words.get(1) == Some(&"FLOCK") && words.get(5).is_some_and(|w| w.rsplit(':').next() == Some(&inode))
    })?;
    line.get(4).filter(|id| **id != "0").map(|id| (*id).to_owned())
}
