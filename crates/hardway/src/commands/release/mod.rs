//! `hardway release bundle|extract|info|media|mirror|serve`

mod bundle;
mod bundle_media;
mod extract;
mod inclusion;
mod info;
mod media;
mod mirror;
mod registry_certificate;
mod serve;

pub(super) use mirror::failed as mirror_failed;

use hardway_assets::inventory::document;
use hardway_assets::release_payload::{ReleaseWord, SAMPLE};
use hardway_release::{Contents, FetchOptions, FetchedRelease, PullSpec, PullSpecError, fetch, release_info};

use crate::cli::{AccessArgs, Global, ReleaseArgs, ReleaseVerb};
use crate::inputs::Workdir;
use crate::project::{OwnImage, own_images};
use crate::release::{Logins, WordSources, check_signature, fetch_options, not_meant, registry_report};
use crate::report::{Code, Exit, Report};
use crate::runtime;
use crate::terminal::{Downloads, Output};

/// Looks into a release image, or copies it.
pub(crate) fn run(global: &Global, args: &ReleaseArgs, out: &Output) -> Result<Exit, Report> {
    match &args.verb {
        ReleaseVerb::Bundle(args) => bundle::run(global, args, out),
        ReleaseVerb::Extract(args) => extract::run(global, args, out),
        ReleaseVerb::Info(args) => info::run(global, args, out),
        ReleaseVerb::Media(args) => media::run(global, args, out),
        ReleaseVerb::Mirror(args) => mirror::run(global, args, out),
        ReleaseVerb::Serve(args) => serve::run(global, args, out),
    }
}

/// A release that was fetched, and how.
pub(super) struct Opened {
    pub(super) release: FetchedRelease,
    pub(super) options: FetchOptions,
    pub(super) progress: Downloads,
}

impl Opened {
    /// Fetches a release and checks who signed it. `also` is what else the command line names.
    pub(super) fn fetch(
        global: &Global,
        pull_spec: &str,
        access: &AccessArgs,
        contents: Contents,
        also: Option<&PullSpec>,
        out: &Output,
    ) -> Result<Self, Report> {
        if pull_spec == SAMPLE {
            return Err(Report::new(
                Code::Usage,
                "the sample release is built into hardway, and no registry has it",
            )
            .fix("name a release by its pull spec; `hardway release info sample` shows the sample"));
        }
        let image = match ReleaseWord::read(pull_spec) {
            None => pull_spec.parse().map_err(|error| bad_pull_spec(&error))?,
            Some(word) => {
                let workdir = Workdir::open(&global.dir)?;
                let (sources, config) = (WordSources::of(&workdir), workdir.text("install-config.yaml")?);
                let registry = (&access.registry).into();
                let mut asked = sources.options(&registry, config.as_deref(), Logins::OfHost, out)?;
                if let Some(architecture) = &access.arch {
                    asked.architecture = go_name(architecture).to_owned();
                }
                sources.resolve(&word, pull_spec, &asked, out)?.image
            }
        };
        let named: Vec<&PullSpec> = std::iter::once(&image).chain(also).collect();
        let options = FetchOptions { contents, ..options(global, access, &named, out)? };
        if options.mirrors.are_passed_by(&image) {
            out.warn(&format!(
                "mirrors in install-config.yaml serve digests only, and {image} is a tag: using its own registry"
            ));
        }
        let progress = Downloads::new(out);
        let release = runtime::block_on(fetch(&image, &options, &progress))?
            .map_err(|error| registry_report(&error))?;
        if release.pulled_from.name() != release.image.name() {
            out.info(&format!("{} was fetched from {}", image, release.pulled_from.name()));
        }
        check_signature(&(&access.signature).into(), &image, release.image.digest.as_ref(), &options, out)?;
        // Of OKD a tag was asked for, and no version.
        if let Some(word) = ReleaseWord::read(pull_spec).filter(|word| !word.channels().is_empty())
            && let Ok(info) = release_info(&release)
            && word.best([info.version.as_str()]).is_none()
        {
            return Err(not_meant(&image.to_string(), pull_spec, &info.version));
        }
        Ok(Self { release, options, progress })
    }
}

/// Images that somebody's own manifests name: they are wanted wherever the release is. Says which.
fn others(global: &Global, out: &Output) -> Result<Vec<OwnImage>, Report> {
    let (own, unknown) = own_images(&Workdir::open(&global.dir)?)?;
    if !own.is_empty() {
        let images = if own.len() == 1 { "1 image" } else { "images" };
        let count = if own.len() == 1 { String::new() } else { format!("{} ", own.len()) };
        let names: Vec<String> = own.iter().map(|own| format!("{} ({})", own.image, own.place)).collect();
        out.info(&format!("with {count}{images} of your manifests: {}", names.join(", ")));
    }
    for what in unknown {
        out.warn(&format!("{what}: it does not go along"));
    }
    for own in own.iter().filter(|own| own.image.digest.is_none()) {
        out.warn(&format!(
            "{}: {} is a tag: mirrors for digests do not serve it; write its digest there, or add an ImageTagMirrorSet",
            own.place, own.image
        ));
    }
    Ok(own)
}

/// How to reach the registries of some images.
fn options(
    global: &Global,
    access: &AccessArgs,
    named: &[&PullSpec],
    out: &Output,
) -> Result<FetchOptions, Report> {
    let config = Workdir::open(&global.dir)?.text("install-config.yaml")?;
    let mut options =
        fetch_options(&(&access.registry).into(), config.as_deref(), named, Logins::OfHost, out)?;
    if let Some(architecture) = &access.arch {
        options.architecture = go_name(architecture).to_owned();
    }
    Ok(options)
}

/// The release of the working folder.
fn of_inventory(global: &Global) -> Result<String, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let named = "pass a pull spec or --release-dir";
    let shown = workdir.shown("inventory.yaml");
    let text =
        workdir.text("inventory.yaml").map_err(|report| Report::new(Code::InventoryInvalid, report.what))?;
    let Some(text) = text else {
        return Err(
            Report::new(Code::ConfigMissing, format!("no {shown} to take the release from")).fix(named)
        );
    };
    let inventory = document(&text).map(|node| node.to_json()).unwrap_or_default();
    match inventory["release"]["image"].as_str() {
        // What a word was resolved to is what the files were made from.
        Some(image) if ReleaseWord::read(image).is_some() => {
            let locked = workdir.locked_release()?.filter(|locked| locked.asked == image);
            Ok(locked.map_or_else(|| image.to_owned(), |locked| locked.image))
        }
        Some(image) => Ok(image.to_owned()),
        None => Err(Report::new(Code::InventoryInvalid, format!("{shown} names no release")).fix(named)),
    }
}

/// Tags say `x86_64` where images say `amd64`.
fn go_name(architecture: &str) -> &str {
    match architecture {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

fn bad_pull_spec(error: &PullSpecError) -> Report {
    Report::from_error(Code::Usage, error)
}
