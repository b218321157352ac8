//! `hardway release mirror`: a release with all its images in another registry, or in a folder on the way there.

use std::path::{Path, PathBuf};

use hardway_release::{
    CarriedImageError, Contents, Destination, MirrorReleaseError, Mirrored, PullSpec, mirror_with,
    mirrored_release, release_info, upload, upload_bundles,
};
use serde_json::json;

use super::bundle::opened;
use super::{Opened, bad_pull_spec, options, others};
use crate::cli::{Format, Global, MirrorArgs};
use crate::release::{check_signature, registry_report, unusable};
use crate::report::{Code, Exit, Report};
use crate::runtime;
use crate::terminal::{Downloads, Output};

/// Standard output carries what belongs into install-config.yaml, and nothing else.
pub(super) fn run(global: &Global, args: &MirrorArgs, out: &Output) -> Result<Exit, Report> {
    let to =
        args.to.as_deref().map(PullSpec::repository).transpose().map_err(|error| bad_pull_spec(&error))?;
    let (release, mirrored) = match (&args.pull_spec, &args.from_dir, &to) {
        (_, _, Some(to)) if !args.from.is_empty() => from_bundles(global, args, &args.from, to, out)?,
        (_, Some(from), Some(to)) => from_folder(global, args, from, to, out)?,
        (Some(pull_spec), None, _) => from_registry(global, args, pull_spec, to.as_ref(), out)?,
        _ => return Err(Report::new(Code::Usage, "pass a pull spec, or --from or --from-dir with --to")),
    };
    let place = match (&to, &args.to_dir) {
        (Some(to), _) => to.name(),
        (None, Some(folder)) => folder.display().to_string(),
        (None, None) => String::new(),
    };
    let Mirrored { images, copied, .. } = &mirrored;
    out.info(&format!("{release} is in {place}: {images} images, {copied} of them new"));
    if let Some(folder) = &args.to_dir {
        let folder = folder.display();
        out.info(&format!(
            "carry the folder to the other side, then run: hardway release mirror --from-dir {folder} --to REGISTRY/REPOSITORY"
        ));
    }
    tell(&release, &place, &mirrored, args.output, out);
    Ok(Exit::Done)
}

fn tell(release: &str, place: &str, mirrored: &Mirrored, format: Format, out: &Output) {
    let sources = json!(mirrored.image_digest_sources);
    if format != Format::Text {
        let told = json!({
            "release": release,
            "to": place,
            "images": mirrored.images,
            "copied": mirrored.copied,
            "imageDigestSources": sources,
        });
        out.value(&told, format);
    } else if !mirrored.image_digest_sources.is_empty() {
        out.info("for install-config.yaml:");
        out.value(&json!({"imageDigestSources": sources}), Format::Yaml);
    }
}

fn from_registry(
    global: &Global,
    args: &MirrorArgs,
    pull_spec: &str,
    to: Option<&PullSpec>,
    out: &Output,
) -> Result<(String, Mirrored), Report> {
    let opened = Opened::fetch(global, pull_spec, &args.access, Contents::Manifests, to, out)?;
    let info = release_info(&opened.release).map_err(|error| unusable(&error))?;
    let destination = match (to, &args.to_dir) {
        (Some(to), _) => Destination::Repository(to.clone()),
        (None, folder) => Destination::Folder(folder.clone().unwrap_or_default()),
    };
    out.info(&format!("copying release {}: {} images", info.version, info.images.iter().count() + 1));
    let others: Vec<PullSpec> = others(global, out)?.into_iter().map(|own| own.image).collect();
    let copy = mirror_with(&opened.release, &others, &destination, &opened.options, &opened.progress);
    let mirrored = runtime::block_on(copy)?.map_err(|error| failed(&error))?;
    Ok((info.image.to_string(), mirrored))
}

fn from_folder(
    global: &Global,
    args: &MirrorArgs,
    from: &Path,
    to: &PullSpec,
    out: &Output,
) -> Result<(String, Mirrored), Report> {
    let options = options(global, &args.access, &[to], out)?;
    let (tag, digest) = mirrored_release(from).map_err(|error| registry_report(&error))?;
    let image = PullSpec { tag: Some(tag), digest: None, ..to.clone() };
    check_signature(&(&args.access.signature).into(), &image, Some(&digest), &options, out)?;
    let mirrored = runtime::block_on(upload(from, to, &options, &Downloads::new(out)))?
        .map_err(|error| failed(&error))?;
    Ok((image.at(&digest).to_string(), mirrored))
}

/// All of it is read before anything is pushed: half a release in a registry looks like a whole one.
fn from_bundles(
    global: &Global,
    args: &MirrorArgs,
    from: &[PathBuf],
    to: &PullSpec,
    out: &Output,
) -> Result<(String, Mirrored), Report> {
    let options = options(global, &args.access, &[to], out)?;
    let bundles = opened(from, &(&args.access.signature).into(), out)?;
    let release: PullSpec = bundles.first().contents().release.parse().map_err(|error| unusable(&error))?;
    let mirrored = runtime::block_on(upload_bundles(&bundles, to, &options, &Downloads::new(out)))?
        .map_err(|error| failed(&error))?;
    let image = release.digest.as_ref().map_or_else(|| to.clone(), |digest| to.at(digest));
    Ok((image.to_string(), mirrored))
}

/// What to say of a release that was not copied whole.
pub(in crate::commands) fn failed(error: &MirrorReleaseError) -> Report {
    match error {
        MirrorReleaseError::Images(error) => image_report(error),
        MirrorReleaseError::Destination(error) => registry_report(error),
    }
}

/// What is wrong with an image on its way, or with the release that names it.
pub(super) fn image_report(error: &CarriedImageError) -> Report {
    match error {
        CarriedImageError::Release(error) => unusable(error),
        CarriedImageError::PullSpec(error) => unusable(error),
        CarriedImageError::Image { name, error } => {
            let report = registry_report(error);
            Report { what: format!("{name}: {}", report.what), ..report }
        }
    }
}
