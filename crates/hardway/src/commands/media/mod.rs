//! `hardway media dhcp|embed|iso|limits|pxe|remove|serve|show|urls`

mod dhcp;
mod iso;
mod limits;
mod pxe;
mod serve;
mod show;
mod urls;

use std::path::Path;

use hardway_machines::install_media::KernelArgumentEdits;
use http::Uri;

use crate::cli::{EmbedArgs, Global, InstallMediaArgs, InstallMediaVerb, LiveArgs};
use crate::machines::media::{LiveEdits, open, read, write};
use crate::report::{Code, Exit, Report};
use crate::terminal::Output;

/// Makes install media. The image that they are made from is never written to.
pub(crate) fn run(global: &Global, args: &InstallMediaArgs, out: &Output) -> Result<Exit, Report> {
    match &args.verb {
        InstallMediaVerb::Dhcp(args) => dhcp::run(global, args, out),
        InstallMediaVerb::Embed(args) => embed(args, out),
        InstallMediaVerb::Iso(args) => iso::run(global, args, out),
        InstallMediaVerb::Limits { output, release_dir } => {
            limits::run(global, release_dir.as_deref(), *output, out)
        }
        InstallMediaVerb::Pxe(args) => pxe::run(global, args, out),
        InstallMediaVerb::Remove { image, to } => remove(image, to, out),
        InstallMediaVerb::Serve { listen, release_dir } => {
            serve::run(global, *listen, release_dir.as_deref(), out)
        }
        InstallMediaVerb::Show { image, ignition, output } => show::run(image, *ignition, *output, out),
        InstallMediaVerb::Urls(args) => urls::run(global, args, out),
    }
}

fn embed(args: &EmbedArgs, out: &Output) -> Result<Exit, Report> {
    let mut iso = open(&args.image)?;
    if let Some(file) = &args.live_ignition {
        iso.set_ignition(read(file)?);
    }
    args.live.edits().apply(&mut iso, &args.image)?;
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

/// A URL that machines and controllers can fetch from, without a slash at its end.
fn served_at(typed: &str) -> Result<String, Report> {
    let is_good = typed.parse::<Uri>().is_ok_and(|url| {
        matches!(url.scheme_str(), Some("http" | "https"))
            && url.host().is_some_and(|host| !host.is_empty())
            && url.query().is_none()
    });
    match is_good {
        true => Ok(typed.trim_end_matches('/').to_owned()),
        false => Err(Report::new(Code::Usage, format!("--url {typed:?} is not an http:// or https:// URL"))
            .fix("use a URL such as http://192.168.126.2:8080")),
    }
}

impl LiveArgs {
    fn edits(&self) -> LiveEdits {
        LiveEdits {
            keyfiles: self.network_keyfile.clone(),
            kernel_arguments: KernelArgumentEdits {
                delete: self.live_karg_delete.clone(),
                append: self.live_karg_append.clone(),
                replace: self.live_karg_replace.clone(),
            },
        }
    }
}
