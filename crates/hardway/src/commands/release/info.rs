//! `hardway release info`: what a release says about itself.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use hardway_assets::release_payload::{self, ReleasePayload, SAMPLE};
use hardway_release::media::{BootImages, Media, MediaFile};
use hardway_release::{Contents, ReleaseInfo, release_info};

use serde_json::json;

use super::Opened;
use crate::cli::{Format, Global, InfoArgs};
use crate::release::unusable;
use crate::report::{Exit, Report};
use crate::terminal::Output;

/// Only the last layer is fetched; nothing at all for the release that this program carries.
pub(super) fn run(global: &Global, args: &InfoArgs, out: &Output) -> Result<Exit, Report> {
    if args.pull_spec == SAMPLE {
        show_sample(args.output, out);
        return Ok(Exit::Done);
    }
    let opened = Opened::fetch(global, &args.pull_spec, &args.access, Contents::Manifests, None, out)?;
    let info = release_info(&opened.release).map_err(|error| unusable(&error))?;
    info.warnings.iter().for_each(|warning| out.warn(warning));
    let boot = boot_image(&opened);
    match args.output {
        Format::Text => out.data(&text(&info, boot.as_ref())),
        format => {
            let mut value = info.to_json();
            if let Some(MediaFile { location, sha256, .. }) = &boot {
                value["bootImage"] = json!({"location": location, "sha256": sha256});
            }
            out.value(&value, format);
        }
    }
    Ok(Exit::Done)
}

/// The live ISO that belongs to it. Nodes take the release's own operating system at their first boot, but not from just any image.
fn boot_image(opened: &Opened) -> Option<MediaFile> {
    let images = BootImages::read(opened.release.boot_images()?).ok()?;
    match images.find(&opened.options.architecture, "iso").ok()? {
        Media::Files(files) => files.into_iter().find(|file| file.part == "disk"),
        Media::Image(_) => None,
    }
}

/// The made-up release, as far as it says the same things as a real one.
fn show_sample(format: Format, out: &Output) {
    let release = release_payload::sample();
    let images: BTreeMap<&str, &str> = release.images.iter().collect();
    if format != Format::Text {
        let ReleasePayload { image, version, architecture, .. } = &release;
        let value = json!({"image": image, "version": version, "architecture": architecture, "isSample": true, "images": images});
        out.value(&value, format);
        return;
    }
    let mut text = format!(
        "version       {}\nimage         {}\n\nAn example release built into hardway: its images are in no registry, and no \
         machine can boot from it.\n\n",
        release.version, release.image
    );
    let width = images.keys().map(|name| name.len()).max().unwrap_or_default();
    for (name, image) in images {
        let _ = writeln!(text, "{name:width$}  {image}");
    }
    out.data(&text);
}

/// The fields and their order are those of `oc adm release info`.
fn text(info: &ReleaseInfo, boot: Option<&MediaFile>) -> String {
    let mut text = String::new();
    let mut row = |key: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(text, "{key:13} {value}");
        }
    };
    row("version", &info.version);
    row("image", &info.image.to_string());
    row("digest", &info.image.digest.as_ref().map(ToString::to_string).unwrap_or_default());
    row("created", info.created.as_deref().unwrap_or_default());
    let platform = format!("{}/{}", info.os, info.architecture);
    row("architecture", &if info.is_multi { format!("multi ({platform})") } else { platform });
    row("manifests", &info.manifests.to_string());
    row("upgrades", &info.upgrades.join(", "));
    info.metadata.iter().for_each(|(key, value)| row("metadata", &format!("{key} {value}")));
    for (name, component) in &info.component_versions {
        row("component", format!("{name} {} {}", component.version, component.display_name).trim_end());
    }
    row("boot image", boot.map(|file| file.location.as_str()).unwrap_or_default());
    let width = info.images.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    text.push('\n');
    for (name, image) in info.images.iter() {
        let _ = writeln!(text, "{name:width$}  {image}");
    }
    text
}
