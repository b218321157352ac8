//! Who makes the machines.
//!
//! A provider plans purely: it is made from a cluster and gives lists of [actions](crate::actions); looking, doing,
//! journaling and taking back are the doer's. Names of actions say what they belong to:
//!
//! ```text
//! network/…          segment, addresses, firewall
//! dns/… balancer/…   what answers names, what stands in front of the API and the routers
//! machine/HOST/…     everything of one machine; taken back together, when the machine goes for good
//! ```

mod advice;
pub mod bare_metal;
mod fields;
pub mod gce;
mod install_medium;
pub mod lab;
pub mod libvirt;
mod mistakes;

use std::path::{Path, PathBuf};

use hardway_assets::inventory::Host;

pub use advice::advice;
pub use install_medium::makes_medium;
pub use mistakes::mistakes;

use crate::actions::{Action, Check, Program};

/// One way to come by machines.
pub trait Provider: Send + Sync {
    /// Phase build-infra: network, names, load balancer; machines defined, but off.
    fn infrastructure(&self) -> Vec<Action>;

    /// Succeeds when whoever makes the machines answers, and says why not otherwise; nothing where nobody has to. Without an
    /// answer no check of [`Provider::infrastructure`] tells anything.
    fn answers(&self) -> Option<Program> {
        None
    }

    /// Phases install-os and boot-workers: the machine's first boot, with its config. Once it holds it stays so, also
    /// when the machine reboots.
    fn first_boot(&self, host: &Host) -> Vec<Action>;

    /// The same with this config, wherever it came from: a worker of another cluster gets that cluster's. It is installed as it is, and
    /// nothing that this cluster has for a host of that name counts.
    fn first_boot_with(&self, host: &Host, config: &Path) -> Vec<Action>;

    /// Files that hold a copy of that config, made for the first boot.
    fn copies(&self, host: &Host) -> Vec<PathBuf> {
        let _ = host;
        Vec::new()
    }

    /// What that config is read from, in the working folder: the whole of it, or a pointer to it.
    fn boots_from(&self, host: &Host) -> PathBuf {
        PathBuf::from(format!("ignition/{}.ign", host.name))
    }

    /// Whether the machine is on.
    fn is_on(&self, host: &Host) -> Check;

    /// How members of the load balancer are taken in and out.
    fn load_balancer(&self) -> LoadBalancer;

    /// What a person has to do for the first boot of a machine, step by step; nothing where nobody has to. Then
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

    /// Prints which of [`crate::host_progress::console::MARKS`] its console has said, where somebody keeps that.
    fn console(&self, host: &Host) -> Option<Program> {
        let _ = host;
        None
    }

    /// Prints, in a line with `wr_bytes`, how much was written to its disk since it was switched on.
    fn written(&self, host: &Host) -> Option<Program> {
        let _ = host;
        None
    }

    /// How a person looks at its console: a command.
    fn look_at_console(&self, host: &Host) -> Option<String> {
        let _ = host;
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

/// The name of an action that belongs to a machine.
pub fn machine_action(host: &str, what: &str) -> String {
    format!("machine/{host}/{what}")
}

/// Whether an action belongs to this machine.
pub fn is_of_machine(action: &str, host: &str) -> bool {
    machine_of(action) == Some(host)
}

/// The machine that an action belongs to, if it is one's.
pub(crate) fn machine_of(action: &str) -> Option<&str> {
    let (host, _) = action.strip_prefix("machine/")?.split_once('/')?;
    Some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_owns_its_own_actions_only() {
        assert!(is_of_machine(&machine_action("master-1", "card"), "master-1"));
        assert!(!is_of_machine(&machine_action("master-10", "card"), "master-1"));
        assert!(!is_of_machine("network/bridge", "network"));
    }
}
