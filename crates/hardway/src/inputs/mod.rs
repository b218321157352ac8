//! The working folder, and the files that a person writes into it.

mod folder_lock;
mod hosted_file;
mod input_file;
mod input_files;
mod mistakes;
mod redact;
mod workdir;

pub(crate) use folder_lock::{FolderLock, ServeLock};
pub(crate) use hosted_file::{HostedFile, HostedFindings};
pub(crate) use input_file::InputFile;
pub(crate) use input_files::{InputFiles, InputStamp};
pub(crate) use mistakes::{
    Purpose, architecture_in, check_before, invalid, release_image, unready_note, version_in,
};
pub(crate) use workdir::{LOCK, Workdir, at, io, secrets_missing};
