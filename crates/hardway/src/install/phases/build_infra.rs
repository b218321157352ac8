//! build-infra: what machines need around them, and the machines themselves, off.

use hardway_assets::inventory::Host;
use hardway_machines::actions::{Action, Step};
use hardway_machines::providers::is_of_machine;

use crate::install::Install;
use crate::install::work::{Effect, Observed, Work};
use crate::machines::answered;
use crate::report::Report;

pub(super) struct BuildInfra<'i>(pub(super) &'i Install);

impl Work for BuildInfra<'_> {
    fn observe(&self) -> Result<Observed, Report> {
        let actions = self.0.provider()?.infrastructure();
        let missing = self.0.executor().missing(&actions);
        Ok(match missing.first() {
            None => Observed::Done(format!("{} items are in place", actions.len())),
            Some(first) => Observed::Todo(format!(
                "{} of {} items missing, first {}",
                missing.len(),
                actions.len(),
                first.id
            )),
        })
    }

    fn run(&self) -> Result<String, Report> {
        let provider = self.0.provider()?;
        answered(&*provider, self.0.cluster.inventory.machines.provider)?;
        let actions = provider.infrastructure();
        self.0.carry_out(&actions)?;
        let hosts = &self.0.cluster.inventory.hosts;
        let is_defined = |host: &&Host| actions.iter().any(|action| is_of_machine(&action.id, &host.name));
        let machines = hosts.iter().filter(is_defined).count();
        Ok(format!("{} items in place, {machines} machines defined", actions.len()))
    }

    fn plan(&self) -> Result<Vec<Effect>, Report> {
        Ok(self.0.provider()?.infrastructure().iter().map(effect).collect())
    }
}

/// An action as a person reads it beforehand.
pub(super) fn effect(action: &Action) -> Effect {
    Effect {
        what: format!("{}: {}", action.id, action.why),
        action: Some(action.id.clone()),
        commands: action.does.iter().map(Step::to_string).collect(),
    }
}
