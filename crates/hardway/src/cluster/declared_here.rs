//! Who is expected by the files of a folder, and an approver that goes by it for as long as it runs.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::Duration;

use hardway_assets::Cluster;
use hardway_assets::install_config::InstallConfig;
use hardway_assets::inventory::Inventory;
use hardway_assets::secrets::HostGeneration;
use hardway_cluster::approver::{Approver, ApproverError, Expected, Summary};
use hardway_cluster::declared::Declared;
use tokio::sync::watch::{self, Sender};

use crate::inputs::Workdir;
use crate::project::Checked;
use crate::release::Reach;
use crate::report::Report;
use crate::terminal::Output;

/// How often it is looked whether a host is in another generation of its identity.
const BETWEEN_LOOKS: Duration = Duration::from_secs(2);

/// The nodes of a folder, and which generation of its identity each host is in. Those change while an approver runs, when
/// another process replaces a machine.
pub(crate) struct DeclaredHere {
    workdir: Workdir,
    config: InstallConfig,
    inventory: Inventory,
    generations: BTreeMap<String, HostGeneration>,
}

impl DeclaredHere {
    /// Reads the two input files, and what the secrets say.
    pub(crate) fn load(workdir: &Workdir, out: &Output) -> Result<Self, Report> {
        Self::of(workdir, Checked::load(workdir, Reach::Kept, out)?)
    }

    /// The same, with the files read already.
    pub(crate) fn of(workdir: &Workdir, checked: Checked) -> Result<Self, Report> {
        // Before secrets were drawn, nobody is in a later generation than the first.
        let generations = workdir.identity()?.map(|identity| identity.generations).unwrap_or_default();
        let Checked { config, inventory, .. } = checked;
        Ok(Self { workdir: workdir.clone(), config, inventory, generations })
    }

    /// The same, of a cluster that was read already.
    pub(crate) fn of_cluster(workdir: &Workdir, cluster: &Cluster) -> Self {
        let Cluster { config, inventory, identity } = cluster.clone();
        Self { workdir: workdir.clone(), config, inventory, generations: identity.generations }
    }

    /// Who is expected.
    pub(crate) fn now(&self) -> Declared {
        Declared::new(&self.config, &self.inventory, &self.generations)
    }

    /// Has an approver decide about whatever comes until `stop` is done, for whoever is expected by then. What cannot be read
    /// is told once; what was known stays in force.
    pub(crate) async fn watch(
        &mut self,
        approver: &Approver,
        stop: impl Future<Output = ()>,
        warn: &dyn Fn(&str),
    ) -> Result<Summary, ApproverError> {
        let rejoin = approver.settings.rejoin.clone();
        let (sender, expected) =
            watch::channel(Expected { declared: self.now(), rejoin, ..Expected::default() });
        tokio::select! {
            ended = approver.watch_expected(expected, stop) => ended,
            never = self.follow(&sender, warn) => match never {},
        }
    }

    /// Tells of every host that comes into another generation.
    async fn follow(&mut self, sender: &Sender<Expected>, warn: &dyn Fn(&str)) -> Infallible {
        let mut is_told = false;
        loop {
            tokio::time::sleep(BETWEEN_LOOKS).await;
            match self.look() {
                Ok(true) => sender.send_modify(|expected| expected.declared = self.now()),
                Ok(false) => is_told = false,
                Err(report) if !is_told => {
                    warn(&format!("cannot read the identity generations of the hosts: {}", report.what));
                    is_told = true;
                }
                Err(_) => {}
            }
        }
    }

    /// Looks again; whether a host is in another generation than before. Where there is nothing to read any more, what was known
    /// stays in force: an older generation never comes back by that.
    fn look(&mut self) -> Result<bool, Report> {
        let Some(identity) = self.workdir.identity()? else { return Ok(false) };
        let is_other = identity.generations != self.generations;
        self.generations = identity.generations;
        Ok(is_other)
    }
}
