//! `hardway create cluster`

use hardway_assets::Phase;

use crate::cli::{CreateClusterArgs, Global, RunArgs};
use crate::inputs::{FolderLock, InputFiles, Workdir};
use crate::install::{self, Install, InstallOptions};
use crate::machines;
use crate::project::MakeOptions;
use crate::release::ReleaseOptions;
use crate::report::{Exit, Report, is_there};
use crate::terminal::Output;

/// Runs every phase that is not done, from wherever an earlier run ended.
pub(crate) fn run(global: &Global, args: &CreateClusterArgs, out: &Output) -> Result<Exit, Report> {
    let options = options(&args.run)?;
    let workdir = Workdir::open(&global.dir)?;
    // Mistakes in the input files leave no trace.
    let inputs = InputFiles::open(&workdir)?;
    machines::check(&workdir, &inputs)?;
    let lock = FolderLock::take(&workdir)?;
    let install = install::open(workdir, inputs, options, &Phase::ALL)?;
    // In a lab this program begins anew inside, and its page is there already.
    if args.page && !install.lab.as_ref().is_some_and(machines::is_inside) {
        super::page::beside(&global.dir, out)?;
    }
    let known = outside_first(&install, lock)?;
    install::run(&install, &Phase::ALL, &known)?;
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
    let options = InstallOptions { only_looks: true, ..options(args)? };
    let inputs = InputFiles::open(&workdir)?;
    install::open(workdir, inputs, options, &[])
}

/// Files and checks that the arguments name are there: a phase that asks for them comes hours later.
fn options(args: &RunArgs) -> Result<InstallOptions, Report> {
    let options = InstallOptions::from(args);
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
    Ok(InstallOptions { skip_checks: machines::checks_named(&args.skip_check)?, ..options })
}

/// A lab has a network of its own: once it is there, this program goes on inside, and what it did outside is known.
fn outside_first(install: &Install, lock: FolderLock) -> Result<Vec<Phase>, Report> {
    let Some(site) = &install.lab else { return Ok(Vec::new()) };
    let outside: Vec<Phase> = Phase::ALL.into_iter().filter(|phase| phase.is_before_machines()).collect();
    if !machines::is_inside(site) {
        install::run(install, &outside, &[])?;
        install.view.clear();
        drop(lock);
        machines::enter(site)?;
    }
    Ok(outside)
}
