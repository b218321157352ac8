//! `hardway infra {plan|up|down|status}`

use std::fmt::Write as _;

use hardway_journal::FILE_NAME;
use hardway_machines::actions::{Action, ActionListener, ActionOutcome, Step, shell};
use hardway_machines::load_balancer::{self, Change};
use serde_json::{Value, json};

use crate::cli::{Format, Global, InfraArgs, InfraVerb, PlanFormat, RemovalArgs};
use crate::inputs::Workdir;
use crate::machines::{self, ActionStatus, Infra};
use crate::report::{Exit, Report};
use crate::terminal::{Output, confirm};

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
    let mut printer = ActionPrinter { out, count: 0 };
    let held = Infra::up(workdir, &mut printer)?;
    out.info(&format!("{} things hold, {} were done now", held.actions.len(), printer.count));
    if !held.changes.is_empty() {
        out.info(&change_text(&held.changes));
    }
    Ok(Exit::Done)
}

fn down(workdir: &Workdir, removal: RemovalArgs, out: &Output) -> Result<Exit, Report> {
    if !workdir.path(FILE_NAME).exists() {
        out.info("nothing was done to this host: there is no journal");
        return Ok(Exit::Done);
    }
    let actions = machines::owned_actions(workdir)?;
    if removal.dry_run {
        out.data(&machines::removal_text(&actions));
        return Ok(Exit::Done);
    }
    if !actions.is_empty() {
        confirm(&machines::removal_text(&actions), &machines::cluster_name(workdir)?, removal.yes, out)?;
    }
    let mut printer = ActionPrinter { out, count: 0 };
    let left = Infra::down(workdir, &mut printer)?;
    match printer.count {
        0 => out.info("nothing to take back: by the journal, nothing was done to this host or its machines"),
        1 => out.info("1 thing taken back"),
        count => out.info(&format!("{count} things taken back")),
    }
    if let Some(left) = left.filter(|_| printer.count > 0) {
        out.info(&format!("left as it is: {left}"));
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

/// Prints each action as it is done or taken back, and counts them.
struct ActionPrinter<'o> {
    out: &'o Output,
    count: usize,
}

impl ActionListener for ActionPrinter<'_> {
    fn holds(&mut self, action: &Action, outcome: ActionOutcome) {
        match outcome {
            ActionOutcome::AlreadyHeld => self.out.debug(&format!("{}: holds", action.id)),
            ActionOutcome::Done => {
                self.count += 1;
                self.out.info(&format!("{}: done", action.id));
            }
        }
    }

    fn undone(&mut self, action: &str) {
        self.count += 1;
        self.out.info(&format!("{action}: taken back"));
    }
}
