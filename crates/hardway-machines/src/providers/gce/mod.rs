//! Machines of Google Compute Engine, through `gcloud`. Every command is an action's: shown before it runs, journaled, and
//! such that a person can run it.
//!
//! ```text
//! Gce              the provider                                         mod.rs
//! GceSettings      `machines.gce` of the inventory                      settings.rs
//! gcloud           calls: made if not there, taken away if there        gcloud.rs
//! image            the OS, imported where it is not there               image.rs
//! network          firewall rules, the way out                          network.rs
//! names            a zone of Cloud DNS                                  names.rs
//! balancer         HAProxy on an instance, or a table for somebody      balancer.rs
//! machine          instances, and their tokens                          machine.rs
//! checks           what can be known before anything is built           checks.rs
//! DESCRIPTOR       the provider's row                                   descriptor.rs
//! ```

mod balancer;
mod checks;
mod descriptor;
mod gcloud;
mod image;
mod machine;
mod names;
mod network;
mod settings;

use std::path::{Path, PathBuf};

use hardway_assets::Cluster;
use hardway_assets::host_services::InstallStage;
use hardway_assets::ignition::HostPointer;
use hardway_assets::inventory::Host;

pub use descriptor::DESCRIPTOR;
pub use settings::{GceSettings, Image};

use super::probe::power_of;
use super::{LoadBalancer, Power, Probe, Provider};
use crate::actions::{Action, Program};

/// The provider.
pub struct Gce {
    /// What is to be built.
    pub cluster: Cluster,
    /// Where, and from what.
    pub settings: GceSettings,
    /// Name or path of `gcloud`.
    pub gcloud: String,
    /// The working folder, absolute.
    pub folder: PathBuf,
    /// Whether the bootstrap host is still wanted.
    pub stage: InstallStage,
}

impl Provider for Gce {
    fn infrastructure(&self) -> Vec<Action> {
        let mut actions = self.image();
        actions.extend(self.network());
        if self.cluster.inventory.is_hosted() {
            return actions;
        }
        actions.extend(self.names());
        actions.extend(self.balancer());
        actions
    }

    fn first_boot(&self, host: &Host) -> Vec<Action> {
        vec![self.instance(host, Path::new(&HostPointer::path(host)))]
    }

    fn first_boot_with(&self, host: &Host, config: &Path) -> Vec<Action> {
        vec![self.instance(host, config)]
    }

    fn boots_from(&self, host: &Host) -> PathBuf {
        HostPointer::path(host).into()
    }

    fn power(&self, host: &Host) -> Probe<Power> {
        Probe::new(self.status(host), |printed| {
            Some(power_of(printed, &["RUNNING"], &["STOPPED", "SUSPENDED", "TERMINATED"]))
        })
    }

    fn switch(&self, host: &Host, to: Power) -> Option<Program> {
        let verb = if to == Power::On { "start" } else { "stop" };
        Some(self.switched(host, verb))
    }

    fn load_balancer(&self) -> LoadBalancer {
        match self.has_balancer() {
            true => LoadBalancer::ByConfiguration,
            false => LoadBalancer::External,
        }
    }

    fn seen_by(&self, _: &Host) -> Option<&'static str> {
        Some("gcloud")
    }

    fn console_tail(&self, host: &Host) -> Option<Program> {
        Some(self.console_output(host))
    }

    fn look_at_console(&self, host: &Host) -> Option<String> {
        Some(self.console_output(host).to_string())
    }

    fn called(&self, host: &Host) -> String {
        self.name(&host.name)
    }

    fn there(&self) -> Option<Probe<Vec<String>>> {
        Some(Probe::new(self.leftovers(), first_words))
    }

    fn after_join(&self, host: &Host) -> Vec<Action> {
        vec![self.token_away(host)]
    }
}

fn first_words(printed: &str) -> Option<Vec<String>> {
    Some(printed.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect())
}

impl Gce {
    /// Lists what is there of this cluster, whoever made it: after a working folder was lost, this is what costs money.
    pub fn leftovers(&self) -> Program {
        let filter = format!("--filter=labels.{}", self.labels());
        self.gcloud("compute instances list").with([filter, "--format=value(name,zone)".to_owned()])
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join("gce").join(name)
    }
}
