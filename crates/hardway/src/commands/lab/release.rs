//! `hardway lab release`: a release of real components, as far as the lab's nodes can run them, and stand-ins.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use hardway_assets::Cluster;
use hardway_machines::providers::{LabSite, RealComponents};
use hardway_release::{
    Contents, Destination, MirrorReleaseError, mirror_some, mirrored_release, release_info,
};
use serde_json::json;
use tempfile::TempDir;

use crate::cli::{AccessArgs, Format, Global, LabReleaseArgs};
use crate::commands::release::{Opened, mirror_failed};
use crate::release::{registry_report, unusable};
use crate::report::{Code, Exit, Report};
use crate::runtime;
use crate::terminal::Output;

/// Everything that is given is looked at before anything is fetched or built.
pub(super) fn run(
    global: &Global,
    args: &LabReleaseArgs,
    cluster: &Cluster,
    site: &LabSite,
    out: &Output,
) -> Result<Exit, Report> {
    let table = RealComponents::read(&site.files)
        .map_err(|error| Report::from_error(Code::LabFilesMissing, &error))?;
    let real = real_components(&table, args)?;
    let from = args.from.as_deref().map(|from| Source::open(global, args, from, &real, out)).transpose()?;
    let mut command = Command::new(site.files.join("compose.sh"));
    command.args(["--registry", &site.registry(cluster), "--hardway"]).arg(this_program()?);
    if let Some(folder) = &args.programs {
        command.arg("--programs").arg(absolute(folder)?);
    }
    if let Some(source) = &from {
        command.arg("--from").arg(source.folder()).args(["--release", &source.tag]);
    }
    command.args(args.version.iter().flat_map(|version| ["--version", version]));
    command.args(args.stand_in.iter().flat_map(|name| ["--stand-in", name]));
    let image = composed(command)?;
    tell(&image, &site.registry(cluster), &real, args.output, out);
    Ok(Exit::Done)
}

/// Which components will be real. Whoever names one that cannot be is told so, before anything else.
fn real_components(table: &RealComponents, args: &LabReleaseArgs) -> Result<BTreeSet<String>, Report> {
    if let Some(unknown) = args.stand_in.iter().find(|name| table.named(name).is_none()) {
        let names = table.names().into_iter().collect::<Vec<_>>().join(", ");
        let what =
            format!("--stand-in {unknown}: not a component that could be real, so there is nothing to keep");
        return Err(Report::new(Code::Usage, what).fix(format!("name one of {names}, or leave it out")));
    }
    let given = args.programs.as_deref().map(|folder| table.in_folder(folder)).transpose();
    let given = given.map_err(|wrong| {
        let what = match wrong.as_slice() {
            [one] => one.clone(),
            several => {
                format!("{} things are wrong with the programs:\n  {}", several.len(), several.join("\n  "))
            }
        };
        Report::new(Code::Usage, what).fix("lab/release/README.md says what such a folder has to be")
    })?;
    let mut real = if args.from.is_some() { table.names() } else { BTreeSet::new() };
    real.extend(given.unwrap_or_default());
    real.retain(|name| !args.stand_in.contains(name));
    match table.unmet(&real).as_slice() {
        [] => Ok(real),
        unmet => Err(Report::new(Code::Usage, unmet.join("; "))
            .fix("give that component too, or keep the operator's stand-in with --stand-in")),
    }
}

/// A release in a folder, as `hardway release mirror --to-dir` writes it.
enum Place {
    Given(std::path::PathBuf),
    Fetched(TempDir),
}

struct Source {
    place: Place,
    /// Of the release among the images; those of its components begin with it.
    tag: String,
}

impl Source {
    /// A folder is taken as it is; of a release in a registry what is needed is fetched.
    fn open(
        global: &Global,
        args: &LabReleaseArgs,
        from: &str,
        real: &BTreeSet<String>,
        out: &Output,
    ) -> Result<Self, Report> {
        let is_folder = Path::new(from).is_dir();
        if is_folder && args.signature.keyring.is_some() {
            let what =
                format!("--keyring: {from} is a folder, whose signature is checked when it is written");
            return Err(Report::new(Code::Usage, what)
                .fix("leave --keyring out here, and give it to `hardway release mirror --to-dir`"));
        }
        let place = match is_folder {
            true => Place::Given(absolute(Path::new(from))?),
            false => Place::Fetched(fetched(global, args, from, real, out)?),
        };
        let folder = match &place {
            Place::Given(folder) => folder.as_path(),
            Place::Fetched(folder) => folder.path(),
        };
        let (tag, _) = mirrored_release(folder).map_err(|error| {
            let report = registry_report(&error);
            report.fix("name a pull spec, or a folder that `hardway release mirror --to-dir` wrote")
        })?;
        Ok(Self { place, tag })
    }

    fn folder(&self) -> &Path {
        match &self.place {
            Place::Given(folder) => folder,
            Place::Fetched(folder) => folder.path(),
        }
    }
}

fn fetched(
    global: &Global,
    args: &LabReleaseArgs,
    from: &str,
    real: &BTreeSet<String>,
    out: &Output,
) -> Result<TempDir, Report> {
    let (registry, signature) = (args.registry.clone(), args.signature.clone());
    // The machines are containers on this computer.
    let arch = Some(std::env::consts::ARCH.to_owned());
    let access = AccessArgs { registry, signature, arch };
    let opened = Opened::fetch(global, from, &access, Contents::Manifests, None, out)?;
    let info = release_info(&opened.release).map_err(|error| unusable(&error))?;
    let missing: Vec<&str> =
        real.iter().map(String::as_str).filter(|name| info.images.get(name).is_err()).collect();
    if !missing.is_empty() {
        let names = missing.join(", ");
        return Err(Report::new(Code::Usage, format!("release {} has no component {names}", info.version))
            .fix("keep the stand-in with --stand-in NAME for each"));
    }
    let folder = tempfile::Builder::new().prefix("hardway-lab-release-").tempdir();
    let folder = folder.map_err(|error| Report::from_error(Code::WorkdirUnusable, &error))?;
    out.info(&format!(
        "fetching {} of the {} images of release {}",
        real.len() + 1,
        info.images.iter().count() + 1,
        info.version
    ));
    let to = Destination::Folder(folder.path().to_owned());
    let copy = mirror_some(&opened.release, real, &to, &opened.options, &opened.progress);
    runtime::block_on(copy)?.map_err(|error: MirrorReleaseError| mirror_failed(&error))?;
    Ok(folder)
}

/// Its steps are told while it runs; the pull spec is the last line.
fn composed(mut command: Command) -> Result<String, Report> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| Report::from_error(Code::ActionFailed, &error))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    match said.lines().last() {
        Some(image) if output.status.success() => Ok(image.to_owned()),
        _ => Err(Report::new(
            Code::ActionFailed,
            format!("the release was not put together: {}", output.status),
        )
        .fix("what the script said above is the reason; the same command goes on")),
    }
}

fn tell(image: &str, registry: &str, real: &BTreeSet<String>, format: Format, out: &Output) {
    if format != Format::Text {
        return out.value(&json!({"image": image, "real": real}), format);
    }
    out.data(&format!("{image}\n"));
    let names: Vec<&str> = real.iter().map(String::as_str).collect();
    out.info(&format!("real: {}; everything else is a stand-in, or empty", names.join(", ")));
    out.info(&format!(
        "to use it, set in inventory.yaml: machines.lab.operators to real, and release.image to {registry}/hardway-lab/release:real"
    ));
}

fn this_program() -> Result<std::path::PathBuf, Report> {
    std::env::current_exe().map_err(|error| Report::from_error(Code::WorkdirUnusable, &error))
}

fn absolute(path: &Path) -> Result<std::path::PathBuf, Report> {
    std::path::absolute(path).map_err(|error| Report::from_error(Code::Usage, &error))
}
