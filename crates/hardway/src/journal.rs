//! What the journal of a working folder says about its install. The fold is the journal's own; here are its reports, and phases
//! by the names that it has for them.

use hardway_assets::inventory::Role;
use hardway_assets::{Cluster, Phase};
use hardway_journal::{BootstrapComplete, Entry, History, Journal, JournalError, PhaseName};
use jiff::Timestamp;

use crate::inputs::Workdir;
use crate::report::{Code, Report};

/// What the journal of a folder says.
pub(crate) fn history(workdir: &Workdir) -> Result<History, Report> {
    History::read(&workdir.path(hardway_journal::FILE_NAME)).map_err(|error| journal_report(&error))
}

/// Writes down that bootstrapping is complete: whoever serves this folder gives the bootstrap host's config to nobody any more.
pub(crate) fn end_bootstrap(cluster: &Cluster, journal: &Journal, now: Timestamp) -> Result<(), Report> {
    let hosts = cluster.inventory.with_role(Role::Bootstrap);
    let over = |name: &String| Entry::of(now, &BootstrapComplete { host: name.clone() });
    let entries: Vec<Entry> = hosts.map(|host| over(&host.name)).collect();
    journal.append(&entries).map(drop).map_err(|error| journal_report(&error))
}

/// The journal cannot be used.
pub(crate) fn journal_report(error: &JournalError) -> Report {
    Report::from_error(Code::JournalDamaged, error).fix(error.fix())
}

/// A phase as it stands in the journal, which has the same word for it.
pub(crate) fn recorded(phase: Phase) -> PhaseName {
    match phase {
        Phase::CheckHost => PhaseName::CheckHost,
        Phase::BuildInfra => PhaseName::BuildInfra,
        Phase::FetchRelease => PhaseName::FetchRelease,
        Phase::MakePki => PhaseName::MakePki,
        Phase::MakeKubeconfigs => PhaseName::MakeKubeconfigs,
        Phase::MakeManifests => PhaseName::MakeManifests,
        Phase::RenderNodes => PhaseName::RenderNodes,
        Phase::MakeIgnition => PhaseName::MakeIgnition,
        Phase::InstallOs => PhaseName::InstallOs,
        Phase::AwaitBootstrap => PhaseName::AwaitBootstrap,
        Phase::JoinControlPlane => PhaseName::JoinControlPlane,
        Phase::AwaitEtcd => PhaseName::AwaitEtcd,
        Phase::RemoveBootstrap => PhaseName::RemoveBootstrap,
        Phase::BootWorkers => PhaseName::BootWorkers,
        Phase::JoinWorkers => PhaseName::JoinWorkers,
        Phase::AwaitOperators => PhaseName::AwaitOperators,
        Phase::VerifyCluster => PhaseName::VerifyCluster,
    }
}

#[cfg(test)]
mod tests {
    use hardway_assets::example;

    use super::*;

    #[test]
    fn the_end_of_bootstrapping_is_that_of_the_bootstrap_host() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::open(&dir.path().join(hardway_journal::FILE_NAME)).unwrap();
        let now: Timestamp = "2026-11-15T06:00:00Z".parse().unwrap();
        end_bootstrap(&example::cluster(), &journal, now).unwrap();
        let hosts = History::read(journal.path()).unwrap().hosts;
        assert_eq!((hosts.ended("bootstrap"), hosts.ended("master-0")), (Some(now), None));
    }

    #[test]
    fn phases_and_their_names_in_the_journal_are_the_same() {
        assert_eq!(Phase::ALL.map(recorded), PhaseName::ALL, "all of them, in order");
        for phase in Phase::ALL {
            assert_eq!(phase.name(), recorded(phase).word());
        }
    }
}
