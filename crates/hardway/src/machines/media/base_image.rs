//! The live ISO that media are made from.

use std::path::{Path, PathBuf};

use hardway_assets::inventory::Host;
use hardway_release::BlobCache;
use hardway_release::media::{BootImages, Media, MediaFile, boot_images_in, verify};

use crate::inputs::Workdir;
use crate::project::Project;
use crate::report::{Code, Report, is_there};
use crate::terminal::Output;

/// The folder in the working folder that media are written to, and that a downloaded image may lie in.
pub(super) const FOLDER: &str = "media";

/// The image that the command line names, or the release's where it lies: in the working folder or in the cache, and
/// then compared with its sum.
pub(super) fn find(
    given: Option<&Path>,
    workdir: &Workdir,
    release_dir: Option<&Path>,
    project: &Project,
    out: &Output,
) -> Result<PathBuf, Report> {
    if let Some(given) = given {
        is_there(given)?;
        return Ok(given.to_owned());
    }
    let release_dir = release_dir.map_or_else(|| workdir.path("release"), Path::to_owned);
    let Some(file) = metadata(&release_dir, &project.release().architecture) else {
        return lone_image(workdir, &project.cluster().inventory.hosts, out).ok_or_else(missing);
    };
    let name = file.location.rsplit('/').next().unwrap_or_default();
    let cached = BlobCache::of_user().ok().zip(format!("sha256:{}", file.sha256).parse().ok());
    let cached = cached.map(|(cache, digest)| cache.path(&digest));
    let places = [Some(workdir.path(FOLDER).join(name)), cached];
    let path = places.into_iter().flatten().find(|path| path.is_file()).ok_or_else(missing)?;
    out.info(&format!("using {}", path.display()));
    verify(&path, &file.sha256).map_err(|error| {
        Report::from_error(Code::MediaUnusable, &error)
            .fix(format!("rm {}, and download it again: {GET}", path.display()))
    })?;
    Ok(path)
}

const GET: &str = "hardway release media --format iso --to media";

fn missing() -> Report {
    Report::new(
        Code::MediaMissing,
        "no live ISO given, and none of the release lies in the folder media or in the cache",
    )
    .fix(format!("{GET}, or give one with --iso"))
}

/// What the release says about its live ISO.
fn metadata(release: &Path, architecture: &str) -> Option<MediaFile> {
    let images = BootImages::read(&boot_images_in(release).ok()??).ok()?;
    match images.find(architecture, "iso").ok()? {
        Media::Files(files) => files.into_iter().find(|file| file.part == "disk"),
        Media::Image(_) => None,
    }
}

/// The only image in the folder that is not one of a host.
fn lone_image(workdir: &Workdir, hosts: &[Host], out: &Output) -> Option<PathBuf> {
    let entries = fs_err::read_dir(workdir.path(FOLDER)).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let is_candidate = |path: &PathBuf| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        path.extension().is_some_and(|extension| extension == "iso")
            && hosts.iter().all(|host| host.name != stem)
    };
    let found: Vec<PathBuf> = entries.filter(is_candidate).collect();
    let [one] = &found[..] else { return None };
    out.warn(&format!(
        "using {}, which is not compared with a sum: the working folder's release says nothing about boot images",
        one.display()
    ));
    Some(one.clone())
}
