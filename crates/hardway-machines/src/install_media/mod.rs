//! Install media: live ISOs with a host's config inside, and what machines that boot from the network are told.
//!
//! ```text
//! live_iso.rs          an image, what is embedded in it, copies with something else embedded
//! iso9660.rs           finding a file in an image
//! initrd.rs, cpio.rs   the format of the embed area
//! kernel_arguments.rs  the areas in the boot menus
//! patch.rs             a copy with some bytes changed
//! ```

mod cpio;
mod error;
mod initrd;
mod iso9660;
mod kernel_arguments;
mod live_iso;
mod patch;

pub use error::MediaError;
pub use iso9660::Image;
pub use kernel_arguments::KernelArgumentEdits;
pub use live_iso::{Features, LiveIso};
