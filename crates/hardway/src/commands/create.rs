//! `hardway create …`

use hardway_assets::install_config;
use hardway_assets::violation::Violation;

use crate::cli::{CreateArgs, Global, MakeArgs, Target};
use crate::inputs::{FolderLock, Workdir};
use crate::project::{self, Checked, Goal, MakeOptions};
use crate::release::Reach;
use crate::report::{Exit, Report};
use crate::terminal::Output;

/// Makes what the target asks for, and nothing that is already as it should be.
pub(crate) fn run(global: &Global, args: &CreateArgs, out: &Output) -> Result<Exit, Report> {
    match &args.target {
        Target::Cluster(args) => super::cluster::run(global, args, out),
        Target::InstallConfig(init) => super::init::run(global, init, out),
        Target::Manifests(make) => create(global, make, out, Goal::Manifests),
        Target::IgnitionConfigs(make) => create(global, make, out, Goal::IgnitionConfigs),
        Target::SingleNodeIgnitionConfig(make) => create(global, make, out, Goal::SingleNode),
    }
}

fn create(global: &Global, args: &MakeArgs, out: &Output, wanted: Goal) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let options = MakeOptions::from(args);
    let checked = Checked::load(&workdir, Reach::Registry(&options.release), out)?;
    check_target(&checked, wanted)?;
    checked.unready.iter().for_each(|note| out.info(note));
    // Bad input leaves no trace, not even the file that is locked; a dry run never does.
    let _lock = if options.dry_run { None } else { Some(FolderLock::take(&workdir)?) };
    project::make_checked(&workdir, checked, &options, out, wanted)?;
    if !options.dry_run {
        out.info(&places(wanted).replace("{}", &global.dir.display().to_string()));
    }
    Ok(Exit::Done)
}

fn places(wanted: Goal) -> &'static str {
    match wanted {
        Goal::Manifests => "Manifests created in: {}/manifests, {}/openshift and {}/operator-seeds",
        Goal::IgnitionConfigs => "Ignition-Configs created in: {} and {}/ignition; credentials in {}/auth",
        Goal::UpTo(_) => "everything in {}",
        Goal::SingleNode => "Single-Node-Ignition-Config created in: {} and {}/auth",
    }
}

/// The single-node target has rules of its own (installer `bootstrap_in_place.go`); and a cluster that bootstraps in
/// place has no bootstrap host to make a config for.
fn check_target(checked: &Checked, wanted: Goal) -> Result<(), Report> {
    if wanted == Goal::SingleNode {
        checked.refuse(install_config::single_node(&checked.config))?;
    }
    if wanted == Goal::IgnitionConfigs && checked.config.bootstrap_in_place.is_some() {
        let detail = "there is no bootstrap host to make bootstrap.ign for";
        let fix = "run `hardway create single-node-ignition-config`, or remove bootstrapInPlace and add a bootstrap host";
        checked.refuse(vec![Violation::forbidden("bootstrapInPlace", detail).fix(fix)])?;
    }
    Ok(())
}
