//! What machines are installed from.
//!
//! ```text
//! base_image     the live ISO that media are made from                   base_image.rs
//! HostConfig     which config a host is installed with                   host_config.rs
//! HostIso        a medium for one host                                   host_iso.rs
//! BootFolder     what machines boot from over the network                boot_folder.rs
//! MediaSite      whose hosts they are                                    media_site.rs
//! LiveEdits      the live system's image, changed and written            live_iso.rs
//! ```

mod base_image;
mod boot_folder;
mod host_config;
mod host_iso;
mod live_iso;
mod media_site;

pub(crate) use boot_folder::{BootFolderOptions, boot_folder};
pub(crate) use host_config::HostConfig;
pub(crate) use host_iso::{HostIsoOptions, MadeIso, host_isos};
pub(crate) use live_iso::{LiveEdits, open, read, write};
