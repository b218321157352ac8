//! `hardway release info|extract`

use std::fmt::Write as _;
use std::path::Path;

use hardway_assets::secrets::Secret;
use hardway_release::{
    BlobCache, Contents, Credentials, FetchOptions, InfoError, PullSpec, RegistryError, Silent, blocking, extract,
    extract_file, fetch, info,
};

use crate::cli::{Format, ReleaseArgs, ReleaseSource, ReleaseVerb};
use crate::output::Output;
use crate::report::{EXIT_USAGE, Report};

/// Looks into a release image; only its last layer is fetched.
pub(crate) fn run(args: &ReleaseArgs, out: &Output) -> Result<u8, Report> {
    match &args.verb {
        ReleaseVerb::Extract { source, to, file } => match file {
            Some(file) => print_file(source, file, out),
            None => write_all(source, to.as_deref(), out),
        },
        ReleaseVerb::Info { source, output } => tell(source, *output, out),
    }
}

fn tell(source: &ReleaseSource, format: Format, out: &Output) -> Result<u8, Report> {
    let (image, options) = prepared(source, Contents::Manifests)?;
    let found = wait(info(&image, &options, &Silent))?.map_err(|error| match error {
        InfoError::Registry(error) => registry(&error),
        InfoError::Release(error) => Report::from_error("release-unusable", &error),
    })?;
    found.warnings.iter().for_each(|warning| out.warn(warning));
    if format != Format::Text {
        out.value(&found.to_json(), format);
        return Ok(0);
    }
    let mut text = format!("version       {}\nimage         {}\narchitecture  {}\n", found.version, found.image, found.architecture);
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

fn write_all(source: &ReleaseSource, to: Option<&Path>, out: &Output) -> Result<u8, Report> {
    let to = to.ok_or_else(|| Report::new("usage", "where to? give --to DIR").exit(EXIT_USAGE))?;
    let (image, options) = prepared(source, Contents::Payload)?;
    let release = wait(fetch(&image, &options, &Silent))?.map_err(|error| registry(&error))?;
    let extracted = extract(&release, to, None).map_err(|error| Report::from_error("release-unusable", &error))?;
    out.info(&format!("{} files written to {}", extracted.written.len(), to.display()));
    out.info(&format!("use them with: hardway create ignition-configs --release-dir {}", to.display()));
    Ok(0)
}

fn print_file(source: &ReleaseSource, file: &str, out: &Output) -> Result<u8, Report> {
    let (image, options) = prepared(source, Contents::Manifests)?;
    let release = wait(fetch(&image, &options, &Silent))?.map_err(|error| registry(&error))?;
    let bytes = extract_file(&release, file).map_err(|error| Report::from_error("release-unusable", &error))?;
    out.data(&String::from_utf8_lossy(bytes));
    Ok(0)
}

/// The image and how to reach it.
fn prepared(source: &ReleaseSource, contents: Contents) -> Result<(PullSpec, FetchOptions), Report> {
    let usage = |error: &dyn std::error::Error| Report::from_error("usage", error).exit(EXIT_USAGE);
    let image: PullSpec = source.pull_spec.parse().map_err(|error| usage(&error))?;
    let cache = BlobCache::of_user().map_err(|error| Report::from_error("workdir-unusable", &error))?;
    let mut options = FetchOptions { contents, ..FetchOptions::new(cache) };
    options.architecture.clone_from(&source.arch);
    if let Some(path) = &source.pull_secret {
        let text = fs_err::read(path).map_err(|error| usage(&error))?;
        options.connection.credentials = Credentials::read(&Secret::new(text)).map_err(|error| usage(&error))?;
    }
    if let Some(path) = &source.trust_bundle {
        options.connection.trust_bundle = fs_err::read_to_string(path).map_err(|error| usage(&error))?;
    }
    if source.plain_http {
        options.connection.plain_http.push(image.registry());
    }
    Ok((image, options))
}

fn wait<T>(future: impl Future<Output = T>) -> Result<T, Report> {
    blocking(future).map_err(|error| Report::from_error("release-unusable", &error))
}

fn registry(error: &RegistryError) -> Report {
    Report::from_error("release-unusable", error).fix(error.fix())
}
