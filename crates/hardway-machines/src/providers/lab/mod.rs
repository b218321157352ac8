//! Machines that are containers on this computer, on a network of their own.
//!
//! ```text
//! Lab            the provider                                       mod.rs
//! LabSettings    `machines.lab` of the inventory                    settings.rs
//! Place          how everything of a lab is called, and where       place.rs
//! network()      segment, addresses                                 network.rs
//! services()     names, load balancer, registry                     services.rs
//! machines       defined, switched on                               machines.rs
//! checks         what can be known before anything is built         checks.rs
//! DESCRIPTOR     the provider's row                                 descriptor.rs
//! ```
//!
//! The folder `lab/` of the sources has the scripts that build images and start machines, with their contracts.

mod checks;
mod descriptor;
mod machines;
mod network;
mod place;
mod services;
mod settings;

use std::path::{Path, PathBuf};

use hardway_assets::Cluster;
use hardway_assets::host_services::Stage;
use hardway_assets::ignition::HostPointer;
use hardway_assets::inventory::{Host, Role};

pub use descriptor::DESCRIPTOR;
pub use place::Place;
use place::RUNNING;
pub use settings::LabSettings;

use super::probe::on_if;
use super::{LoadBalancer, Power, Probe, Provider};
use crate::actions::{Action, Check, Program};

/// On the gateway's address.
const REGISTRY_PORT: u16 = 5000;

/// The provider.
pub struct Lab {
    /// What is to be rehearsed.
    pub cluster: Cluster,
    /// How everything is called, and where it lies.
    pub place: Place,
    /// This program: it makes the files that the lab's release is built from.
    pub program: PathBuf,
    /// The working folder, absolute.
    pub folder: PathBuf,
    /// Whether the bootstrap host is still wanted. Its name stays, whatever becomes of it.
    pub stage: Stage,
    /// How often a user of this computer may watch files (`fs.inotify.max_user_instances`).
    pub watches: u32,
}

/// A machine's systemd, kubelet and pods watch files some 25 times, and all of them count as one user's.
const WATCHES_OF_A_MACHINE: u32 = 32;

impl Provider for Lab {
    fn infrastructure(&self) -> Vec<Action> {
        let mut actions = Vec::new();
        actions.extend(self.watches());
        actions.push(self.images());
        actions.extend(self.network());
        actions.extend(self.services());
        let is_wanted = |host: &&Host| self.stage == Stage::Bootstrapping || host.role != Role::Bootstrap;
        actions.extend(self.cluster.inventory.hosts.iter().filter(is_wanted).map(|host| self.define(host)));
        actions
    }

    fn first_boot(&self, host: &Host) -> Vec<Action> {
        vec![self.boot(host, Path::new(&HostPointer::path(host)))]
    }

    fn first_boot_with(&self, host: &Host, config: &Path) -> Vec<Action> {
        vec![self.boot(host, config)]
    }

    fn boots_from(&self, host: &Host) -> PathBuf {
        HostPointer::path(host).into()
    }

    fn power(&self, host: &Host) -> Probe<Power> {
        Probe::new(self.place.status(&host.name), |printed| {
            Some(on_if(printed.lines().any(|line| line.trim() == RUNNING)))
        })
    }

    fn load_balancer(&self) -> LoadBalancer {
        LoadBalancer::Haproxy { admin_socket: self.place.state("haproxy.sock") }
    }
}

impl Lab {
    /// Only where it is too few: else it is nobody's business.
    fn watches(&self) -> Option<Action> {
        let machines = u32::try_from(self.cluster.inventory.hosts.len()).unwrap_or(u32::MAX);
        let needed = machines.saturating_mul(WATCHES_OF_A_MACHINE);
        let set = |value: u32| Program::words(&format!("sysctl -q -w fs.inotify.max_user_instances={value}"));
        (self.watches < needed).then(|| {
            Action::programs(
                "host/watches",
                format!(
                    "{machines} machines watch files {needed} times, and this computer allows {}",
                    self.watches
                ),
                Check::Prints {
                    program: Program::words("sysctl -n fs.inotify.max_user_instances"),
                    line: (needed * 2).to_string(),
                },
                [set(needed * 2)],
                [set(self.watches)],
            )
        })
    }

    fn images(&self) -> Action {
        let build = self.place.script("build.sh").with([
            "--registry".to_owned(),
            self.registry(),
            "--hardway".to_owned(),
            self.program.display().to_string(),
        ]);
        Action::programs(
            IMAGES,
            "the image that machines start from, and a release in a registry; built from Debian packages and Go modules, \
             which takes half an hour the first time",
            Check::Succeeds(build.clone().with(["--check"])),
            [build],
            [self.place.script("clean.sh")],
        )
    }

    /// `HOST:PORT`, as nodes know it.
    fn registry(&self) -> String {
        format!("{}:{REGISTRY_PORT}", self.gateway())
    }
}

/// The action that builds the images: what it made can outlive a lab.
const IMAGES: &str = "images/built";

#[cfg(test)]
mod tests;
