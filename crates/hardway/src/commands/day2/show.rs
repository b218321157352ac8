//! A plan of a step, and what a check found, for people and programs.

use std::fmt::Write as _;

use hardway_assets::day_two::{DayTwoStep, NodeEffect};
use hardway_base::Verdict;
use hardway_cluster::day_two::{Planned, PlannedObject};
use serde_json::{Value, json};

use crate::cluster::day_two::{StepCheck, StepPlan};
use crate::terminal::{Columns, Place, Row, counts};

pub(super) fn text(step: DayTwoStep, plan: &StepPlan) -> String {
    let mut text = String::new();
    if step == DayTwoStep::KubeadminGone {
        text +=
            "v1/Secret kube-system/kubeadmin: deleted, once the administrator has shown a token that works\n";
    }
    for object in &plan.objects {
        let _ = writeln!(text, "{}: {}", object.id, word(object));
        match &object.planned {
            Planned::Changed(changes) => {
                for change in changes {
                    let shown =
                        |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
                    let _ = writeln!(
                        text,
                        "  {}: {} -> {}",
                        change.path,
                        shown(&change.before),
                        shown(&change.after)
                    );
                }
            }
            Planned::Contested(why) | Planned::Refused(why) => {
                let _ = writeln!(text, "  {why}");
            }
            Planned::Created | Planned::Kept => {}
        }
    }
    if let Some((effect, forecast)) = &plan.nodes {
        let _ = writeln!(text, "nodes: {}", effect_text(*effect));
        for pool in &forecast.pools {
            let paused = if pool.is_paused { ", paused: nothing happens until it is resumed" } else { "" };
            let _ = writeln!(
                text,
                "  {}: {} at a time{paused}: {}",
                pool.pool,
                pool.at_once,
                pool.nodes.join(", ")
            );
        }
        if *effect == NodeEffect::Reboots {
            text += "  pools work at the same time; the master that the machine-config-operator runs on goes last\n";
        }
    }
    text
}

fn word(object: &PlannedObject) -> &'static str {
    match object.planned {
        Planned::Created => "created",
        Planned::Changed(_) => "changed",
        Planned::Kept => "unchanged",
        Planned::Contested(_) => "set by somebody else: only with --take-over",
        Planned::Refused(_) => "refused",
    }
}

fn effect_text(effect: NodeEffect) -> &'static str {
    match effect {
        NodeEffect::Nothing => "nothing happens to them",
        NodeEffect::WithoutDisruption => "a file changes; nothing is drained or restarted",
        NodeEffect::RestartsRuntime => {
            "CRI-O is restarted; containers keep running, and nothing is drained or rebooted"
        }
        NodeEffect::Reboots => "each is drained and rebooted, by zone, then by age",
    }
}

pub(super) fn value(step: DayTwoStep, plan: &StepPlan) -> Value {
    let objects: Vec<Value> = plan
        .objects
        .iter()
        .map(|object| {
            let (what, changes, why) = match &object.planned {
                Planned::Created => ("created", &[][..], None),
                Planned::Changed(changes) => ("changed", &changes[..], None),
                Planned::Kept => ("unchanged", &[][..], None),
                Planned::Contested(why) => ("contested", &[][..], Some(why)),
                Planned::Refused(why) => ("refused", &[][..], Some(why)),
            };
            json!({"object": object.id, "planned": what, "changes": changes, "why": why})
        })
        .collect();
    let nodes =
        plan.nodes.as_ref().map(|(effect, forecast)| json!({"effect": effect, "pools": forecast.pools}));
    json!({"step": step.name(), "objects": objects, "nodes": nodes, "notes": plan.notes})
}

/// One line per check; what was seen and what to do below those that did not pass.
pub(super) fn checks(checks: &[StepCheck]) -> String {
    let columns = Columns { indent: 0, outcome: (8, 1), name: (40, 1), advice: Place::Detail };
    let mut text = String::new();
    for StepCheck { name, judged } in checks {
        columns.write_painted(&mut text, &Row::judged(name, judged));
    }
    let verdicts = [Verdict::Passed, Verdict::Warned, Verdict::Skipped, Verdict::Failed];
    text + &counts(checks.iter().map(|one| &one.judged), &verdicts)
}
