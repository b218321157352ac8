//! build-infra: what machines need around them, and the machines themselves, off.

use hardway_machines::actions::{Action, Step};

use crate::install::Install;
use crate::install::work::{Effect, Observed, Work};
use crate::report::Report;

pub(super) struct BuildInfra<'i>(pub(super) &'i Install);

impl Work for BuildInfra<'_> {
    fn observe(&self) -> Result<Observed, Report> {
        let actions = self.0.provider()?.infrastructure();
        let missing = self.0.doer().missing(&actions);
        Ok(match missing.first() {
            None => Observed::Done(format!("{} things are as they should be", actions.len())),
            Some(first) => {
                Observed::Todo(format!("{} of {} things, first {}", missing.len(), actions.len(), first.id))
            }
        })
    }

    fn run(&self) -> Result<String, Report> {
        let actions = self.0.provider()?.infrastructure();
        self.0.carry_out(&actions)?;
        let machines = actions.iter().filter(|action| action.id.starts_with("machine/")).count();
        Ok(format!("{} things made to hold, {machines} machines defined", actions.len()))
    }

    fn plan(&self) -> Result<Vec<Effect>, Report> {
        Ok(self.0.provider()?.infrastructure().iter().map(effect).collect())
    }
}

/// An action as a person reads it beforehand.
pub(super) fn effect(action: &Action) -> Effect {
    Effect {
        what: format!("{}: {}", action.id, action.why),
        commands: action.does.iter().map(Step::to_string).collect(),
    }
}
