//! Which boot images go into a bundle.

use hardway_assets::inventory::Provider;
use hardway_assets::yaml;
use hardway_machines::providers::{Installs, descriptor};
use hardway_release::media::{BootImages, Media, MediaFile};

use super::Opened;
use super::media::{no_metadata, none};
use crate::cli::{BundleArgs, Global};
use crate::inputs::Workdir;
use crate::report::{Code, Report};
use crate::terminal::Output;

/// Those that are asked for, or else what the machines of the inventory are installed from.
pub(super) fn wanted_media(
    global: &Global,
    args: &BundleArgs,
    opened: &Opened,
    out: &Output,
) -> Result<Vec<MediaFile>, Report> {
    let is_asked = !args.media.is_empty();
    let formats = match is_asked {
        true => args.media.clone(),
        false => of_machines(global)?.into_iter().map(str::to_owned).collect(),
    };
    let formats: Vec<String> = formats.into_iter().filter(|format| format != "none").collect();
    if formats.is_empty() {
        if !is_asked {
            out.info("the bundle contains no boot images; --media iso adds one");
        }
        return Ok(Vec::new());
    }
    let Some(text) = opened.release.boot_images() else {
        return Err(no_metadata(&opened.release.image.to_string()));
    };
    let images = match &args.stream {
        Some(stream) => BootImages::read_named(text, stream),
        None => BootImages::read(text),
    };
    let images = images.map_err(|error| none(&error))?;
    let mut files = Vec::new();
    for format in &formats {
        match images.find(&opened.options.architecture, format).map_err(|error| none(&error))? {
            Media::Files(found) => files.extend(found),
            Media::Image(image) => {
                let what =
                    format!("{} provides {format} as {}: it cannot be carried", image.platform, image.name);
                return Err(Report::new(Code::Usage, what).fix("name another format with --media, or none"));
            }
        }
    }
    Ok(files)
}

/// The format that the inventory's machines need, where there is an inventory that says so.
fn of_machines(global: &Global) -> Result<Option<&'static str>, Report> {
    let text = Workdir::open(&global.dir)?.text("inventory.yaml")?.unwrap_or_default();
    let inventory = yaml::read(&text).map(|node| node.to_json()).unwrap_or_default();
    let provider = inventory["machines"]["provider"].as_str().and_then(Provider::named);
    let is_installed = |provider| descriptor(provider).installs == Installs::FromMedia;
    Ok(provider.is_some_and(is_installed).then_some("iso"))
}
