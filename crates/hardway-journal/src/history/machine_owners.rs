//! Whose machines are, where hosts of one inventory may be workers of several clusters.

use std::collections::BTreeMap;

use crate::{Event, Face, HostedMachine};

/// Those that are known to be somebody's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineOwners(BTreeMap<String, MachineOwner>);

/// Whose a machine is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MachineOwner {
    /// The folder's own cluster: the machine fetched a config of its own, was installed with one, or is a node of it.
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
            Event::IgnitionRedeemed(redeemed) if redeemed.face == Face::Host => self.is_ours(&redeemed.host),
            Event::InstallBegun(begun) => self.is_ours(&begun.host),
            // Approvers of hosted clusters have journals of their own.
            Event::NodeJoined(joined) => self.is_ours(&joined.host),
            Event::MachineGone(gone) => _ = self.0.remove(&gone.host),
            Event::MachineRetired(gone) => _ = self.0.remove(&gone.host),
            _ => {}
        }
    }

    fn is_ours(&mut self, host: &str) {
        self.0.entry(host.to_owned()).or_insert(MachineOwner::Folder);
    }
}
