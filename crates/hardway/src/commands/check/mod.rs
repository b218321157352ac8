//! `hardway check`: phase check-host.

mod registry;
mod shown;

use std::collections::BTreeSet;
use std::path::Path;

use hardway_assets::inventory::Provider;
use hardway_assets::{Cluster, pki};
use hardway_machines::preflight::{
    self, AskRegistry, CheckName, CheckResult, Choice, Patience, Site, Verdict,
};

use crate::cli::{CheckArgs, Format, Global, RegistryArgs};
use crate::clock;
use crate::input;
use crate::input_file::InputFile;
use crate::output::Output;
use crate::release_choice::is_sample;
use crate::report::{EXIT_USAGE, Report};
use crate::workdir::Workdir;
use registry::Registries;
pub(crate) use shown::text;

/// Looks at this host and everything around the cluster, and changes nothing. Exit code 2 when a check fails.
pub(crate) fn run(global: &Global, args: &CheckArgs, out: &Output) -> Result<u8, Report> {
    if args.list {
        shown::list(args.output, out);
        return Ok(0);
    }
    let choice = choice(args)?;
    let workdir = Workdir::open(&global.dir)?;
    let cluster = input::cluster_before_release(&workdir)?;
    is_about(&choice, cluster.inventory.machines.provider)?;
    let tell = |result: &CheckResult| out.debug(&format!("{}: {}", result.check, result.verdict));
    let source = ReleaseSource { registry: &args.registry, folder: None };
    let results = look(&workdir, &cluster, source, &choice, tell, out)?;
    match args.output {
        Format::Text => out.data(&text(&results, cluster.inventory.machines.provider)),
        format => out.value(&shown::value(&results), format),
    }
    refused(&results).map_or(Ok(0), Err)
}

/// Where the release of a working folder comes from.
#[derive(Clone, Copy)]
pub(crate) struct ReleaseSource<'a> {
    pub(crate) registry: &'a RegistryArgs,
    /// It counts, whatever the inventory names.
    pub(crate) folder: Option<&'a Path>,
}

/// Runs the checks of a working folder; each result is told when it is known.
pub(crate) fn look(
    workdir: &Workdir,
    cluster: &Cluster,
    source: ReleaseSource<'_>,
    choice: &Choice,
    on_result: impl FnMut(&CheckResult),
    out: &Output,
) -> Result<Vec<CheckResult>, Report> {
    let now = clock::now()?;
    let certificates = pki::expiries(cluster, &workdir.tree()?, now);
    let (install_config, _) = InputFile::both(workdir)?;
    let registries = Registries::of(cluster, &install_config, source.registry, out);
    let ask = || registries.ask();
    let site = Site {
        cluster,
        folder: &workdir.path(""),
        certificates: &certificates,
        is_sample: is_sample(&cluster.inventory.release.image, source.folder)?,
        registry: Some(&ask as AskRegistry<'_>),
        now,
        patience: Patience::default(),
    };
    Ok(preflight::run(&site, choice, on_result))
}

/// What to say when a check failed.
pub(crate) fn refused(results: &[CheckResult]) -> Option<Report> {
    let failed: Vec<&str> = preflight::failed(results).into_iter().map(CheckName::as_str).collect();
    let is_asked =
        |result: &&CheckResult| !matches!(result.verdict, Verdict::NotApplicable | Verdict::Skipped);
    let asked = results.iter().filter(is_asked).count();
    let what = format!("{} of {asked} checks failed: {}", failed.len(), failed.join(", "));
    (!failed.is_empty()).then(|| {
        Report::new("preflight-failed", what)
            .exit(EXIT_USAGE)
            .fix("each says above what was seen and what to do; --skip-check NAME leaves one out")
    })
}

fn choice(args: &CheckArgs) -> Result<Choice, Report> {
    Ok(Choice { skip: named(&args.skip_check)?, only: named(&args.only)?, ..Choice::default() })
}

/// An error when a check that was asked for by name has nothing to ask of this provider: who reads "nothing failed" would
/// think that all is well.
fn is_about(choice: &Choice, provider: Provider) -> Result<(), Report> {
    let foreign = choice.foreign(provider);
    let told: Vec<String> = foreign
        .iter()
        .map(|(check, providers)| {
            let providers: Vec<&str> = providers.iter().map(|other| other.name()).collect();
            format!("{check} is about {}", providers.join(" and "))
        })
        .collect();
    match told.is_empty() {
        true => Ok(()),
        false => {
            let own = provider.name();
            Err(Report::new("usage", format!("{}: the provider of the inventory is {own}", told.join(", ")))
                .exit(EXIT_USAGE)
                .fix("leave it out; `hardway check --list` says whom each check is about"))
        }
    }
}

/// The checks of these names; an error when a name is that of no check.
pub(crate) fn named(names: &[String]) -> Result<BTreeSet<CheckName>, Report> {
    let named = |name: &String| {
        CheckName::named(name).ok_or_else(|| {
            let known: Vec<&str> = CheckName::ALL.iter().map(|check| check.as_str()).collect();
            Report::new("usage", format!("there is no check {name:?}"))
                .exit(EXIT_USAGE)
                .fix(format!("one of {}", known.join(", ")))
        })
    };
    names.iter().map(named).collect()
}
