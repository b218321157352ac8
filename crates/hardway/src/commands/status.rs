//! `hardway status`

use hardway_assets::graph::{FileState, Plan};
use hardway_assets::pki::{self, Expiry};
use serde_json::{Value, json};

use super::dry_run::{join, kept_in};
use crate::cli::{Format, Global, StatusArgs};
use crate::input::{Checked, Project};
use crate::output::Output;
use crate::report::Report;
use crate::workdir::Workdir;

/// What `create ignition-configs` would do now, and when certificates end. Changes nothing.
pub(crate) fn run(global: &Global, args: &StatusArgs, out: &Output) -> Result<u8, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let checked = Checked::load(&workdir, args.release_dir.as_deref(), out)?;
    let project = Project::load(&workdir, checked)?;
    let plan = project.plan(|_| true)?;
    let mut ends = pki::expiries(&project.cluster, &project.tree, project.now);
    ends.retain(|end| end.is_on_disk);
    match args.output {
        Format::Text => out.data(&text(&plan, &ends, args.all)),
        format => out.value(&value(&plan, &ends), format),
    }
    Ok(0)
}

fn text(plan: &Plan, ends: &[Expiry], all: bool) -> String {
    let mut text = String::new();
    let mut fresh = 0;
    for step in &plan.steps {
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
    text += &format!("{fresh} of {} assets are fresh\n", plan.steps.len());
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

fn value(plan: &Plan, ends: &[Expiry]) -> Value {
    let assets: Vec<Value> = plan
        .steps
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
