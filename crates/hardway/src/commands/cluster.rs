//! `hardway create cluster`

use hardway_assets::Phase;
use hardway_machines::preflight::CheckName;

use crate::cli::{FetchArgs, Global, MakeArgs, RunArgs};
use crate::held::Held;
use crate::install::{self, Install, Options};
use crate::output::Output;
use crate::report::{Report, is_there};
use crate::workdir::Workdir;

/// Runs every phase that is not done, from wherever an earlier run ended.
pub(crate) fn run(global: &Global, args: &RunArgs, out: &Output) -> Result<u8, Report> {
    is_known(args)?;
    let workdir = Workdir::open(&global.dir)?;
    // Mistakes in the input files leave no trace.
    install::check(&workdir)?;
    let held = Held::take(&workdir)?;
    let install = open(workdir, args, &Phase::ALL)?;
    let known = outside_first(&install, held)?;
    install::run(&install, &Phase::ALL, known)?;
    out.info(&install::summary(&install)?);
    Ok(0)
}

/// The folder, with what these arguments say.
pub(super) fn open(workdir: Workdir, args: &RunArgs, phases: &[Phase]) -> Result<Install, Report> {
    is_known(args)?;
    install::open(workdir, make_args(args), options(args), phases)
}

/// The same, to look at only.
pub(super) fn open_to_look(workdir: Workdir, args: &RunArgs) -> Result<Install, Report> {
    is_known(args)?;
    install::open(workdir, make_args(args), Options { only_looks: true, ..options(args) }, &[])
}

/// Files and checks that the arguments name are there: a phase that asks for them comes hours later.
fn is_known(args: &RunArgs) -> Result<(), Report> {
    let FetchArgs { release_dir, registry, signature, .. } = &args.release;
    let named = [
        release_dir,
        &registry.pull_secret,
        &registry.trust_bundle,
        &signature.keyring,
        &args.render.rendered_dir,
    ];
    named.into_iter().flatten().chain(&signature.signature).try_for_each(|path| is_there(path))?;
    super::check::named(&args.skip_check).map(drop)
}

fn make_args(args: &RunArgs) -> MakeArgs {
    MakeArgs { release: args.release.clone(), render: args.render.clone(), dry_run: false }
}

fn options(args: &RunArgs) -> Options {
    Options {
        only_looks: false,
        // Names that are none were refused before.
        skip_checks: args.skip_check.iter().filter_map(|name| CheckName::named(name)).collect(),
        stall_after: args.stall_after,
        load_balancer_changed: args.load_balancer_changed,
    }
}

/// A lab has a network of its own: once it is there, this program goes on inside, and what it did outside is known.
fn outside_first(install: &Install, held: Held) -> Result<&'static [Phase], Report> {
    const OUTSIDE: &[Phase] = &[Phase::CheckHost, Phase::BuildInfra];
    let Some(place) = &install.place else { return Ok(&[]) };
    if !install::is_inside(place) {
        install::run(install, OUTSIDE, &[])?;
        install.view.clear();
        drop(held);
        install::enter(place)?;
    }
    Ok(OUTSIDE)
}
