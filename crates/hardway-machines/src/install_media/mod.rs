//! Install media: live ISOs with a host's config inside, and what machines that boot from the network are told.
//!
//! ```text
//! live_iso.rs          an image, what is embedded in it, copies with something else embedded
//! iso9660.rs           finding a file in an image
//! initrd.rs, cpio.rs   the format of the embed area
//! kernel_arguments.rs  the areas in the boot menus
//! patch.rs             a copy with some bytes changed
//! boot_folder.rs       a folder that machines boot from over HTTP, the files that go there, and what to answer each machine
//! ```

mod boot_folder;
mod cpio;
mod error;
mod initrd;
mod iso9660;
mod kernel_arguments;
mod live_iso;
mod patch;

pub use boot_folder::{
    BOOT_EFI, BOOT_HOSTS, BOOT_INDEX, BootAnswer, BootFolder, PXE_FILES, extract_pxe_files,
};
pub use cpio::CpioError;
pub use error::MediaError;
pub use initrd::InitrdError;
pub use iso9660::Image;
pub use kernel_arguments::KernelArgumentEdits;
pub use live_iso::{Features, LiveIso, Prepared};
