//! `hardway release info|extract`

use std::fmt::Write as _;
use std::path::Path;

use hardway_release::{
    Contents, FetchOptions, InfoError, PullSpec, PullSpecError, Silent, blocking, extract, extract_file,
    fetch, info,
};

use crate::cli::{Format, Global, ReleaseArgs, ReleaseSource, ReleaseVerb};
use crate::output::Output;
use crate::registry_access::{Logins, fetch_options};
use crate::registry_report::registry_report;
use crate::report::{EXIT_USAGE, Report};
use crate::workdir::Workdir;

/// Looks into a release image; only its last layer is fetched.
pub(crate) fn run(global: &Global, args: &ReleaseArgs, out: &Output) -> Result<u8, Report> {
    match &args.verb {
        ReleaseVerb::Extract { source, to, file } => match file {
            Some(file) => print_file(global, source, file, out),
            None => write_all(global, source, to.as_deref(), out),
        },
        ReleaseVerb::Info { source, output } => tell(global, source, *output, out),
    }
}

fn tell(global: &Global, source: &ReleaseSource, format: Format, out: &Output) -> Result<u8, Report> {
    let (image, options) = prepared(global, source, Contents::Manifests, out)?;
    let found = wait(info(&image, &options, &Silent))?.map_err(|error| match error {
        InfoError::Registry(error) => registry_report(&error),
        InfoError::Release(error) => Report::from_error("release-unusable", &error),
    })?;
    found.warnings.iter().for_each(|warning| out.warn(warning));
    if format != Format::Text {
        out.value(&found.to_json(), format);
        return Ok(0);
    }
    let mut text = format!(
        "version       {}\nimage         {}\narchitecture  {}\n",
        found.version, found.image, found.architecture
    );
    for (name, component) in &found.component_versions {
        let _ = writeln!(text, "component     {name} {} {}", component.version, component.display_name);
    }
    let _ = writeln!(text, "manifests     {}\n", found.manifests);
    for (name, image) in found.images.iter() {
        let _ = writeln!(text, "{name:50} {image}");
    }
    out.data(&text);
    Ok(0)
}

fn write_all(global: &Global, source: &ReleaseSource, to: Option<&Path>, out: &Output) -> Result<u8, Report> {
    let to = to.ok_or_else(|| Report::new("usage", "where to? give --to DIR").exit(EXIT_USAGE))?;
    let (image, options) = prepared(global, source, Contents::Payload, out)?;
    let release = wait(fetch(&image, &options, &Silent))?.map_err(|error| registry_report(&error))?;
    let extracted =
        extract(&release, to, None).map_err(|error| Report::from_error("release-unusable", &error))?;
    out.info(&format!("{} files written to {}", extracted.written.len(), to.display()));
    out.info(&format!("use them with: hardway create ignition-configs --release-dir {}", to.display()));
    Ok(0)
}

fn print_file(global: &Global, source: &ReleaseSource, file: &str, out: &Output) -> Result<u8, Report> {
    let (image, options) = prepared(global, source, Contents::Manifests, out)?;
    let release = wait(fetch(&image, &options, &Silent))?.map_err(|error| registry_report(&error))?;
    let bytes =
        extract_file(&release, file).map_err(|error| Report::from_error("release-unusable", &error))?;
    out.data(&String::from_utf8_lossy(bytes));
    Ok(0)
}

/// The image and how to reach it.
fn prepared(
    global: &Global,
    source: &ReleaseSource,
    contents: Contents,
    out: &Output,
) -> Result<(PullSpec, FetchOptions), Report> {
    let image: PullSpec = source
        .pull_spec
        .parse()
        .map_err(|error: PullSpecError| Report::from_error("usage", &error).exit(EXIT_USAGE))?;
    let config = Workdir::open(&global.dir)?.text("install-config.yaml")?;
    let mut options = fetch_options(&source.registry, config.as_deref(), &[&image], Logins::OfHost, out)?;
    options.contents = contents;
    if let Some(architecture) = &source.arch {
        options.architecture.clone_from(architecture);
    }
    Ok((image, options))
}

fn wait<T>(future: impl Future<Output = T>) -> Result<T, Report> {
    blocking(future).map_err(|error| Report::from_error("release-unusable", &error))
}
