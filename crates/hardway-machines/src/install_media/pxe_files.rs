//! Kernel, initramfs and root file system of a live ISO, for machines that boot from the network.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use hardway_base::files::Replacement;

use super::error::MediaError;
use super::iso9660::Volume;

/// Their names in the image's folder `images/pxeboot`, and in the folder they are written to.
pub const PXE_FILES: [&str; 3] = ["vmlinuz", "initrd.img", "rootfs.img"];

/// Writes the three files to a folder, each by rename.
pub fn extract_pxe_files(image: &Path, to: &Path) -> Result<(), MediaError> {
    let mut file = File::open(image).map_err(MediaError::io(image, "read"))?;
    let volume = Volume::read(&mut file)?;
    for name in PXE_FILES {
        let extent = volume.find(&mut file, &format!("images/pxeboot/{name}"))?;
        let extent = extent.ok_or_else(|| MediaError::NotCoreOs { volume: volume.id.clone() })?;
        let path = to.join(name);
        // Anybody may read them: a web server will.
        let mut unfinished =
            Replacement::begin(&path, 0o644).map_err(MediaError::io(to, "make a temporary file"))?;
        file.seek(SeekFrom::Start(extent.offset))
            .and_then(|_| io::copy(&mut (&mut file).take(extent.length), unfinished.file()))
            .map_err(MediaError::io(&path, "write"))?;
        unfinished.commit().map_err(MediaError::io(&path, "rename"))?;
    }
    Ok(())
}
