//! `hardway create cluster`

use hardway_assets::Phase;

use crate::cli::{Global, RunArgs};
use crate::inputs::{FolderLock, InputFiles, Workdir};
use crate::install::{self, Install, Options};
use crate::machines;
use crate::project::MakeOptions;
use crate::release::ReleaseOptions;
use crate::report::{Exit, Report, is_there};
use crate::terminal::Output;

/// Runs every phase that is not done, from wherever an earlier run ended.
pub(crate) fn run(global: &Global, args: &RunArgs, out: &Output) -> Result<Exit, Report> {
    let options = options(args)?;
    let workdir = Workdir::open(&global.dir)?;
    // Mistakes in the input files leave no trace.
    let inputs = InputFiles::open(&workdir)?;
    machines::check(&workdir, &inputs)?;
    let lock = FolderLock::take(&workdir)?;
    let install = install::open(workdir, inputs, options, &Phase::ALL)?;
    let known = outside_first(&install, lock)?;
    install::run(&install, &Phase::ALL, known)?;
    out.info(&install::summary(&install)?);
    Ok(Exit::Done)
}

/// The folder, with what these arguments say.
pub(super) fn open(
    workdir: Workdir,
    inputs: InputFiles,
    args: &RunArgs,
    phases: &[Phase],
) -> Result<Install, Report> {
    install::open(workdir, inputs, options(args)?, phases)
}

/// The same, to look at only.
pub(super) fn open_to_look(workdir: Workdir, args: &RunArgs) -> Result<Install, Report> {
    let options = Options { only_looks: true, ..options(args)? };
    let inputs = InputFiles::open(&workdir)?;
    install::open(workdir, inputs, options, &[])
}

/// Files and checks that the arguments name are there: a phase that asks for them comes hours later.
fn options(args: &RunArgs) -> Result<Options, Report> {
    let options = Options::from(args);
    let MakeOptions { release, render, .. } = &options.make;
    let ReleaseOptions { release_dir, registry, signature, .. } = release;
    let named = [
        release_dir,
        &registry.pull_secret,
        &registry.trust_bundle,
        &signature.keyring,
        &render.rendered_dir,
    ];
    named.into_iter().flatten().chain(&signature.files).try_for_each(|path| is_there(path))?;
    Ok(Options { skip_checks: machines::checks_named(&args.skip_check)?, ..options })
}

/// A lab has a network of its own: once it is there, this program goes on inside, and what it did outside is known.
fn outside_first(install: &Install, lock: FolderLock) -> Result<&'static [Phase], Report> {
    const OUTSIDE: &[Phase] = &[Phase::CheckHost, Phase::BuildInfra];
    let Some(place) = &install.place else { return Ok(&[]) };
    if !machines::is_inside(place) {
        install::run(install, OUTSIDE, &[])?;
        install.view.clear();
        drop(lock);
        machines::enter(place)?;
    }
    Ok(OUTSIDE)
}
