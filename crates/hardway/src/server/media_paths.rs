//! Under which paths the media of a folder are served.

use std::path::PathBuf;

use hardway_assets::ignition::TokenKey;
use hardway_assets::secrets::{SecretBundle, TOKEN_KEY};
use hardway_assets::work_paths;
use hardway_base::Secret;
use hardway_journal::FILE_NAME;
use hardway_machines::media_paths::MediaPaths;

use crate::inputs::Workdir;
use crate::report::{Code, Report};

/// The paths, by the folder's key. A folder whose machines fetch nothing from the ignition server may have none yet: it is drawn.
pub(crate) fn media_paths(workdir: &Workdir) -> Result<MediaPaths, Report> {
    let on_disk = workdir.secrets()?;
    let mut secrets = on_disk.clone();
    secrets.draw_token_key();
    workdir.write_secrets(&on_disk, &secrets)?;
    // As it lies on the disk, where whoever inserts a medium reads it.
    by_key_of(workdir, &workdir.secrets()?)
}

/// The same for whoever only looks: nothing where no key was drawn yet.
pub(crate) fn drawn_media_paths(workdir: &Workdir) -> Result<Option<MediaPaths>, Report> {
    let secrets = workdir.secrets()?;
    match secrets.files().any(|(name, _)| name == TOKEN_KEY) {
        true => by_key_of(workdir, &secrets).map(Some),
        false => Ok(None),
    }
}

fn by_key_of(workdir: &Workdir, secrets: &SecretBundle) -> Result<MediaPaths, Report> {
    let key = secrets.get(TOKEN_KEY).map_err(|error| Report::from_error(Code::SecretsDamaged, &error))?;
    Ok(MediaPaths::new(TokenKey::new(key), &workdir.path(FILE_NAME)))
}

/// Where a host's ISO lies.
pub(crate) fn iso(workdir: &Workdir, host: &str) -> PathBuf {
    workdir.path(&work_paths::iso(host))
}

/// The path of a host's ISO. Nothing for one that is not there, or that nobody needs any more.
pub(crate) fn path_of_iso(
    workdir: &Workdir,
    paths: &MediaPaths,
    host: &str,
) -> Result<Option<Secret>, Report> {
    paths.of(host, &iso(workdir, host)).map_err(|error| Report::from_error(Code::WorkdirUnusable, &error))
}
