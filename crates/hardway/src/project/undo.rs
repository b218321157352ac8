//! `hardway create … --undo FILE`: generated files in place of what somebody made of them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::{Goal, Project};
use crate::inputs::Workdir;
use crate::report::{Code, Report};
use crate::terminal::Output;

impl Project {
    /// The same with these files as hardway makes them.
    pub(super) fn with_undone(
        self,
        files: &[PathBuf],
        wanted: Goal,
        workdir: &Workdir,
        out: &Output,
    ) -> Result<Self, Report> {
        let mut undone = BTreeSet::new();
        for file in files {
            let name = workdir.name_of(file);
            self.check_undo(&name, wanted)?;
            match self.lock().is_ours(&name, self.tree()) {
                true => out.info(&format!("{name} is as hardway made it: nothing to undo")),
                false => drop(undone.insert(name)),
            }
        }
        if undone.is_empty() { Ok(self) } else { self.undo(undone) }
    }

    /// An error for a file that this run does not make.
    fn check_undo(&self, name: &str, wanted: Goal) -> Result<(), Report> {
        let Some(maker) = self.graph().maker(name) else {
            let report = Report::new(
                Code::Usage,
                format!("hardway does not make {name}: there is nothing to bring back"),
            );
            return Err(report.fix(match self.tree().get(name) {
                Some(_) => "delete the file to be rid of it",
                None => "`hardway status` lists the files that were edited or deleted by hand",
            }));
        };
        if wanted.includes(maker) {
            return Ok(());
        }
        let what = format!("{name} is made in phase {}, which this command does not reach", maker.phase());
        Err(Report::new(Code::Usage, what).fix(format!("run `{}`", self.undo_command(name))))
    }

    /// What brings a generated file back.
    pub(super) fn undo_command(&self, name: &str) -> String {
        let is_manifest = self.graph().maker(name).is_some_and(|maker| Goal::Manifests.includes(maker));
        let target = match (is_manifest, self.cluster().config.bootstrap_in_place.is_some()) {
            (true, _) => "manifests",
            (false, true) => "single-node-ignition-config",
            (false, false) => "ignition-configs",
        };
        format!("hardway create {target} --undo {}", hardway_base::shell_word(name))
    }
}
