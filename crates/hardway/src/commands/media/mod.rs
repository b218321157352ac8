//! `hardway media embed|iso|limits|pxe|remove|serve|show`

mod base_image;
mod host_config;
mod iso;
mod limits;
mod pxe;
mod serve;
mod show;

use std::path::Path;

use hardway_machines::install_media::{KernelArgumentEdits, LiveIso, MediaError};

use crate::cli::{EmbedArgs, Global, InstallMediaArgs, InstallMediaVerb, LiveArgs};
use crate::inputs::io;
use crate::report::{Code, Exit, Report, is_there};
use crate::terminal::Output;

/// Makes install media. The image that they are made from is never written to.
pub(crate) fn run(global: &Global, args: &InstallMediaArgs, out: &Output) -> Result<Exit, Report> {
    match &args.verb {
        InstallMediaVerb::Embed(args) => embed(args, out),
        InstallMediaVerb::Iso(args) => iso::run(global, args, out),
        InstallMediaVerb::Limits { output, release_dir } => {
            limits::run(global, release_dir.as_deref(), *output, out)
        }
        InstallMediaVerb::Pxe(args) => pxe::run(global, args, out),
        InstallMediaVerb::Remove { image, to } => remove(image, to, out),
        InstallMediaVerb::Serve { listen } => serve::run(global, *listen, out),
        InstallMediaVerb::Show { image, ignition, output } => show::run(image, *ignition, *output, out),
    }
}

fn embed(args: &EmbedArgs, out: &Output) -> Result<Exit, Report> {
    let mut iso = open(&args.image)?;
    if let Some(file) = &args.live_ignition {
        iso.set_ignition(read(file)?);
    }
    args.live.apply(&mut iso, &args.image)?;
    let used = write(&iso, &args.image, &args.to)?;
    out.info(&format!("{}: {used} of {} bytes embedded", args.to.display(), iso.capacity()));
    Ok(Exit::Done)
}

fn remove(image: &Path, to: &Path, out: &Output) -> Result<Exit, Report> {
    let mut iso = open(image)?;
    iso.reset();
    write(&iso, image, to)?;
    out.info(&format!("{}: as it was made", to.display()));
    Ok(Exit::Done)
}

fn open(image: &Path) -> Result<LiveIso, Report> {
    is_there(image)?;
    LiveIso::open(image).map_err(|error| unusable(image, &error))
}

/// Gives how much is embedded. A copy over the image itself would be a change of it.
fn write(iso: &LiveIso, image: &Path, to: &Path) -> Result<u64, Report> {
    if to.canonicalize().is_ok_and(|to| image.canonicalize().is_ok_and(|image| image == to)) {
        let what = format!("{} would be written over itself", image.display());
        return Err(Report::new(Code::Usage, what).fix("give another path with --to"));
    }
    let prepared = iso.prepare().map_err(|error| unusable(image, &error))?;
    prepared.write(to).map_err(|error| unusable(image, &error))?;
    Ok(prepared.used())
}

impl LiveArgs {
    /// Keyfiles and kernel arguments.
    fn apply(&self, iso: &mut LiveIso, image: &Path) -> Result<(), Report> {
        for file in &self.network_keyfile {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            iso.set_keyfile(&name, read(file)?).map_err(|error| unusable(image, &error))?;
        }
        iso.edit_kernel_arguments(&self.edits()).map_err(|error| unusable(image, &error))
    }

    fn edits(&self) -> KernelArgumentEdits {
        KernelArgumentEdits {
            delete: self.live_karg_delete.clone(),
            append: self.live_karg_append.clone(),
            replace: self.live_karg_replace.clone(),
        }
    }
}

/// A file that the command line names.
fn read(file: &Path) -> Result<Vec<u8>, Report> {
    fs_err::read(file).map_err(|error| Report::from_error(Code::Usage, &error))
}

/// The config that `--config` names; it is one host's.
fn given(config: Option<&Path>, hosts: &[String]) -> Result<Option<Vec<u8>>, Report> {
    let Some(config) = config else { return Ok(None) };
    if hosts.len() != 1 {
        let what = format!("{} is the config of one host, and {} are named", config.display(), hosts.len());
        return Err(Report::new(Code::Usage, what).fix("give --host once"));
    }
    read(config).map(Some)
}

/// A folder that media go to.
fn make_folder(folder: &Path) -> Result<(), Report> {
    fs_err::create_dir_all(folder).map_err(|error| io(&error))
}

/// What a medium is not good for, or too small for.
fn unusable(image: &Path, error: &MediaError) -> Report {
    let report = match error {
        MediaError::AreaTooSmall { .. } | MediaError::KernelArgumentsTooLong { .. } => {
            Report::from_error(Code::MediaFull, error)
        }
        MediaError::KernelArgument { .. } | MediaError::KeyfileName(_) => {
            return Report::from_error(Code::Usage, error).fix(error.fix());
        }
        _ => Report::from_error(Code::MediaUnusable, error),
    };
    let report = Report { what: format!("{}: {}", image.display(), report.what), ..report };
    report.fix(error.fix())
}
