//! Whose machines are, where hosts of one inventory may be workers of several clusters.

use std::collections::BTreeMap;

use crate::{Event, Face, HostedMachine};

/// Those that are known to be somebody's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineOwners(BTreeMap<String, MachineOwner>);

/// Whose a machine is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MachineOwner {
    /// The folder's own cluster: the machine fetched a config of its own.
    Folder,
    /// A hosted cluster's pool.
    Hosted(HostedMachine),
}

impl MachineOwners {
    /// Whose it is, if anybody's.
    pub fn of(&self, machine: &str) -> Option<&MachineOwner> {
        self.0.get(machine)
    }

    /// Whoever is first has it until it is gone: two processes may ask at the same time, and both read the same order afterwards.
    pub(super) fn apply(&mut self, event: &Event) {
        match event {
            Event::HostedMachine(made) => {
                self.0.entry(made.machine.clone()).or_insert_with(|| MachineOwner::Hosted(made.clone()));
            }
            Event::IgnitionRedeemed(redeemed) if redeemed.face == Face::Host => {
                self.0.entry(redeemed.host.clone()).or_insert(MachineOwner::Folder);
            }
            Event::MachineGone(gone) => _ = self.0.remove(&gone.host),
            Event::MachineRetired(gone) => _ = self.0.remove(&gone.host),
            _ => {}
        }
    }
}
