//! `hardway plan`

use std::collections::BTreeMap;
use std::fmt::Write as _;

use hardway_assets::guide::{self, Page};
use hardway_assets::inventory::Role;
use hardway_assets::{Cluster, Phase};
use hardway_base::counted;
use hardway_journal::PhaseState;
use hardway_machines::providers::ActionScope;
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
        planned.push(Planned { phase, is_done, effects: install::work_of(&install, phase).plan()? });
    }
    match args.output {
        Format::Text => {
            let below = if args.all { all(&planned) } else { folded(&planned) };
            out.data(&(summary(&install.cluster, &planned, args.all) + "\n" + &out.advice(&below)));
        }
        format => out.value(&value(&planned), format),
    }
    Ok(Exit::Done)
}

/// What one phase would do.
struct Planned {
    phase: Phase,
    is_done: bool,
    effects: Vec<Effect>,
}

/// How much it is, in a few lines.
fn summary(cluster: &Cluster, planned: &[Planned], all: bool) -> String {
    let effects = || planned.iter().flat_map(|planned| &planned.effects);
    let commands: usize = effects().map(|effect| effect.commands.len()).sum();
    let done = planned.iter().filter(|planned| planned.is_done).count();
    let count = |role| cluster.inventory.with_role(role).count();
    let machines = [(Role::Bootstrap, "bootstrap host"), (Role::Master, "master"), (Role::Worker, "worker")]
        .map(|(role, name)| counted(count(role), name));
    let mut text = format!(
        "{}: {} in {}, with {} on this host\n",
        cluster.config.metadata.name,
        counted(effects().count(), "step"),
        counted(planned.len(), "phase"),
        counted(commands, "command"),
    );
    let provider = cluster.inventory.machines.provider.name();
    let _ = writeln!(text, "machines: {}, by provider {provider}", machines.join(", "));
    if done > 0 {
        let _ = writeln!(
            text,
            "{} done before: verified again, and repeated only where needed",
            counted(done, "phase")
        );
    }
    if !all {
        let _ = writeln!(text, "--all shows every command and the content of every file");
    }
    text
}

/// A line for each thing; what is done to many machines is told once.
fn folded(planned: &[Planned]) -> String {
    let mut text = String::new();
    for planned in planned {
        text += &title(planned);
        let mut hosts: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for effect in &planned.effects {
            if let Some((what, host)) = of_any_machine(effect) {
                hosts.entry(what).or_default().push(host);
            }
        }
        for effect in &planned.effects {
            let commands = match effect.commands.len() {
                0 => String::new(),
                count => format!(" ({})", counted(count, "command")),
            };
            let Some((what, host)) = of_any_machine(effect) else {
                let _ = writeln!(text, "  - {}{commands}", effect.what);
                continue;
            };
            let Some(all) = hosts.get(&what).filter(|all| all.first() == Some(&host)) else { continue };
            match all.len() {
                1 => _ = writeln!(text, "  - {}{commands}", effect.what),
                _ => _ = writeln!(text, "  - {what}{commands}\n      {}", few(all)),
            }
        }
    }
    text
}

/// What is done to a machine, without its name, and the name.
fn of_any_machine(effect: &Effect) -> Option<(String, &str)> {
    let Some(ActionScope::Machine(host)) = ActionScope::of(effect.action.as_deref()?) else { return None };
    Some((nameless(&effect.what, host), host))
}

/// The name stands for itself only where it is a whole word.
fn nameless(text: &str, host: &str) -> String {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '-');
    let mut told = String::new();
    let mut rest = 0;
    for (start, _) in text.match_indices(host) {
        let end = start + host.len();
        if !is_part(text[..start].chars().next_back()) && !is_part(text[end..].chars().next()) {
            told += &text[rest..start];
            told += "<host>";
            rest = end;
        }
    }
    told + &text[rest..]
}

/// As many as fit a line.
fn few(hosts: &[&str]) -> String {
    const MOST: usize = 8;
    let first = hosts.iter().take(MOST).copied().collect::<Vec<_>>().join(", ");
    match hosts.len() {
        0..=MOST => first,
        count => format!("{first}, and {} more", count - MOST),
    }
}

/// With every command.
fn all(planned: &[Planned]) -> String {
    let mut text = String::new();
    for planned in planned {
        text += &title(planned);
        for effect in &planned.effects {
            let _ = writeln!(text, "  - {}", effect.what);
            for command in &effect.commands {
                let _ = writeln!(text, "      $ {}", command.replace('\n', "\n        "));
            }
        }
    }
    text
}

fn title(planned: &Planned) -> String {
    let note = if planned.is_done { "  (done before; verified again)" } else { "" };
    format!("{}{note}\n", planned.phase)
}

fn value(planned: &[Planned]) -> Value {
    let phase = |Planned { phase, is_done, effects }: &Planned| {
        let needs: Vec<&str> = install::needs(*phase).iter().map(|need| need.name()).collect();
        let page = guide::page(phase.name());
        json!({
            "phase": phase.name(), "needs": needs, "takes": page.map(Page::takes), "gives": page.map(Page::gives),
            "wasDone": is_done, "effects": effects,
        })
    };
    Value::Array(planned.iter().map(phase).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hosts_name_is_taken_out_where_it_is_a_word() {
        assert_eq!(
            nameless("machine/a/disk: a disk for a, not a-b", "a"),
            "machine/<host>/disk: <host> disk for <host>, not a-b"
        );
        assert_eq!(nameless("machine/node-1/x: node-10", "node-1"), "machine/<host>/x: node-10");
    }
}
