//! `hardway gather bootstrap`

use hardway_cluster::gather::Gathered;
use serde_json::json;

use crate::cli::{Format, GatherArgs, GatherVerb, Global};
use crate::cluster::{GatherSite, gather_bundle};
use crate::inputs::Workdir;
use crate::report::{Exit, Report, is_there};
use crate::terminal::Output;

/// Fetches a bundle to the working directory. Nothing stays behind on the hosts, and none of them gets a way to another.
pub(crate) fn run(global: &Global, args: &GatherArgs, out: &Output) -> Result<Exit, Report> {
    let GatherVerb::Bootstrap(args) = &args.verb;
    let workdir = Workdir::open(&global.dir)?;
    args.key.as_deref().map_or(Ok(()), is_there)?;
    args.known_hosts.as_deref().map_or(Ok(()), is_there)?;
    let wanted = args.into();
    let source = GatherSite::look(&workdir, &wanted, out)?.source()?;
    let (name, gathered) = gather_bundle(&workdir, source, out)?;
    show(&workdir, &name, &gathered, args.output, out);
    Ok(Exit::Done)
}

fn show(workdir: &Workdir, name: &str, gathered: &Gathered, format: Format, out: &Output) {
    let Gathered { files, redacted, left_out, missing } = gathered;
    match format {
        Format::Text => out.data(&format!("{}\n", workdir.shown(name))),
        format => out.value(&json!({"bundle": workdir.shown(name), "files": files, "redacted": redacted, "leftOut": left_out, "missing": missing}), format),
    }
    missing.iter().for_each(|master| out.warn(&format!("missing or incomplete in the bundle: {master}")));
    out.info(&format!("{files} files, {redacted} of them redacted; {} omitted", left_out.len()));
    out.info(&format!("to analyse it, run: hardway diagnose --bundle {}", workdir.shown(name)));
}
