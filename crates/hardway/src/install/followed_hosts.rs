//! How far machines are, by the journal.

use std::path::Path;

use hardway_assets::Cluster;
use hardway_assets::inventory::Host;
use hardway_journal::{FILE_NAME, Follower};
use hardway_machines::host_progress::{HostState, HostStates, TrackedHost};

use crate::journal::journal_report;
use crate::report::Report;

/// Every machine of the inventory. Each line of the journal is read once, however often is asked.
pub(super) struct FollowedHosts {
    journal: Follower,
    states: HostStates,
}

impl FollowedHosts {
    pub(super) fn new(cluster: &Cluster, dir: &Path) -> Self {
        let hosts = cluster.inventory.hosts.iter().map(|host| TrackedHost::new(cluster, host));
        let hosts: Vec<TrackedHost> = hosts.collect();
        Self { journal: Follower::new(&dir.join(FILE_NAME)), states: HostStates::new(&hosts) }
    }

    /// Of these machines by now, in their order.
    pub(super) fn now(&mut self, hosts: &[&Host]) -> Result<Vec<HostState>, Report> {
        let news = self.journal.news().map_err(|error| journal_report(&error))?;
        self.states.read(&news);
        let state = |host: &&Host| self.states.states().iter().find(|state| state.host == host.name);
        Ok(hosts.iter().filter_map(state).cloned().collect())
    }
}
