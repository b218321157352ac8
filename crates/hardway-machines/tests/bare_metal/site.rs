//! A cluster on bare metal, and the actions around it.

use std::path::Path;

use hardway_assets::host_services::InstallStage;
use hardway_assets::inventory::{Balancer, Machines, Provider as Kind};
use hardway_assets::{Cluster, example};
use hardway_journal::Journal;
use hardway_machines::actions::{Action, ActionListener, ActionOutcome, Executor};
use hardway_machines::providers::bare_metal::{BareMetal, BareMetalSettings, HostFacts};
use jiff::Timestamp;
use serde_json::Value;

pub(crate) fn cluster(settings: Value) -> Cluster {
    let mut cluster = example::cluster();
    cluster.inventory.machines = Machines { provider: Kind::BareMetal, settings };
    cluster.inventory.network.load_balancer = Balancer::Haproxy;
    cluster
}

pub(crate) fn provider(cluster: &Cluster, folder: &Path, stage: InstallStage) -> BareMetal {
    let settings = BareMetalSettings::read(cluster).unwrap();
    // Nobody is asked over ssh: the other balancers of a test are not always there.
    let facts = match settings.balancers.is_empty() {
        true => HostFacts::look(&settings, folder),
        false => HostFacts::default(),
    };
    BareMetal {
        facts,
        settings,
        cluster: cluster.clone(),
        program: "hardway".into(),
        folder: folder.to_owned(),
        stage,
    }
}

#[derive(Default)]
struct Outcomes(Vec<(String, ActionOutcome)>);

impl ActionListener for Outcomes {
    fn holds(&mut self, action: &Action, outcome: ActionOutcome) {
        self.0.push((action.id.clone(), outcome));
    }
}

/// Makes them hold; those that were done.
pub(crate) fn up(folder: &Path, actions: &[Action]) -> Vec<String> {
    let journal = Journal::open(&folder.join(hardway_journal::FILE_NAME)).unwrap();
    let executor = Executor::new(folder, &journal, &|| Timestamp::UNIX_EPOCH);
    let mut outcomes = Outcomes::default();
    executor.up(actions, &mut outcomes).unwrap_or_else(|error| {
        panic!("{error}: {:?}", std::error::Error::source(&error).map(ToString::to_string))
    });
    outcomes.0.into_iter().filter(|(_, outcome)| *outcome == ActionOutcome::Done).map(|(id, _)| id).collect()
}

pub(crate) fn down(folder: &Path) {
    let journal = Journal::open(&folder.join(hardway_journal::FILE_NAME)).unwrap();
    Executor::new(folder, &journal, &|| Timestamp::UNIX_EPOCH).down(&mut ()).unwrap();
}
