//! `hardway plan`

use std::fmt::Write as _;

use hardway_assets::Phase;
use hardway_assets::guide::{self, Page};
use hardway_journal::PhaseState;
use hardway_release::SAMPLE_NOTICE;
use serde_json::{Value, json};

use crate::cli::{Format, Global, PlanArgs};
use crate::inputs::Workdir;
use crate::install::{self, Effect};
use crate::journal::recorded;
use crate::machines;
use crate::release::is_sample;
use crate::report::{Exit, Report};
use crate::terminal::Output;

/// Every side effect of `create cluster`, in order. Changes nothing.
pub(crate) fn run(global: &Global, args: &PlanArgs, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let install = super::cluster::open_to_look(workdir, &args.run)?;
    if is_sample(&install.cluster.inventory.release.image, args.run.release.release_dir.as_deref())? {
        out.warn(SAMPLE_NOTICE);
    }
    if let Some(note) = machines::undrawn_id(&install.cluster) {
        out.warn(&note);
    }
    let history = install.history()?;
    let mut planned = Vec::new();
    for phase in Phase::ALL {
        let is_done = matches!(history.phases.state(recorded(phase)), PhaseState::Finished { .. });
        planned.push((phase, is_done, install::work_of(&install, phase).plan()?));
    }
    match args.output {
        Format::Text => out.data(&text(&planned)),
        format => out.value(&value(&planned), format),
    }
    Ok(Exit::Done)
}

fn text(planned: &[(Phase, bool, Vec<Effect>)]) -> String {
    let mut text = String::new();
    for (phase, is_done, effects) in planned {
        let note = if *is_done { "  (was done; is looked at again)" } else { "" };
        let _ = writeln!(text, "{phase}{note}");
        for effect in effects {
            let _ = writeln!(text, "  - {}", effect.what);
            for command in &effect.commands {
                let _ = writeln!(text, "      $ {}", command.replace('\n', "\n        "));
            }
        }
    }
    text
}

fn value(planned: &[(Phase, bool, Vec<Effect>)]) -> Value {
    let phase = |(phase, is_done, effects): &(Phase, bool, Vec<Effect>)| {
        let needs: Vec<&str> = install::needs(*phase).iter().map(|need| need.name()).collect();
        let page = guide::page(phase.name());
        json!({
            "phase": phase.name(), "needs": needs, "takes": page.map(Page::takes), "gives": page.map(Page::gives),
            "wasDone": is_done, "effects": effects,
        })
    };
    Value::Array(planned.iter().map(phase).collect())
}
