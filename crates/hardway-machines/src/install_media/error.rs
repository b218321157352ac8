//! Why an image cannot be used, or what does not fit into it.

use std::io;
use std::path::{Path, PathBuf};

use super::initrd::InitrdError;

/// What is wrong with an install medium, or with what should go into it. The program names the file.
#[derive(Debug, thiserror::Error)]
pub enum MediaError {
    /// The embed area holds something that no kernel could unpack.
    #[error("the embed area does not contain an initramfs: {0}")]
    Area(InitrdError),
    /// An area is said to lie where the image has no bytes.
    #[error(
        "{what} should be at {offset}, {length} bytes long, but its file ends at {end}: the image is damaged"
    )]
    AreaOutside {
        /// Such as `the embed area`.
        what: String,
        /// In bytes from the beginning of the image.
        offset: u64,
        /// In bytes.
        length: u64,
        /// Where the bytes end.
        end: u64,
    },
    /// More than the embed area holds, packed as tightly as can be.
    #[error("the data to embed takes {needed} bytes compressed, but the embed area has {capacity}")]
    AreaTooSmall {
        /// Compressed.
        needed: u64,
        /// What there is.
        capacity: u64,
    },
    /// The file system inside contradicts itself.
    #[error("the ISO 9660 file system is damaged: {0}")]
    Damaged(String),
    /// One of the JSON files that describe the image.
    #[error("{file} in the image cannot be used: {reason}")]
    Description {
        /// Such as `coreos/kargs.json`.
        file: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The disk, or the file.
    #[error("{}: {action}", .path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What came of it.
        source: io::Error,
    },
    /// A kernel argument that would not reach the kernel as it is written, or that is to be changed and is not there.
    #[error("kernel argument {argument:?}: {reason}")]
    KernelArgument {
        /// As it was given.
        argument: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// BIOS and EFI would start different systems.
    #[error("the boot menus differ: {first:?}, but at byte {offset} {other:?}")]
    KernelArgumentsDiffer {
        /// Of the first area.
        first: String,
        /// Where another one is.
        offset: u64,
        /// What that one has.
        other: String,
    },
    /// More than the areas in the boot menus hold.
    #[error("the kernel arguments take {needed} bytes, but the boot menus have room for {capacity}")]
    KernelArgumentsTooLong {
        /// With the character that ends them.
        needed: usize,
        /// What there is.
        capacity: usize,
    },
    /// A name that cannot be one of a keyfile.
    #[error("invalid name of a network keyfile: {0:?} must end in .nmconnection and have no slash")]
    KeyfileName(String),
    /// An ISO image, but of something else.
    #[error(
        "volume {volume:?} is not a CoreOS live image: it has neither coreos/igninfo.json nor images/ignition.img"
    )]
    NotCoreOs {
        /// The name that the image gives itself.
        volume: String,
    },
    /// Not an ISO image at all.
    #[error("not an ISO 9660 image: {0}")]
    NotIso(String),
    /// A download that was cut off, or a disk that was full.
    #[error("the image is truncated: expected {expected} bytes, found {found}")]
    Truncated {
        /// What the image itself says.
        expected: u64,
        /// What there is.
        found: u64,
    },
    /// The OS on the image is too old for it.
    #[error("the OS on this image does not support {0}")]
    Unsupported(&'static str),
}

impl MediaError {
    /// For `map_err`: puts the file and what was tried beside an error of the system.
    pub(super) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, action, source }
    }

    /// What to do about it.
    pub fn fix(&self) -> &'static str {
        match self {
            Self::Area(_) | Self::AreaOutside { .. } | Self::Damaged(_) | Self::Description { .. } => {
                "download the image again and compare its sha256 with the release's metadata"
            }
            Self::Truncated { .. } => "download it again: `hardway release media --format iso --to DIR`",
            Self::AreaTooSmall { .. } => {
                "have the machine fetch its config: set ignitionServer.url in inventory.yaml and run `hardway create \
                 ignition-configs`, or pass --ignition-url"
            }
            Self::Io { .. } => "check the path, its permissions and the free disk space",
            Self::KernelArgument { .. } | Self::KernelArgumentsTooLong { .. } => {
                "see what is embedded with `hardway media show ISO`"
            }
            Self::KernelArgumentsDiffer { .. } => "start again from the image as it was downloaded",
            Self::KeyfileName(_) => "rename the file",
            Self::NotCoreOs { .. } | Self::NotIso(_) => {
                "use the live ISO of the release: `hardway release media --format iso`"
            }
            Self::Unsupported(_) => "use the live ISO of the release: `hardway release media --format iso`",
        }
    }
}
