//! `hardway status`

use std::collections::BTreeMap;

use hardway_assets::graph::{FileState, Plan, Step};
use hardway_assets::pki::{self, Expiry};
use hardway_assets::{Phase, fetched_release};
use serde_json::{Value, json};

use super::phase_status::{follow, phase_lines};
use crate::cli::{Format, Global, StatusArgs};
use crate::inputs::{InputFiles, Workdir};
use crate::install::{PhaseStatus, phase_statuses};
use crate::project::{Checked, Forecast, Project, join, kept_in};
use crate::release::Reach;
use crate::report::{Exit, Report};
use crate::terminal::Output;

/// What `create ignition-configs` would do now, and when certificates end. Changes nothing.
pub(crate) fn run(global: &Global, args: &StatusArgs, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    if args.watch {
        return follow(&workdir, out);
    }
    let phases = phase_statuses(&workdir)?;
    let looked = InputFiles::open(&workdir).and_then(|files| look(&workdir, &files, &phases, args, out));
    if looked.is_err() && args.output == Format::Text {
        // How far the install is can be told whatever is wrong with the files.
        out.data(&phase_lines(&phases));
    }
    let found = looked?;
    match found.broken.into_values().next() {
        Some(report) => Err(report),
        None if args.exit_code && !found.is_fresh => Ok(Exit::Error),
        None => Ok(Exit::Done),
    }
}

/// What there is to say to whoever only reads the exit code.
struct Found {
    /// What cannot be made, and why.
    broken: BTreeMap<String, Report>,
    /// Whether nothing would be written or taken away now.
    is_fresh: bool,
}

/// Shows everything that can be known.
fn look(
    workdir: &Workdir,
    files: &InputFiles,
    phases: &[PhaseStatus],
    args: &StatusArgs,
    out: &Output,
) -> Result<Found, Report> {
    if let Some(step) = unfetched(workdir, files, args)? {
        show(phases, &Plan::default(), &[&step], &[], &BTreeMap::new(), args, out);
        out.info("everything else waits for the release: hardway create manifests fetches it");
        return Ok(Found { broken: BTreeMap::new(), is_fresh: false });
    }
    let checked = Checked::of(workdir, files, Reach::Here(args.release_dir.as_deref()), out)?;
    let project = Project::look(workdir, checked)?.around_the_broken();
    let forecast = Forecast::of(&project, |_| true)?;
    let broken = project.broken();
    let mut ends = pki::expiries(project.cluster(), project.tree(), project.now());
    ends.retain(|end| end.is_on_disk);
    let steps = forecast.steps();
    show(phases, &forecast.plan, &steps, &ends, &broken, args, out);
    let is_fresh = steps.iter().all(|step| step.reasons.is_empty()) && forecast.plan.removals.is_empty();
    Ok(Found { broken, is_fresh })
}

/// The one thing to say of a working directory whose release a registry has to be asked for.
fn unfetched(workdir: &Workdir, files: &InputFiles, args: &StatusArgs) -> Result<Option<Step>, Report> {
    if args.release_dir.is_some() {
        return Ok(None);
    }
    let Some(why) = Checked::reason_to_fetch(workdir, files)? else { return Ok(None) };
    let asset = fetched_release::ID.to_owned();
    Ok(Some(Step { asset, phase: Phase::FetchRelease, reasons: vec![why], files: Vec::new() }))
}

fn show(
    phases: &[PhaseStatus],
    plan: &Plan,
    steps: &[&Step],
    ends: &[Expiry],
    broken: &BTreeMap<String, Report>,
    args: &StatusArgs,
    out: &Output,
) {
    let reasons = broken.iter().map(|(asset, report)| (asset, out.advice(&report.what)));
    match args.output {
        Format::Text => {
            let broken: String = reasons
                .map(|(asset, what)| format!("broken {asset}, and everything made from it: {what}\n"))
                .collect();
            out.data(&(phase_lines(phases) + &broken + &text(plan, steps, ends, args.all)));
        }
        format => {
            let mut value = value(plan, steps, ends);
            value["phases"] = json!(phases);
            value["broken"] = reasons.map(|(asset, what)| json!({"asset": asset, "error": what})).collect();
            out.value(&value, format);
        }
    }
}

fn text(plan: &Plan, steps: &[&Step], ends: &[Expiry], all: bool) -> String {
    let mut text = String::new();
    let mut fresh = 0;
    for step in steps {
        let reasons = join(&step.reasons);
        if step.reasons.is_empty() {
            fresh += 1;
        }
        if !step.reasons.is_empty() || all {
            let state = if step.reasons.is_empty() { "fresh" } else { "stale" };
            text += &format!("{state}  {:16} {:40} {reasons}\n", step.phase.name(), step.asset);
        }
        for (path, why) in kept_in(step) {
            text += &format!("kept   {:16} {path:40} {why}\n", step.phase.name());
        }
    }
    for path in &plan.removals {
        text += &format!("gone   {path}: no longer needed\n");
    }
    for path in &plan.left_behind {
        text += &format!("kept   {path}: no longer needed, but edited by hand\n");
    }
    text += &format!("{fresh} of {} assets are fresh\n", steps.len());
    match ends.first() {
        Some(next) if next.seconds_left <= 0 => {
            text += &format!("certificate {} expired at {}\n", next.certificate, next.not_after)
        }
        Some(next) => {
            text += &format!("next certificate to end: {} at {}\n", next.certificate, next.not_after)
        }
        None => {}
    }
    if all {
        ends.iter().for_each(|end| text += &format!("ends   {}  {}\n", end.not_after, end.certificate));
    }
    text
}

fn value(plan: &Plan, steps: &[&Step], ends: &[Expiry]) -> Value {
    let assets: Vec<Value> = steps
        .iter()
        .map(|step| {
            let files = step.files.iter().map(|(output, state)| {
                let state = match state {
                    FileState::EditedByHand => "edited-by-hand",
                    FileState::NotOurs => "not-ours",
                    FileState::Unchanged => "unchanged",
                    FileState::Written => "to-be-written",
                };
                json!({"path": output.path, "state": state})
            });
            json!({
                "asset": step.asset,
                "phase": step.phase.name(),
                "stale": !step.reasons.is_empty(),
                "reasons": step.reasons.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "files": files.collect::<Vec<_>>(),
            })
        })
        .collect();
    let certificates: Vec<Value> = ends
        .iter()
        .map(|end| json!({"name": end.certificate, "notAfter": end.not_after.to_string(), "due": end.is_due}))
        .collect();
    json!({
        "assets": assets,
        "certificates": certificates,
        "noLongerNeeded": plan.removals,
        "leftBehind": plan.left_behind,
    })
}
