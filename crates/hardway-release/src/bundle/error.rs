//! What can be wrong with a bundle, by the name of the part that is.

use std::io;
use std::path::PathBuf;

use super::contents::NeededBundle;
use crate::carried_images::CarriedImageError;
use crate::media::DownloadError;
use crate::signature::SignatureError;

/// A bundle that cannot be written or used.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// It is no bundle at all, or one of a later hardway.
    #[error("{} is not a bundle: {detail}", .path.display())]
    NotBundle {
        /// The file.
        path: PathBuf,
        /// Why.
        detail: String,
    },
    /// The file ends too early.
    #[error("{} is cut off within {part}: it has {found} of {expected} bytes", .path.display())]
    Cut {
        /// The file.
        path: PathBuf,
        /// The first part that is not whole.
        part: String,
        /// Bytes in the file.
        found: u64,
        /// Bytes that it should have.
        expected: u64,
    },
    /// A part is not what the list of parts says.
    #[error("{}: {part} is damaged: {detail}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Which.
        part: String,
        /// In which way.
        detail: String,
    },
    /// What the bundle leaves out is in none of the files.
    #[error("{} leaves out {count} parts that another bundle has ({}), and no file here has {part}", .path.display(), named(.needs))]
    Elsewhere {
        /// The file.
        path: PathBuf,
        /// How many parts.
        count: usize,
        /// One of them.
        part: String,
        /// The bundles it was made after.
        needs: Vec<NeededBundle>,
    },
    /// An image without one of its blobs.
    #[error("{image} needs {blob}, which no file here has")]
    Incomplete {
        /// Its name.
        image: String,
        /// Digest of the blob.
        blob: String,
    },
    /// There is a file of that name already, and it is something else.
    #[error("{} already exists, and is {other}", .path.display())]
    Occupied {
        /// The file.
        path: PathBuf,
        /// What it is.
        other: String,
    },
    /// Another process writes it.
    #[error("another hardway is writing {}", .0.display())]
    Locked(PathBuf),
    /// The release, or one of its images.
    #[error(transparent)]
    Images(#[from] CarriedImageError),
    /// A boot image could not be fetched.
    #[error(transparent)]
    Media(#[from] DownloadError),
    /// Its name does not fit into a bundle.
    #[error("{0:?} cannot be the name of a part")]
    Name(String),
    /// Signatures could not be fetched.
    #[error(transparent)]
    Signature(#[from] SignatureError),
    /// A file here.
    #[error("{0}")]
    File(#[from] io::Error),
}

fn named(needs: &[NeededBundle]) -> String {
    let needs: Vec<String> =
        needs.iter().map(|needed| format!("that of {}, {}", needed.version, needed.id)).collect();
    needs.join("; ")
}
