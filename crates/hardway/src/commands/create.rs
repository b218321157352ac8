//! `hardway create …`

use hardway_assets::graph::{self, Asset, FileState, Plan, World};
use hardway_assets::{Phase, ignition};

use crate::cli::{CreateArgs, Global, MakeArgs, Target};
use crate::input::{Checked, Project};
use crate::output::Output;
use crate::report::{EXIT_CONFIG, Report};
use crate::workdir::Workdir;

/// Makes what the target asks for, and nothing that is already as it should be.
pub(crate) fn run(global: &Global, args: &CreateArgs, out: &Output) -> Result<u8, Report> {
    match &args.target {
        Target::InstallConfig(init) => super::init::run(global, init, out),
        Target::Manifests(make) => create(global, make, out, Wanted::Manifests),
        Target::IgnitionConfigs(make) => create(global, make, out, Wanted::IgnitionConfigs),
        Target::SingleNodeIgnitionConfig(make) => create(global, make, out, Wanted::SingleNode),
    }
}

/// Which assets a target consists of; what they read is made too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    IgnitionConfigs,
    Manifests,
    SingleNode,
}

impl Wanted {
    fn includes(self, asset: &dyn Asset) -> bool {
        match self {
            Self::Manifests => asset.phase() <= Phase::MakeManifests,
            Self::IgnitionConfigs => asset.id() != ignition::IN_PLACE,
            Self::SingleNode => asset.id() != ignition::BOOTSTRAP && asset.id() != "master-pointer",
        }
    }

    fn places(self) -> &'static str {
        match self {
            Self::Manifests => "Manifests created in: {}/manifests, {}/openshift and {}/operator-seeds",
            Self::IgnitionConfigs => {
                "Ignition-Configs created in: {} and {}/ignition; credentials in {}/auth"
            }
            Self::SingleNode => "Single-Node-Ignition-Config created in: {} and {}/auth",
        }
    }
}

fn create(global: &Global, args: &MakeArgs, out: &Output, wanted: Wanted) -> Result<u8, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let _held = workdir.hold()?;
    let checked = Checked::load(&workdir, args.release_dir.as_deref(), out)?;
    check_target(&workdir, &checked, wanted)?;
    let (project, secrets_on_disk) = Project::load(&workdir, checked)?;
    let world = World {
        inputs: project.inputs(),
        lock: &project.lock,
        generator: env!("CARGO_PKG_VERSION"),
        expiring: &project.due,
    };
    let plan = graph::plan(&project.graph, &world, |asset| wanted.includes(asset))
        .map_err(|(id, error)| failed(&id, &error))?;
    if args.dry_run {
        tell(&plan, out, "would be made");
        return Ok(0);
    }
    workdir.write_secrets(&secrets_on_disk, &project.secrets)?;
    workdir.apply(&plan, &project.lock)?;
    tell(&plan, out, "made");
    out.info(&wanted.places().replace("{}", &global.dir.display().to_string()));
    Ok(0)
}

/// The single-node target has rules of its own (installer `bootstrap_in_place.go`); and a cluster that bootstraps in
/// place has no bootstrap host to make a config for.
fn check_target(workdir: &Workdir, checked: &Checked, wanted: Wanted) -> Result<(), Report> {
    let text = workdir.text("install-config.yaml")?.unwrap_or_default();
    let wrong = match wanted {
        Wanted::SingleNode => hardway_assets::install_config::single_node(&checked.config),
        _ => Vec::new(),
    };
    if !wrong.is_empty() {
        return Err(Report::new(
            "config-invalid",
            "install-config.yaml does not describe a single node that installs itself",
        )
        .exit(EXIT_CONFIG)
        .violations("install-config.yaml", &text, &wrong));
    }
    if wanted == Wanted::IgnitionConfigs && checked.config.bootstrap_in_place.is_some() {
        return Err(Report::new("config-invalid", "bootstrapInPlace is set, so there is no bootstrap host to make bootstrap.ign for")
            .exit(EXIT_CONFIG)
            .fix("run `hardway create single-node-ignition-config`, or remove bootstrapInPlace and add a bootstrap host"));
    }
    Ok(())
}

fn failed(asset: &str, error: &graph::MakeError) -> Report {
    let report = Report::from_error("asset-failed", error);
    Report { what: format!("making {asset}: {}", report.what), ..report }
}

/// One line for each asset that was made again, and for each file that was left alone.
fn tell(plan: &Plan, out: &Output, verb: &str) {
    let mut written = 0;
    for step in &plan.steps {
        let count = step.files.iter().filter(|(_, state)| *state == FileState::Written).count();
        written += count;
        let reasons: Vec<String> = step.reasons.iter().map(ToString::to_string).collect();
        if count > 0 {
            out.debug(&format!("{}: {} ({})", step.phase, step.asset, reasons.join("; ")));
        }
        for (output, state) in &step.files {
            if *state == FileState::EditedByHand {
                let because = if reasons.is_empty() {
                    String::new()
                } else {
                    format!("; would be made again: {}", reasons.join("; "))
                };
                out.warn(&format!("{} was edited by hand and is kept{because}", output.path));
            }
        }
    }
    plan.removals.iter().for_each(|path| out.info(&format!("{path} is no longer needed and goes away")));
    plan.left_behind
        .iter()
        .for_each(|path| out.warn(&format!("{path} is no longer needed but was edited by hand: kept")));
    let fresh: usize = plan.steps.iter().map(|step| step.files.len()).sum::<usize>() - written;
    out.info(&format!("{written} files {verb}, {fresh} already as they should be"));
}
