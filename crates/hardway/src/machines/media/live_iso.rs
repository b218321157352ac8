//! The live system's image: opened, changed and written somewhere else.

use std::path::{Path, PathBuf};

use hardway_machines::install_media::{KernelArgumentEdits, LiveIso, MediaError};

use crate::inputs::io;
use crate::report::{Code, Report, is_there};

/// What is changed in the live system itself.
#[derive(Debug)]
pub(crate) struct LiveEdits {
    /// Files of NetworkManager, by their names.
    pub(crate) keyfiles: Vec<PathBuf>,
    pub(crate) kernel_arguments: KernelArgumentEdits,
}

impl LiveEdits {
    /// Puts them into an image.
    pub(crate) fn apply(&self, iso: &mut LiveIso, image: &Path) -> Result<(), Report> {
        for file in &self.keyfiles {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            iso.set_keyfile(&name, read(file)?).map_err(|error| unusable(image, &error))?;
        }
        iso.edit_kernel_arguments(&self.kernel_arguments).map_err(|error| unusable(image, &error))
    }
}

/// Opens an image that the command line names.
pub(crate) fn open(image: &Path) -> Result<LiveIso, Report> {
    is_there(image)?;
    LiveIso::open(image).map_err(|error| unusable(image, &error))
}

/// Gives how much is embedded. A copy over the image itself would be a change of it.
pub(crate) fn write(iso: &LiveIso, image: &Path, to: &Path) -> Result<u64, Report> {
    if to.canonicalize().is_ok_and(|to| image.canonicalize().is_ok_and(|image| image == to)) {
        let what = format!("{} would overwrite itself", image.display());
        return Err(Report::new(Code::Usage, what).fix("choose another path with --to"));
    }
    let prepared = iso.prepare().map_err(|error| unusable(image, &error))?;
    prepared.write(to).map_err(|error| unusable(image, &error))?;
    Ok(prepared.used())
}

/// A file that the command line names.
pub(crate) fn read(file: &Path) -> Result<Vec<u8>, Report> {
    fs_err::read(file).map_err(|error| Report::from_error(Code::Usage, &error))
}

/// The config that `--config` names; it is one host's.
pub(super) fn given(config: Option<&Path>, hosts: &[String]) -> Result<Option<Vec<u8>>, Report> {
    let Some(config) = config else { return Ok(None) };
    if hosts.len() != 1 {
        let what = format!("{} is the config of one host, but {} are named", config.display(), hosts.len());
        return Err(Report::new(Code::Usage, what).fix("pass --host once"));
    }
    read(config).map(Some)
}

/// A folder that media go to.
pub(super) fn make_folder(folder: &Path) -> Result<(), Report> {
    fs_err::create_dir_all(folder).map_err(|error| io(&error))
}

/// What a medium is not good for, or too small for.
pub(super) fn unusable(image: &Path, error: &MediaError) -> Report {
    let report = match error {
        MediaError::AreaTooSmall { .. } | MediaError::KernelArgumentsTooLong { .. } => {
            Report::from_error(Code::MediaFull, error)
        }
        MediaError::KernelArgument { .. } | MediaError::KeyfileName(_) => {
            return Report::from_error(Code::Usage, error).fix(error.fix());
        }
        _ => Report::from_error(Code::MediaUnusable, error),
    };
    let report = Report { what: format!("{}: {}", image.display(), report.what), ..report };
    report.fix(error.fix())
}
