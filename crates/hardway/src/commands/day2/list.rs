//! `hardway day2 list`

use std::fmt::Write as _;

use hardway_assets::day_two::{DayTwoSettings, DayTwoStep};
use hardway_journal::DayTwo;
use serde_json::{Value, json};

use crate::cli::Format;
use crate::inputs::{InputFiles, Workdir};
use crate::journal::history;
use crate::project::cluster_before_release;
use crate::report::{Exit, Report};
use crate::terminal::Output;

/// Reads the folder alone; no cluster is asked.
pub(super) fn run(workdir: &Workdir, format: Format, out: &Output) -> Result<Exit, Report> {
    let inputs = InputFiles::open(workdir)?;
    let settings = cluster_before_release(workdir, &inputs)?.inventory.day_two;
    let done = history(workdir)?.day_two;
    if format == Format::Text {
        out.data(&text(&settings, &done));
        return Ok(Exit::Done);
    }
    let rows: Vec<Value> = DayTwoStep::ALL
        .into_iter()
        .map(|step| {
            let row = step.row();
            json!({
                "step": row.name, "what": row.what, "needs": row.needs, "back": row.back, "nodes": row.nodes,
                "settings": row.section.map(|section| format!("day2.{section}")),
                "state": state(step, &settings, &done),
                "applied": done.step(row.name).and_then(|state| state.applied).map(|time| time.to_string()),
            })
        })
        .collect();
    out.value(&json!({"steps": rows}), format);
    Ok(Exit::Done)
}

fn state(step: DayTwoStep, settings: &DayTwoSettings, done: &DayTwo) -> &'static str {
    match done.step(step.name()) {
        Some(state) if state.applied.is_some() => "applied",
        Some(_) => "begun",
        None if settings.has(step) => "ready",
        None => "no settings",
    }
}

fn text(settings: &DayTwoSettings, done: &DayTwo) -> String {
    let mut text = String::new();
    for step in DayTwoStep::ALL {
        let row = step.row();
        let _ = writeln!(text, "{:15} {:12} {}", row.name, state(step, settings, done), row.what);
        if !row.needs.is_empty() {
            let _ = writeln!(text, "{:28} needs: {}", "", row.needs);
        }
        if let (Some(section), false) = (row.section, settings.has(step)) {
            let _ = writeln!(text, "{:28} settings: day2.{section} in inventory.yaml", "");
        }
    }
    text
}
