//! `hardway release info|extract|mirror|media`

mod extract;
mod inclusion;
mod info;
mod media;
mod mirror;

use hardway_release::{Contents, FetchOptions, FetchedRelease, PullSpec, PullSpecError, fetch};

use crate::cli::{AccessArgs, Global, ReleaseArgs, ReleaseVerb};
use crate::inputs::Workdir;
use crate::release::{Logins, check_signature, fetch_options, registry_report};
use crate::report::{Code, Exit, Report};
use crate::runtime;
use crate::terminal::{Downloads, Output};

/// Looks into a release image, or copies it.
pub(crate) fn run(global: &Global, args: &ReleaseArgs, out: &Output) -> Result<Exit, Report> {
    match &args.verb {
        ReleaseVerb::Extract(args) => extract::run(global, args, out),
        ReleaseVerb::Info(args) => info::run(global, args, out),
        ReleaseVerb::Media(args) => media::run(global, args, out),
        ReleaseVerb::Mirror(args) => mirror::run(global, args, out),
    }
}

/// A release that was fetched, and how.
struct Opened {
    release: FetchedRelease,
    options: FetchOptions,
    progress: Downloads,
}

impl Opened {
    /// Fetches a release and checks who signed it. `also` is what else the command line names.
    fn fetch(
        global: &Global,
        pull_spec: &str,
        access: &AccessArgs,
        contents: Contents,
        also: Option<&PullSpec>,
        out: &Output,
    ) -> Result<Self, Report> {
        let image: PullSpec = pull_spec.parse().map_err(|error| bad_pull_spec(&error))?;
        let named: Vec<&PullSpec> = std::iter::once(&image).chain(also).collect();
        let options = FetchOptions { contents, ..options(global, access, &named, out)? };
        if options.mirrors.are_passed_by(&image) {
            out.warn(&format!(
                "the mirrors of install-config.yaml are asked for digests only, and {image} is a tag: its own registry is asked"
            ));
        }
        let progress = Downloads::new(out);
        let release = runtime::block_on(fetch(&image, &options, &progress))?
            .map_err(|error| registry_report(&error))?;
        if release.pulled_from.name() != release.image.name() {
            out.info(&format!("{} was fetched from {}", image, release.pulled_from.name()));
        }
        check_signature(&(&access.signature).into(), &image, release.image.digest.as_ref(), &options, out)?;
        Ok(Self { release, options, progress })
    }
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
