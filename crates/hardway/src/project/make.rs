//! Carries out what was planned.

use std::path::{Path, PathBuf};

use hardway_assets::graph::{Asset, FileState, Plan, Stale, Step};
use hardway_assets::inventory::KeyAlgorithm;
use hardway_assets::pki::catalogue::{CertificateSpec, Holder, certificates};
use hardway_assets::{Phase, Tree};

use super::dry_run::{self, join, kept_in};
use super::render_nodes::{commands, read_handed_in, render_nodes};
use super::{Checked, Forecast, Project};
use crate::inputs::{InputFiles, Workdir};
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
pub(crate) enum Wanted {
    IgnitionConfigs,
    Manifests,
    SingleNode,
    /// What this phase and those before it make.
    UpTo(Phase),
}

impl Wanted {
    /// The other targets differ by the cluster, not by the wish: one that bootstraps in place has its one config, and
    /// no bootstrap host (`check_target`).
    fn includes(self, asset: &dyn Asset) -> bool {
        match self {
            Self::Manifests => asset.phase() <= Phase::MakeManifests,
            Self::UpTo(phase) => asset.phase() <= phase,
            Self::IgnitionConfigs | Self::SingleNode => true,
        }
    }
}

/// Makes what is wanted in a folder that the caller holds. Gives back how much there was to do, in a sentence.
pub(crate) fn make(
    workdir: &Workdir,
    files: &InputFiles,
    options: &MakeOptions,
    out: &Output,
    wanted: Wanted,
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
    make_checked(workdir, checked, options, out, Wanted::UpTo(Phase::FetchRelease))?;
    Ok(format!("{image} is kept in release/"))
}

/// The same, with the files read already.
pub(crate) fn make_checked(
    workdir: &Workdir,
    checked: Checked,
    options: &MakeOptions,
    out: &Output,
    wanted: Wanted,
) -> Result<String, Report> {
    let mut project = match options.dry_run {
        true => Project::look(workdir, checked)?,
        false => Project::load(workdir, checked)?,
    };
    check_signers(&project)?;
    if let Some(dir) = &options.render.rendered_dir {
        let rendered = read_handed_in(&project, dir, out)?;
        project.take_rendered(rendered)?;
        project.is_rendered = true;
    }
    let forecast = Forecast::of(&project, |asset| wanted.includes(asset))?;
    let release = KeptRelease::compare(project.release(), project.tree());
    warn_about_secrets(workdir, &project, out);
    tell_about_keys(&project, out);
    if options.dry_run {
        let commands = render_commands(workdir, &project, &forecast, options)?;
        out.data(&dry_run::list(&project, &forecast, &release, &commands));
        return Ok(tell(&forecast.plan, &forecast.steps(), out, "would be made"));
    }
    workdir.write_secrets(&project.secrets_on_disk, project.secrets())?;
    workdir.apply(&forecast.plan, project.lock())?;
    keep_release(workdir, &release, &forecast.plan.tree(project.tree()), options, out)?;
    let plan = match forecast.render.is_empty() {
        true => forecast.plan,
        false => make_rest(workdir, project, forecast, options, out, wanted)?,
    };
    Ok(tell(&plan, &plan.steps.iter().collect::<Vec<_>>(), out, "made"))
}

/// Renders the nodes, and makes what is made from them. Everything before is on disk by now: whoever cannot render here
/// can render elsewhere, from the same files.
fn make_rest(
    workdir: &Workdir,
    project: Project,
    forecast: Forecast,
    options: &MakeOptions,
    out: &Output,
    wanted: Wanted,
) -> Result<Plan, Report> {
    out.debug(&format!("{}: {}", Phase::RenderNodes, join(&forecast.render)));
    let tree = forecast.plan.tree(project.tree());
    let rendered = render_nodes(workdir, &project, &tree, options, out)?;
    let project = project.after(&forecast.plan, rendered)?;
    let mut plan = project.plan(|asset| wanted.includes(asset))?;
    workdir.apply(&plan, project.lock())?;
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
    let what =
        "operators cannot sign with these keys: they know RSA only, and the cluster would never finish";
    let fix = "move secrets/ away: keys are drawn anew, and everything is made again, for a new cluster";
    Err(Report::new(Code::SecretsDamaged, what).evidence(useless).fix(fix))
}

fn warn_about_secrets(workdir: &Workdir, project: &Project, out: &Output) {
    for name in workdir.open_secrets(&project.secrets_on_disk) {
        out.warn(&format!("{name} can be read by others: chmod 600 {}", workdir.shown(&name)));
    }
    let lost = project.lost_secrets();
    if let Some(first) = lost.first() {
        let others = if lost.len() > 1 { format!(" and {} more", lost.len() - 1) } else { String::new() };
        out.warn(&format!(
            "secrets/{first}{others} went away: drawn anew, and everything made from it is made again; machines that \
             were installed before will not trust it"
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
        out.warn("pki.keyAlgorithm changed, but keys are made once and stay; move secrets/ away to have new ones drawn");
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
        KeptRelease::Foreign if is_same_folder(options.release.release_dir.as_deref(), &workdir.path("release")) => {}
        KeptRelease::Foreign => out.warn(
            "release/ was not written by hardway or was edited by hand: it is kept, and does not hold the release that \
             was used; remove it to have that written there",
        ),
    }
    Ok(())
}

fn is_same_folder(given: Option<&Path>, kept: &Path) -> bool {
    given.is_some_and(|given| given.canonicalize().ok() == kept.canonicalize().ok())
}

/// One line for each asset that was made again, and for each file that was left alone.
fn tell(plan: &Plan, steps: &[&Step], out: &Output, verb: &str) -> String {
    let (mut kept, mut written) = (0, 0);
    for step in steps {
        let reasons = join(&step.reasons);
        let files = step.files.iter().filter(|(_, state)| *state == FileState::Written).count();
        written += files;
        if files > 0 {
            out.debug(&format!("{}: {} ({reasons})", step.phase, step.asset));
        }
        for (path, why) in kept_in(step) {
            kept += 1;
            let is_new = step.reasons == [Stale::New];
            let because = if reasons.is_empty() || is_new {
                String::new()
            } else {
                format!("; would be made again: {reasons}")
            };
            out.warn(&format!("{path} was {why} and is kept{because}"));
        }
    }
    plan.removals.iter().for_each(|path| out.info(&format!("{path} is no longer needed and goes away")));
    plan.left_behind
        .iter()
        .for_each(|path| out.warn(&format!("{path} is no longer needed but was edited by hand: kept")));
    let fresh = steps.iter().map(|step| step.files.len()).sum::<usize>() - written - kept;
    let files = if written == 1 { "file" } else { "files" };
    let yours = if kept == 0 { String::new() } else { format!(", {kept} kept as you have them") };
    let sentence = format!("{written} {files} {verb}, {fresh} already as they should be{yours}");
    out.info(&sentence);
    sentence
}
