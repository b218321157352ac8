//! Who makes the machines.
//!
//! ```text
//! Descriptor      a provider in one row; a folder for each, listed once below      descriptor.rs
//! Provider        what plans: made from a descriptor and a cluster                 mod.rs
//! Probe           a question about a machine, with a typed answer                  probe.rs
//! console         what a machine's serial log tells of it                          console.rs
//! Fields          reads a provider's settings, every mistake at once               fields.rs
//! mistakes()      what is wrong with them                                          mistakes.rs
//! advice()        what to do about known complaints of programs                    advice.rs
//! install_medium  for providers that install from an ISO                           install_medium.rs
//! Place           where programs run and files lie: here or over ssh                place.rs
//! Unit, Daemon    systemd units that hardway writes                                 unit.rs
//! HaproxyService  HAProxy on a host                                                 haproxy_service.rs
//! ActionScope     what an action belongs to, by its name                           action_scope.rs
//! ```
//!
//! A provider plans purely and gives lists of [actions](crate::actions), which somebody else carries out, journals and
//! takes back. Names of actions say what they belong to ([`ActionScope`]):
//!
//! ```text
//! network/…          segment, addresses, firewall; as storage/…, image/… and others, nobody's in particular
//! dns/… balancer/…   what answers names and gives addresses, what stands in front of the API and the routers
//! machine/HOST/…     everything of one machine; taken back together, when the machine goes for good
//! ```

pub mod bare_metal;
pub mod gce;
pub mod lab;
pub mod libvirt;

mod action_scope;
mod advice;
mod console;
mod descriptor;
mod fields;
mod haproxy_service;
mod install_medium;
mod mistakes;
mod place;
mod probe;
mod unit;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use hardway_assets::inventory::{self, Host};
use hardway_journal::Sight;

pub use action_scope::ActionScope;
pub use advice::advice;
pub use descriptor::{Descriptor, HostedSample, Inputs, Installs, ProviderError, Sample};
pub(crate) use descriptor::{Footprint, Ground, NeededProgram, ProviderSurroundings};
pub use install_medium::{fetches_config, makes_medium};
pub use lab::{LabSite, RealComponents};
pub use mistakes::mistakes;
pub use probe::{DiskUsed, DiskWritten, Probe};

use crate::actions::{Action, Program};
pub use crate::redfish::Power;

/// Every provider, each in a folder of its own.
pub fn descriptor(provider: inventory::Provider) -> &'static Descriptor {
    match provider {
        inventory::Provider::BareMetal => &bare_metal::DESCRIPTOR,
        inventory::Provider::Gce => &gce::DESCRIPTOR,
        inventory::Provider::Lab => &lab::DESCRIPTOR,
        inventory::Provider::Libvirt => &libvirt::DESCRIPTOR,
    }
}

/// Plans what a cluster needs of machines.
pub trait Provider: Send + Sync {
    /// Phase build-infra: network, names, load balancer; machines defined, but off.
    fn infrastructure(&self) -> Vec<Action>;

    /// Succeeds when whoever makes the machines answers, and says why not otherwise; nothing where nobody has to. Without an
    /// answer no check of [`Provider::infrastructure`] tells anything.
    fn answers(&self) -> Option<Program> {
        None
    }

    /// Phases install-os and boot-workers: the machine's first boot, with its config. The last action switches the machine on, or
    /// waits for a person to do it ([`Provider::by_hand`]); all before prepare that. Once it holds it stays so, also when the
    /// machine reboots.
    fn first_boot(&self, host: &Host) -> Vec<Action>;

    /// The same without the last action.
    fn before_first_boot(&self, host: &Host) -> Vec<Action> {
        let mut actions = self.first_boot(host);
        actions.pop();
        actions
    }

    /// The same with this config, wherever it came from: a worker of another cluster gets that cluster's. It is installed as it is, and
    /// nothing that this cluster has for a host of that name counts.
    fn first_boot_with(&self, host: &Host, config: &Path) -> Vec<Action>;

    /// Files that hold a copy of that config, made for the first boot.
    fn copies(&self, host: &Host) -> Vec<PathBuf> {
        let _ = host;
        Vec::new()
    }

    /// What that config is read from, in the working folder: the whole of it, or a pointer to it.
    fn boots_from(&self, host: &Host) -> PathBuf;

    /// Whether the machine is on. Where nobody sees that from outside, it is when the machine was seen.
    fn power(&self, host: &Host) -> Probe<Power>;

    /// Asks the machine's system to shut down, or switches the machine on: what to run. Nothing where a person has to do it.
    fn switch(&self, host: &Host, to: Power) -> Option<Program> {
        let _ = (host, to);
        None
    }

    /// How members of the load balancer are taken in and out.
    fn load_balancer(&self) -> LoadBalancer;

    /// What a person has to do for the first boot of a machine, step by step; nothing where nobody has to. Then the last action of
    /// [`Provider::first_boot`] ends with exit code 9 until the machine was seen.
    fn by_hand(&self, host: &Host) -> Vec<String> {
        let _ = host;
        Vec::new()
    }

    /// Who can tell from outside whether the machine is on: a program's name. Nobody, where only the machine itself can.
    fn seen_by(&self, host: &Host) -> Option<&'static str> {
        let _ = host;
        None
    }

    /// What its console has said last, where somebody keeps that.
    fn console(&self, host: &Host) -> Option<Probe<Sight>> {
        let _ = host;
        None
    }

    /// Prints the end of what its console has said, where somebody keeps that.
    fn console_tail(&self, host: &Host) -> Option<Program> {
        let _ = host;
        None
    }

    /// How much was written to its disk since it was switched on, where somebody counts that.
    fn disk_written(&self, host: &Host) -> Option<Probe<DiskWritten>> {
        let _ = host;
        None
    }

    /// How much of its disk is in use, where that can be told of a machine that is off.
    fn disk_used(&self, host: &Host) -> Option<Probe<DiskUsed>> {
        let _ = host;
        None
    }

    /// In which state the machine is and why, in the words of whoever made it.
    fn state(&self, host: &Host) -> Option<Probe<String>> {
        let _ = host;
        None
    }

    /// Whether there is such a machine at all, where one can vanish.
    fn exists(&self, host: &Host) -> Option<Probe<bool>> {
        let _ = host;
        None
    }

    /// Where this program has to serve install media while machines boot, if anywhere.
    fn media_address(&self) -> Option<MediaAddress> {
        None
    }

    /// How a person looks at its console: a command.
    fn look_at_console(&self, host: &Host) -> Option<String> {
        let _ = host;
        None
    }

    /// What a machine of this host is called where it is made.
    fn called(&self, host: &Host) -> String {
        host.name.clone()
    }

    /// Lists machines that are there under names of this folder, whoever made them; nothing where nobody can be asked.
    fn there(&self) -> Option<Probe<Vec<String>>> {
        None
    }

    /// What remains to be done once the machine is a node, or the bootstrap host is no longer needed: media taken out,
    /// tokens taken away.
    fn after_join(&self, host: &Host) -> Vec<Action> {
        let _ = host;
        Vec::new()
    }
}

/// What stands in front of the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadBalancer {
    /// Ours, and told by configuration alone: the actions `balancer/…` of [`Provider::infrastructure`] change it.
    ByConfiguration,
    /// Somebody else's: a person is told what to change.
    External,
    /// Ours, told through its administration socket.
    Haproxy {
        /// The socket.
        admin_socket: PathBuf,
    },
}

/// Where install media are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaAddress {
    /// The address and port.
    pub address: SocketAddr,
    /// The setting that says so.
    pub setting: &'static str,
}

/// The name of an action that belongs to a machine.
pub fn machine_action(host: &str, what: &str) -> String {
    ActionScope::Machine(host).action(what)
}

/// Whether an action belongs to this machine.
pub fn is_of_machine(action: &str, host: &str) -> bool {
    ActionScope::of(action) == Some(ActionScope::Machine(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_descriptor_is_its_own_providers() {
        for provider in inventory::Provider::ALL {
            assert_eq!(descriptor(*provider).provider, *provider);
        }
    }

    #[test]
    fn a_machine_owns_its_own_actions_only() {
        assert!(is_of_machine(&machine_action("master-1", "card"), "master-1"));
        assert!(!is_of_machine(&machine_action("master-10", "card"), "master-1"));
        assert!(!is_of_machine("network/bridge", "network"));
    }
}
