//! `hardway release media`: the boot images of a release.

use std::fmt::Write as _;
use std::path::PathBuf;

use hardway_assets::release_payload::SAMPLE;
use hardway_release::media::{
    BootImages, DownloadError, Media, MediaError, MediaFile, boot_images_in, download,
};
use hardway_release::{Contents, FetchOptions, RegistryError};
use serde_json::{Value, json};

use super::{Opened, of_inventory, options};
use crate::cli::{Format, Global, MediaArgs};
use crate::release::{registry_report, unusable};
use crate::report::{Code, Exit, Report};
use crate::runtime;
use crate::terminal::{Downloads, Output};

pub(super) fn run(global: &Global, args: &MediaArgs, out: &Output) -> Result<Exit, Report> {
    let (text, options) = metadata(global, args, out)?;
    let images = match &args.stream {
        Some(stream) => BootImages::read_named(&text, stream),
        None => BootImages::read(&text),
    };
    let images = images.map_err(|error| none(&error))?;
    let architecture = options.architecture.as_str();
    let Some(format) = &args.format else {
        let formats = images.formats(architecture).map_err(|error| none(&error))?;
        let told = json!({"stream": images.name(), "architecture": architecture, "formats": formats});
        match args.output {
            Format::Text => out.data(&formats.iter().map(|name| format!("{name}\n")).collect::<String>()),
            output => out.value(&told, output),
        }
        return Ok(Exit::Done);
    };
    let media = images.find(architecture, format).map_err(|error| none(&error))?;
    let files = match media {
        Media::Files(files) => files,
        Media::Image(image) if args.to.is_none() => {
            match args.output {
                Format::Text => out.data(&format!("{}\n", image.name)),
                output => out.value(&json!({"platform": image.platform, "image": image.name}), output),
            }
            return Ok(Exit::Done);
        }
        Media::Image(image) => {
            let what = format!(
                "{} provides this image as {}: there is nothing to download",
                image.platform, image.name
            );
            return Err(Report::new(Code::Usage, what));
        }
    };
    let paths = fetch(args, &files, &options, out)?;
    tell(&images, architecture, format, &files, &paths, args.output, out);
    Ok(Exit::Done)
}

/// The boot-image metadata of the release that is meant, and how to reach what it names.
fn metadata(global: &Global, args: &MediaArgs, out: &Output) -> Result<(String, FetchOptions), Report> {
    if let Some(dir) = &args.release_dir {
        let text = boot_images_in(dir).map_err(|error| Report::from_error(Code::Usage, &error))?;
        let text = text.ok_or_else(|| no_metadata(&dir.display().to_string()))?;
        return Ok((text, options(global, &args.access, &[], out)?));
    }
    let image = match &args.pull_spec {
        Some(image) => image.clone(),
        None => match of_inventory(global)? {
            image if image == SAMPLE => {
                return Err(Report::new(Code::MediaNotFound, "the sample release has no boot images")
                    .fix("name a real release: hardway release media PULLSPEC"));
            }
            image => image,
        },
    };
    let opened = Opened::fetch(global, &image, &args.access, Contents::Manifests, None, out)?;
    let text = opened.release.boot_images().ok_or_else(|| no_metadata(&image))?.to_owned();
    Ok((text, opened.options))
}

/// Where each file is now; nothing without `--to`.
fn fetch(
    args: &MediaArgs,
    files: &[MediaFile],
    options: &FetchOptions,
    out: &Output,
) -> Result<Vec<PathBuf>, Report> {
    let Some(to) = &args.to else { return Ok(Vec::new()) };
    let progress = Downloads::new(out);
    let all = async {
        let mut paths = Vec::new();
        for file in files {
            let (connection, cache) = (&options.connection, &options.cache);
            paths.push(download(file, to, &args.mirror, connection, cache, &progress).await?);
        }
        Ok(paths)
    };
    runtime::block_on(all)?.map_err(|error| failed(&error))
}

fn tell(
    images: &BootImages,
    architecture: &str,
    format: &str,
    files: &[MediaFile],
    paths: &[PathBuf],
    output: Format,
    out: &Output,
) {
    let path = |i: usize| paths.get(i).map(|path| path.display().to_string());
    if output != Format::Text {
        let files = files.iter().enumerate().map(|(i, file)| {
            let mut told = json!({"part": file.part, "location": file.location, "sha256": file.sha256});
            told["uncompressedSha256"] = file.uncompressed_sha256.clone().map_or(Value::Null, Value::from);
            told["path"] = path(i).map_or(Value::Null, Value::from);
            told
        });
        let files: Vec<_> = files.collect();
        let told =
            json!({"stream": images.name(), "architecture": architecture, "format": format, "files": files});
        return out.value(&told, output);
    }
    let mut text = String::new();
    for (i, file) in files.iter().enumerate() {
        let _ = writeln!(text, "{:9} {}", file.part, file.location);
        let _ = writeln!(text, "sha256    {}", file.sha256);
        if let Some(sum) = &file.uncompressed_sha256 {
            let _ = writeln!(text, "unpacked  {sum}");
        }
        if let Some(path) = path(i) {
            let _ = writeln!(text, "file      {path}");
        }
    }
    out.data(&text);
}

pub(super) fn no_metadata(place: &str) -> Report {
    Report::new(
        Code::MediaNotFound,
        format!("{place} has no boot-image metadata (ConfigMap coreos-bootimages)"),
    )
    .fix("put a live ISO of the same minor version into the folder media, or pass it with hardway media iso --all --iso FILE")
}

pub(super) fn none(error: &MediaError) -> Report {
    match error {
        MediaError::NotStream(_) => unusable(error),
        MediaError::Architecture { .. } | MediaError::Format { .. } | MediaError::Stream { .. } => {
            Report::from_error(Code::MediaNotFound, error)
        }
    }
}

pub(super) fn failed(error: &DownloadError) -> Report {
    let damaged = |tried: &[(String, RegistryError)]| {
        tried.iter().any(|(_, error)| matches!(error, RegistryError::DigestMismatch { .. }))
    };
    match error {
        DownloadError::Nowhere { tried, .. } if !damaged(tried) => match tried.last() {
            Some((_, last)) => Report { what: error.to_string(), ..registry_report(last) },
            None => Report::from_error(Code::RegistryUnreachable, error),
        },
        DownloadError::Nowhere { .. } | DownloadError::Content { .. } => {
            Report::from_error(Code::MediaDamaged, error)
                .fix("try another mirror with --mirror; do not boot from this file")
        }
        DownloadError::Sum { .. } | DownloadError::Name(_) => unusable(error),
        DownloadError::File(_) => Report::from_error(Code::WorkdirUnusable, error),
    }
}
