//! `hardway infra {plan|up|down|status}`

use std::fmt::Write as _;

use hardway_journal::FILE_NAME;
use hardway_machines::actions::{Action, Step, shell};
use hardway_machines::load_balancer::{self, Change};
use serde_json::{Value, json};

use super::removal::{ActionPrinter, NOTHING_REMOVED, Removal, taken_back};
use crate::cli::{Format, Global, InfraArgs, InfraVerb, PlanFormat, RemovalArgs};
use crate::inputs::Workdir;
use crate::machines::{self, ActionStatus, Infra};
use crate::report::{Exit, Report};
use crate::terminal::Output;

/// What machines need around them, and the machines themselves, off.
pub(crate) fn run(global: &Global, args: &InfraArgs, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    match &args.verb {
        InfraVerb::Down(removal) => down(&workdir, *removal, out),
        InfraVerb::Plan { output, script } => {
            let format = if *script { PlanFormat::Script } else { *output };
            let infra = match format {
                PlanFormat::Script => Infra::to_build(&workdir)?,
                PlanFormat::Json | PlanFormat::Text | PlanFormat::Yaml => Infra::open(&workdir)?,
            };
            plan(&infra, format, out)
        }
        InfraVerb::Status { output } => status(&workdir, &Infra::open(&workdir)?, *output, out),
        InfraVerb::Up => up(&workdir, out),
    }
}

fn plan(infra: &Infra, format: PlanFormat, out: &Output) -> Result<Exit, Report> {
    let provider = infra.provider()?;
    let (actions, changes) = (provider.infrastructure(), infra.changes(&*provider));
    if let Some(note) = machines::undrawn_id(&infra.cluster) {
        out.warn(&note);
    }
    let value = || {
        let actions: Vec<Value> = actions.iter().map(action_value).collect();
        json!({"actions": actions, "loadBalancerChanges": changes})
    };
    match format {
        PlanFormat::Json => out.value(&value(), Format::Json),
        PlanFormat::Script => out.data(&shell(&actions)),
        PlanFormat::Text => out.data(&(plan_text(&actions) + &change_text(&changes))),
        PlanFormat::Yaml => out.value(&value(), Format::Yaml),
    }
    Ok(Exit::Done)
}

fn up(workdir: &Workdir, out: &Output) -> Result<Exit, Report> {
    let mut printer = ActionPrinter::new(out);
    let held = Infra::up(workdir, &mut printer)?;
    out.info(&format!("{} items in place, {} created now", held.actions.len(), printer.count));
    if !held.changes.is_empty() {
        out.info(&change_text(&held.changes));
    }
    Ok(Exit::Done)
}

fn down(workdir: &Workdir, removal: RemovalArgs, out: &Output) -> Result<Exit, Report> {
    if !workdir.path(FILE_NAME).exists() {
        out.info("nothing to remove: this folder has no journal");
        return Ok(Exit::Done);
    }
    let actions = machines::owned_actions(workdir)?;
    let name = machines::cluster_name(workdir)?;
    let name = (!actions.is_empty()).then_some(name.as_str());
    let going = Removal { what: &machines::removal_text(&actions), warning: "", name, kept: NOTHING_REMOVED };
    if !going.is_agreed(removal, out)? {
        return Ok(Exit::Done);
    }
    let mut printer = ActionPrinter::new(out);
    let left = Infra::down(workdir, &mut printer)?;
    out.info(&taken_back(printer.count));
    if let Some(left) = left.filter(|_| printer.count > 0) {
        out.info(&format!("not touched: {left}"));
    }
    Ok(Exit::Done)
}

fn status(workdir: &Workdir, infra: &Infra, format: Format, out: &Output) -> Result<Exit, Report> {
    let statuses = infra.status(workdir)?;
    match format {
        Format::Text => out.data(&statuses.iter().map(status_text).collect::<String>()),
        format => out.value(&Value::Array(statuses.iter().map(status_value).collect()), format),
    }
    Ok(Exit::Done)
}

fn status_text(status: &ActionStatus) -> String {
    let whose = if status.is_ours { "ours" } else { "-" };
    format!("{:8} {whose:5} {:32} {}\n", status.state.name(), status.id, status.why)
}

fn status_value(status: &ActionStatus) -> Value {
    let ActionStatus { id, state, is_ours, why } = status;
    json!({"action": id, "state": state.name(), "ours": is_ours, "why": why})
}

fn plan_text(actions: &[Action]) -> String {
    let mut text = String::new();
    for action in actions {
        let _ = writeln!(text, "{}: {}", action.id, action.why);
        for step in &action.does {
            let _ = writeln!(text, "  $ {}", step.to_string().trim_end().replace('\n', "\n    "));
        }
    }
    text
}

fn change_text(changes: &[Change]) -> String {
    if changes.is_empty() {
        return String::new();
    }
    format!("your load balancer:\n{}", load_balancer::table(changes))
}

fn action_value(action: &Action) -> Value {
    let steps = |steps: &[Step]| steps.iter().map(Step::to_string).collect::<Vec<_>>();
    json!({
        "action": action.id,
        "why": action.why,
        "holds": action.holds,
        "does": steps(&action.does),
        "undo": steps(&action.undo),
    })
}
