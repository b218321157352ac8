//! `hardway node replace`

use std::fmt::Write as _;

use hardway_cluster::node_change::{Replacement, ReplacementStep};
use serde_json::{Value, json};

use super::open;
use crate::cli::{Format, Global, RunArgs};
use crate::report::{Exit, Report};
use crate::terminal::Output;

pub(super) struct Replace<'r> {
    pub(super) name: &'r str,
    pub(super) is_applied: bool,
    pub(super) may_lose: bool,
    pub(super) format: Format,
}

impl Replace<'_> {
    /// The plan, or the deed.
    pub(super) fn run(&self, global: &Global, run: &RunArgs, out: &Output) -> Result<Exit, Report> {
        let (_held, install) = open(global, run)?;
        let host = install.node_host(self.name)?;
        let plan = install.replacement(&host)?;
        if !self.is_applied {
            show(&plan, self.format, out);
            return Ok(Exit::Done);
        }
        for step in &plan.steps {
            out.info(&format!("{}: {}", self.name, step.why()));
            install.replace(&host, *step, self.may_lose)?;
        }
        out.info(&format!("{} was replaced", self.name));
        Ok(Exit::Done)
    }
}

fn show(plan: &Replacement, format: Format, out: &Output) {
    if format != Format::Text {
        let step = |step: &ReplacementStep| json!({"step": step, "why": step.why(), "command": step.command(&plan.node)});
        let steps: Vec<Value> = plan.steps.iter().map(step).collect();
        out.value(&json!({"node": plan.node, "hasSpare": plan.has_spare, "steps": steps}), format);
        return;
    }
    let mut text = String::new();
    for (i, step) in plan.steps.iter().enumerate() {
        let _ = writeln!(text, "{}. {}\n   {}", i + 1, step.why(), step.command(&plan.node));
    }
    out.data(&text);
    if !plan.has_spare {
        out.warn("no other etcd member may fail meanwhile: back up first, on another master: /usr/local/bin/cluster-backup.sh \
         /home/core/backup");
    }
    out.info("this is only the plan: nothing was changed; run it with --apply");
}
