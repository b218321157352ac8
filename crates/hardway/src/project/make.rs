//! Carries out what was planned.

use std::path::{Path, PathBuf};

use hardway_assets::graph::{Asset, FileState, Plan, PlanStep, Stale};
use hardway_assets::inventory::KeyAlgorithm;
use hardway_assets::pki::catalogue::{CertificateSpec, Holder, certificates};
use hardway_assets::work_paths;
use hardway_assets::{Phase, Tree};
use hardway_base::counted;

use super::dry_run::{self, join, kept_in};
use super::files_seen::{note_forecast, note_made};
use super::render_nodes::{commands, read_handed_in, render_nodes};
use super::{Checked, Forecast, Judged, Project, lost_secrets};
use crate::inputs::{InputFiles, Workdir, secrets_missing};
use crate::release::{KeptRelease, Reach, ReleaseOptions};
use crate::report::{Code, Report};
use crate::terminal::Output;

/// What a person may say about making files.
#[derive(Clone, Debug, Default)]
pub(crate) struct MakeOptions {
    pub(crate) release: ReleaseOptions,
    pub(crate) render: RenderOptions,
    /// What would be made is told, and nothing is written.
    pub(crate) dry_run: bool,
    /// Secrets that are missing and that files were made from are drawn anew.
    pub(crate) redraw_secrets: bool,
    /// Files that are to be as hardway makes them, whatever was made of them.
    pub(crate) undo: Vec<PathBuf>,
}

/// How nodes are rendered.
#[derive(Clone, Debug, Default)]
pub(crate) struct RenderOptions {
    /// Node configs that were rendered elsewhere.
    pub(crate) rendered_dir: Option<PathBuf>,
    /// For `podman run`.
    pub(crate) podman_options: Vec<String>,
}

/// Which assets a target consists of; what they read is made too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    IgnitionConfigs,
    Manifests,
    SingleNode,
    /// What this phase and those before it make.
    UpTo(Phase),
}

impl Goal {
    /// The other targets differ by the cluster, not by the wish: one that bootstraps in place has its one config, and
    /// no bootstrap host (`check_target`).
    pub(super) fn includes(self, asset: &dyn Asset) -> bool {
        match self {
            Self::Manifests => asset.phase() <= Phase::MakeManifests,
            Self::UpTo(phase) => asset.phase() <= phase,
            Self::IgnitionConfigs | Self::SingleNode => true,
        }
    }

    fn has_manifests(self) -> bool {
        match self {
            Self::UpTo(phase) => phase >= Phase::MakeManifests,
            Self::IgnitionConfigs | Self::Manifests | Self::SingleNode => true,
        }
    }
}

/// Makes what is wanted in a folder that the caller holds. Gives back how much there was to do, in a sentence.
pub(crate) fn make(
    workdir: &Workdir,
    files: &InputFiles,
    options: &MakeOptions,
    out: &Output,
    wanted: Goal,
) -> Result<String, Report> {
    let checked = Checked::of(workdir, files, Reach::Registry(&options.release), out)?;
    make_checked(workdir, checked, options, out, wanted)
}

/// Keeps the release that was fetched, in a folder that the caller holds.
pub(crate) fn keep_fetched(
    workdir: &Workdir,
    checked: Checked,
    options: &MakeOptions,
    out: &Output,
) -> Result<String, Report> {
    let image = checked.release.payload.image.clone();
    make_checked(workdir, checked, options, out, Goal::UpTo(Phase::FetchRelease))?;
    Ok(format!("{image} is kept in release/"))
}

/// The same, with the files read already.
pub(crate) fn make_checked(
    workdir: &Workdir,
    checked: Checked,
    options: &MakeOptions,
    out: &Output,
    wanted: Goal,
) -> Result<String, Report> {
    let lost = lost_secrets(workdir, &checked)?;
    if !lost.is_empty() && !options.redraw_secrets {
        return Err(secrets_missing(&lost.iter().map(String::as_str).collect::<Vec<_>>()));
    }
    let mut project = match options.dry_run {
        true => Project::look(workdir, checked)?,
        false => Project::load(workdir, checked, out)?,
    };
    check_signers(&project)?;
    project = project.with_undone(&options.undo, wanted, workdir, out)?;
    if let Some(dir) = &options.render.rendered_dir {
        let rendered = read_handed_in(&project, dir, out)?;
        project.take_rendered(rendered)?;
        project.is_rendered = true;
    }
    let forecast = Forecast::of(&project, |asset| wanted.includes(asset))?;
    if !options.dry_run {
        note_forecast(workdir, &project, &forecast, out);
    }
    let release = KeptRelease::compare(project.release(), project.tree());
    if wanted.has_manifests() {
        judge(workdir, &project, &forecast, out)?;
    }
    warn_about_secrets(workdir, &project, &lost, out);
    tell_about_keys(&project, out);
    if options.dry_run {
        let commands = render_commands(workdir, &project, &forecast, options)?;
        out.data(&dry_run::list(&project, &forecast, &release, &commands));
        return Ok(tell(&forecast.plan, &forecast.steps(), out, "would be made"));
    }
    workdir.replace_secrets(&project.secrets_on_disk, project.secrets())?;
    workdir.apply(&forecast.plan, project.lock())?;
    note_made(workdir, &project, &forecast.plan, out);
    keep_release(workdir, &release, &forecast.plan.tree(project.tree()), options, out)?;
    let plan = match forecast.render.is_empty() {
        true => forecast.plan,
        false => make_rest(workdir, project, forecast, options, out, wanted)?,
    };
    Ok(tell(&plan, &plan.steps.iter().collect::<Vec<_>>(), out, "made"))
}

/// Stops before anything is written that the cluster's API server would refuse.
fn judge(workdir: &Workdir, project: &Project, forecast: &Forecast, out: &Output) -> Result<(), Report> {
    let judged = Judged::of(workdir, project, forecast);
    judged.warnings().iter().for_each(|warning| out.finding(warning));
    if let Some(line) = judged.findings.unchecked_line() {
        out.debug(&line);
    }
    judged.refused().map_or(Ok(()), Err)
}

/// Renders the nodes, and makes what is made from them. Everything before is on disk by now: whoever cannot render here
/// can render elsewhere, from the same files.
fn make_rest(
    workdir: &Workdir,
    project: Project,
    forecast: Forecast,
    options: &MakeOptions,
    out: &Output,
    wanted: Goal,
) -> Result<Plan, Report> {
    out.debug(&format!("{}: {}", Phase::RenderNodes, join(&forecast.render)));
    let tree = forecast.plan.tree(project.tree());
    let rendered = render_nodes(workdir, &project, &tree, options, out)?;
    let project = project.after(&forecast.plan, rendered)?;
    let mut plan = project.plan(|asset| wanted.includes(asset))?;
    workdir.apply(&plan, project.lock())?;
    note_made(workdir, &project, &plan, out);
    plan.continues(forecast.plan);
    Ok(plan)
}

fn render_commands(
    workdir: &Workdir,
    project: &Project,
    forecast: &Forecast,
    options: &MakeOptions,
) -> Result<Vec<String>, Report> {
    match forecast.render.is_empty() {
        true => Ok(Vec::new()),
        false => commands(workdir, project, &forecast.plan.tree(project.tree()), options),
    }
}

/// Keys that no operator can sign with, as an earlier hardway drew them: a cluster made from them would never finish.
fn check_signers(project: &Project) -> Result<(), Report> {
    let is_useless = |row: &CertificateSpec| {
        let key = project.secrets_on_disk.key(&row.name);
        row.holder == Holder::Operator && key.is_ok_and(|key| key.algorithm() != KeyAlgorithm::Rsa2048)
    };
    let useless: Vec<String> = certificates(project.cluster())
        .iter()
        .filter(|row| is_useless(row))
        .map(|row| format!("secrets/{}.key is an ECDSA key", row.name))
        .collect();
    if useless.is_empty() {
        return Ok(());
    }
    let what = "operators can only sign with RSA keys; with these, the install would never complete";
    let fix = "move secrets/ away, then run `hardway create ignition-configs --redraw-secrets`: new keys are generated and everything is made again, for a new cluster";
    Err(Report::new(Code::SecretsDamaged, what).evidence(useless).fix(fix))
}

fn warn_about_secrets(workdir: &Workdir, project: &Project, lost: &[String], out: &Output) {
    if let Some(open) = project.open_to_others(workdir) {
        out.warn(&open);
    }
    let left = project.keys_of_others();
    if !left.is_empty() {
        let names: Vec<String> = left.iter().map(|name| format!("secrets/{name}")).collect();
        out.info(&format!(
            "keys of hosts that are not in the inventory, to be deleted when their machines are gone: {}",
            names.join(", ")
        ));
    }
    if let Some(first) = lost.first() {
        let others = if lost.len() > 1 { format!(" and {} more", lost.len() - 1) } else { String::new() };
        out.warn(&format!(
            "secrets/{first}{others} was missing: generated again, with everything made from it; machines installed before \
             will not trust it"
        ));
    }
}

/// What a user might otherwise take for done.
fn tell_about_keys(project: &Project, out: &Output) {
    if !project.due().is_empty() {
        let names: Vec<&str> = project.due().iter().map(|expiry| expiry.certificate.as_str()).collect();
        out.info(&format!("certificates renewed, with the same keys and names: {}", names.join(", ")));
    }
    let chosen = project.cluster().inventory.pki.key_algorithm;
    // All keys that may be chosen are made alike; one tells for all.
    if project.secrets_on_disk.key("admin-kubeconfig-signer").is_ok_and(|key| key.algorithm() != chosen) {
        out.warn("pki.keyAlgorithm changed, but existing keys are kept; to generate new ones, for a new cluster, move secrets/ away and pass --redraw-secrets");
    }
}

fn keep_release(
    workdir: &Workdir,
    release: &KeptRelease,
    tree: &Tree,
    options: &MakeOptions,
    out: &Output,
) -> Result<(), Report> {
    match release {
        KeptRelease::Same => {}
        KeptRelease::Stale(files) => {
            KeptRelease::replace(workdir, files, tree)?;
            out.debug(&format!("release/ now holds the release that was used: {} files", files.len()));
        }
        KeptRelease::Foreign if is_same_folder(options.release.release_dir.as_deref(), &workdir.path(work_paths::RELEASE)) => {}
        KeptRelease::Foreign => out.warn(
            "release/ was edited by hand or not written by hardway: it is kept, and is not the release that was used; remove \
             it to have that release written there",
        ),
    }
    Ok(())
}

fn is_same_folder(given: Option<&Path>, kept: &Path) -> bool {
    given.is_some_and(|given| given.canonicalize().ok() == kept.canonicalize().ok())
}

/// One line for each asset that was made again, and for each file that was left alone.
fn tell(plan: &Plan, steps: &[&PlanStep], out: &Output, verb: &str) -> String {
    let (mut kept, mut written) = (0, 0);
    for step in steps {
        let reasons = join(&step.reasons);
        let files = step.files.iter().filter(|(_, state)| *state == FileState::Written).count();
        written += files;
        if files > 0 {
            out.debug(&format!("{}: {} ({reasons})", step.phase, step.asset));
        }
        for (path, state) in kept_in(step) {
            let why = state.how();
            kept += 1;
            let is_new = step.reasons == [Stale::New];
            let because = if reasons.is_empty() || is_new {
                String::new()
            } else {
                format!("; would be made again: {reasons}")
            };
            out.warn(&format!("{path} was {why} and {}{because}", state.so()));
        }
    }
    plan.removals.iter().for_each(|path| out.info(&format!("{path} is no longer needed and is removed")));
    plan.left_behind
        .iter()
        .for_each(|path| out.warn(&format!("{path} is no longer needed but was edited by hand: kept")));
    let fresh = steps.iter().map(|step| step.files.len()).sum::<usize>() - written - kept;
    let files = counted(written, "file");
    let yours = if kept == 0 { String::new() } else { format!(", {kept} kept as edited or deleted") };
    let sentence = format!("{files} {verb}, {fresh} already up to date{yours}");
    out.info(&sentence);
    sentence
}
