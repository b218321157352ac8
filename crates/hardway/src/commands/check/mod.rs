//! `hardway check`: phase check-host; `hardway check images`, `hardway check manifests`.

mod images;
pub(super) mod manifests;
mod shown;

use hardway_assets::inventory::Provider;
use hardway_machines::preflight::{CheckResult, Choice};

use crate::cli::{CheckArgs, CheckWhat, Format, Global};
use crate::inputs::{InputFiles, Workdir};
use crate::machines::{ReleaseSource, checks_named, look, preflight_text, refused};
use crate::project;
use crate::report::{Code, Exit, Report};
use crate::terminal::Output;

/// Looks at this host and everything around the cluster, and changes nothing. Exit code 2 when a check fails.
pub(crate) fn run(global: &Global, args: &CheckArgs, out: &Output) -> Result<Exit, Report> {
    match &args.what {
        Some(CheckWhat::Images(args)) => return images::run(global, args, out),
        Some(CheckWhat::Manifests(args)) => return manifests::run(global, args, out),
        None => {}
    }
    if args.list {
        shown::list(args.output, out);
        return Ok(Exit::Done);
    }
    let choice = choice(args)?;
    let workdir = Workdir::open(&global.dir)?;
    let files = InputFiles::open(&workdir)?;
    let cluster = project::cluster_before_release(&workdir, &files)?;
    is_about(&choice, cluster.inventory.machines.provider)?;
    let tell = |result: &CheckResult| out.debug(&format!("{}: {}", result.check, result.judged.verdict));
    let registry = (&args.registry).into();
    let source = ReleaseSource { registry: &registry, folder: None };
    let results = look(&workdir, &files, &cluster, source, &choice, tell, out)?;
    match args.output {
        Format::Text => {
            let text = preflight_text(&results, cluster.inventory.machines.provider, args.all);
            out.painted(&out.advice(&text));
        }
        format => out.value(&shown::value(&results), format),
    }
    refused(&results).map_or(Ok(Exit::Done), Err)
}

fn choice(args: &CheckArgs) -> Result<Choice, Report> {
    let (skip, only) = (checks_named(&args.skip_check)?, checks_named(&args.only)?);
    Ok(Choice { skip, only, ..Choice::default() })
}

/// An error when a check that was asked for by name has nothing to ask of this provider: whoever reads "nothing failed" would
/// think that all is well.
fn is_about(choice: &Choice, provider: Provider) -> Result<(), Report> {
    let foreign = choice.foreign(provider);
    let told: Vec<String> = foreign
        .iter()
        .map(|(check, providers)| {
            let providers: Vec<&str> = providers.iter().map(|other| other.name()).collect();
            format!("{check} only applies to {}", providers.join(" and "))
        })
        .collect();
    match told.is_empty() {
        true => Ok(()),
        false => {
            let own = provider.name();
            Err(Report::new(
                Code::Usage,
                format!("{}: the provider of the inventory is {own}", told.join(", ")),
            )
            .fix("omit it; `hardway check --list` shows what each check applies to"))
        }
    }
}
