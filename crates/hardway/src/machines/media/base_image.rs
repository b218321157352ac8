//! The live ISO that media are made from.

use std::path::{Path, PathBuf};

use hardway_assets::inventory::Host;
use hardway_assets::work_paths;
use hardway_base::shell_word;
use hardway_release::BlobCache;
use hardway_release::media::{BootImages, Media, MediaFile, boot_images_in, verify};

use super::media_site::MediaSite;
use crate::inputs::Workdir;
use crate::project::Project;
use crate::release::is_sample;
use crate::report::{Code, Report, is_there};
use crate::terminal::Output;

/// The folder in the working folder that media are written to, and that a downloaded image may lie in.
pub(super) const FOLDER: &str = work_paths::MEDIA;

/// The image that the command line names, or the release's where it lies: in the working folder or in the cache, and
/// then compared with its sum.
pub(super) fn find(
    given: Option<&Path>,
    workdir: &Workdir,
    release_dir: Option<&Path>,
    site: &MediaSite,
    out: &Output,
) -> Result<PathBuf, Report> {
    if let Some(given) = given {
        is_there(given)?;
        if let MediaSite::Own(project) = site {
            compare(given, workdir, release_dir, project, out);
        }
        return Ok(given.to_owned());
    }
    let MediaSite::Own(project) = site else {
        return lone_image(workdir, &site.cluster().inventory.hosts, out).ok_or_else(|| of_hosted(workdir));
    };
    let given_release = release_dir;
    let release_dir = release_dir.map_or_else(|| workdir.path(work_paths::RELEASE), Path::to_owned);
    let Some(file) = metadata(&release_dir, &project.release().architecture) else {
        let is_sample = is_sample(&project.cluster().inventory.release.image, given_release)?;
        return lone_image(workdir, &project.cluster().inventory.hosts, out)
            .ok_or_else(|| if is_sample { sample() } else { missing(workdir) });
    };
    let name = file.location.rsplit('/').next().unwrap_or_default();
    let cached = BlobCache::of_user().ok().zip(format!("sha256:{}", file.sha256).parse().ok());
    let cached = cached.map(|(cache, digest)| cache.path(&digest));
    let places = [Some(workdir.path(FOLDER).join(name)), cached];
    let path = places.into_iter().flatten().find(|path| path.is_file()).ok_or_else(|| missing(workdir))?;
    out.info(&format!("using {}", path.display()));
    verify(&path, &file.sha256).map_err(|error| {
        Report::from_error(Code::MediaUnusable, &error).fix(format!(
            "rm {}, and download it again: {}",
            path.display(),
            get(workdir)
        ))
    })?;
    Ok(path)
}

/// Says so where an image that somebody names is not the one that belongs to the release: it may do, and often it does not.
fn compare(given: &Path, workdir: &Workdir, release_dir: Option<&Path>, project: &Project, out: &Output) {
    let release_dir = release_dir.map_or_else(|| workdir.path(work_paths::RELEASE), Path::to_owned);
    let release = project.release();
    let Some(file) = metadata(&release_dir, &release.architecture) else { return };
    if verify(given, &file.sha256).is_err() {
        out.warn(&format!(
            "{} is not the boot image of release {}, which is {}",
            given.display(),
            release.version,
            file.location
        ));
    }
}

/// Paths of flags are as seen from the current folder.
fn get(workdir: &Workdir) -> String {
    format!("hardway release media --format iso --to {}", shell_word(&workdir.shown(FOLDER)))
}

fn sample() -> Report {
    Report::new(Code::MediaMissing, "no live ISO given, and the sample release has none")
        .fix("name a real release in inventory.yaml, or pass a live ISO with --iso for a rehearsal")
}

fn of_hosted(workdir: &Workdir) -> Report {
    let folder = workdir.shown(FOLDER);
    let what = format!("no live ISO given, and there is not exactly one in {folder} beside those of workers");
    Report::new(Code::MediaMissing, what).fix(format!(
        "hardway release media PULLSPEC --format iso --to {}, with the release of the NodePool; or give one with --iso",
        shell_word(&folder)
    ))
}

fn missing(workdir: &Workdir) -> Report {
    Report::new(
        Code::MediaMissing,
        format!("no live ISO given, and the release's is not in {} or in the cache", workdir.shown(FOLDER)),
    )
    .fix(format!("{}, or give one with --iso", get(workdir)))
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
        "using {} without verifying its checksum: the working folder has no boot-image metadata of a release",
        one.display()
    ));
    Some(one.clone())
}
