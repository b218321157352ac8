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

pub mod lab;
pub mod libvirt;

use std::path::{Path, PathBuf};

use hardway_assets::Cluster;
use hardway_assets::host_services::Stage;
use hardway_assets::inventory::{self, Host};
use hardway_assets::violation::Violation;

use crate::actions::{Action, Check};

/// One way to come by machines.
pub trait Provider: Send + Sync {
    /// Phase build-infra: network, names, load balancer; machines defined, but off.
    fn infrastructure(&self) -> Vec<Action>;

    /// Phases install-os and boot-workers: the machine's first boot, with its config. Once it holds it stays so, also
    /// when the machine reboots.
    fn first_boot(&self, host: &Host) -> Vec<Action>;

    /// Whether the machine is on.
    fn is_on(&self, host: &Host) -> Check;

    /// How members of the load balancer are taken in and out.
    fn load_balancer(&self) -> LoadBalancer;
}

/// The provider that the inventory names.
///
/// # Errors
/// Every mistake in its settings, with the path of its field.
pub fn for_cluster(
    cluster: &Cluster,
    folder: &Path,
    stage: Stage,
) -> Result<Box<dyn Provider>, Vec<Violation>> {
    let not_made = |name: &str| {
        let detail = "hardway does not make machines of this kind yet";
        vec![
            Violation::invalid("machines.provider", name, detail)
                .fix("use libvirt, or make the machines yourself"),
        ]
    };
    match cluster.inventory.machines.provider {
        inventory::Provider::Libvirt => Ok(Box::new(libvirt::Libvirt::new(cluster, folder, stage)?)),
        inventory::Provider::BareMetal => Err(not_made("bare-metal")),
        inventory::Provider::Gce => Err(not_made("gce")),
        inventory::Provider::Lab => Err(not_made("lab")),
    }
}

/// What stands in front of the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadBalancer {
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
    action.strip_prefix("machine/").and_then(|rest| rest.split_once('/')).is_some_and(|(of, _)| of == host)
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
