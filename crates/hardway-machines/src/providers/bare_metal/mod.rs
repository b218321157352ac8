//! Machines that are there: with a management controller they are booted from here, without one by a person.
//!
//! ```text
//! BareMetal            the provider                                          mod.rs
//! BareMetalSettings    `machines.bare-metal` of the inventory                settings.rs
//! first boot           medium, drive, power; or what a person has to do      first_boot.rs
//! surroundings         names and load balancer                               surroundings.rs
//! checks               what can be known before anything is built            checks.rs
//! DESCRIPTOR           the provider's row                                    descriptor.rs
//! ```
//!
//! Nothing is asked of a controller here: every step is a command of this very program (`hardway bmc …`), which can be run
//! by hand and reads the controller's login itself. So no password is ever in an action, and none in the journal.

mod checks;
mod descriptor;
mod first_boot;
mod settings;
mod surroundings;

use std::path::{Path, PathBuf};

use hardway_assets::Cluster;
use hardway_assets::host_services::Stage;
use hardway_assets::inventory::{Balancer, Host};

pub use descriptor::DESCRIPTOR;
pub use settings::{BareMetalSettings, BmcSettings, Boot, PasswordFileError};

use super::probe::on_if;
use super::{LoadBalancer, MediaAddress, Power, Probe, Provider, install_medium};
use crate::actions::{Action, Program};

/// The provider.
pub struct BareMetal {
    /// What is to be built.
    pub cluster: Cluster,
    /// How machines are booted.
    pub settings: BareMetalSettings,
    /// This program.
    pub program: PathBuf,
    /// The working folder, absolute.
    pub folder: PathBuf,
    /// Whether the bootstrap host is still wanted.
    pub stage: Stage,
}

impl Provider for BareMetal {
    fn infrastructure(&self) -> Vec<Action> {
        let mut actions = self.surroundings();
        actions.extend(self.hosts().filter_map(|host| self.controller_answers(host)));
        actions
    }

    fn first_boot(&self, host: &Host) -> Vec<Action> {
        vec![self.medium(host, None), self.boot(host)]
    }

    fn first_boot_with(&self, host: &Host, config: &Path) -> Vec<Action> {
        vec![self.medium(host, Some(config)), self.boot(host)]
    }

    fn copies(&self, host: &Host) -> Vec<PathBuf> {
        vec![self.medium_path(host)]
    }

    fn boots_from(&self, host: &Host) -> PathBuf {
        install_medium::config(&self.cluster, host).into()
    }

    fn power(&self, host: &Host) -> Probe<Power> {
        match self.settings.controllers.contains_key(&host.name) {
            true => Probe::new(self.bmc("status", host), |printed| {
                Some(on_if(printed.lines().any(|line| line.trim() == "power: on")))
            }),
            // Fails until the machine was seen.
            false => Probe::new(self.bmc("seen", host), |_| Some(Power::On)),
        }
    }

    fn seen_by(&self, host: &Host) -> Option<&'static str> {
        self.settings.controllers.contains_key(&host.name).then_some("bmc")
    }

    fn load_balancer(&self) -> LoadBalancer {
        match self.cluster.inventory.network.load_balancer {
            Balancer::Haproxy => LoadBalancer::Haproxy { admin_socket: self.own_file("haproxy.sock") },
            Balancer::External => LoadBalancer::External,
        }
    }

    fn media_address(&self) -> Option<MediaAddress> {
        let address = self.settings.media_address()?;
        Some(MediaAddress { address, setting: "machines.bare-metal.mediaUrl" })
    }

    fn by_hand(&self, host: &Host) -> Vec<String> {
        self.instructions(host)
    }

    fn after_join(&self, host: &Host) -> Vec<Action> {
        self.medium_out(host).into_iter().collect()
    }
}

impl BareMetal {
    /// Those that are still wanted.
    fn hosts(&self) -> impl Iterator<Item = &Host> {
        let is_wanted = |host: &&Host| {
            self.stage == Stage::Bootstrapping || host.role != hardway_assets::inventory::Role::Bootstrap
        };
        self.cluster.inventory.hosts.iter().filter(is_wanted)
    }

    /// This program, with the folder.
    fn hardway(&self, words: &str) -> Program {
        let program = Program::new(self.program.display().to_string(), ["--dir".to_owned()]);
        program.with([self.folder.display().to_string()]).with(words.split_whitespace())
    }

    /// `hardway bmc VERB --host NAME`
    fn bmc(&self, verb: &str, host: &Host) -> Program {
        self.hardway(&format!("bmc {verb} --host")).with([&host.name])
    }
}

#[cfg(test)]
mod tests;
