//! Machines that are there: with a management controller they are booted from here, without one by a person.
//!
//! ```text
//! BareMetal            the provider                                          mod.rs
//! BareMetalSettings    `machines.bare-metal` of the inventory                settings.rs
//! first boot           medium, drive, power; or what a person has to do      first_boot.rs
//! name service         names and DHCP: hardway's own dnsmasq, or files       name_service.rs
//! balancers            HAProxy and keepalived on the hosts for them          balancers.rs, balancer_hosts.rs
//! HostFacts            what is looked at before planning                     facts.rs
//! checks               what can be known before anything is built            checks/
//! DESCRIPTOR           the provider's row                                    descriptor.rs
//! ```
//!
//! Nothing is asked of a controller here: every step is a command of this very program (`hardway bmc …`), which can be run
//! by hand and reads the controller's login itself. So no password is ever in an action, and none in the journal.

mod balancer_hosts;
mod balancers;
mod checks;
mod descriptor;
mod facts;
mod first_boot;
mod name_service;
mod settings;

use std::path::{Path, PathBuf};

use hardway_assets::Cluster;
use hardway_assets::host_services::InstallStage;
use hardway_assets::inventory::{Balancer, Host};

pub use descriptor::DESCRIPTOR;
pub use facts::HostFacts;
pub use settings::{
    BalancerHost, BareMetalSettings, BmcSettings, DhcpBy, FirstBoot, NamesBy, PasswordFileError, ServicesBy,
};

use super::haproxy_service::socket;
use super::probe::{self, power_of};
use super::{ActionScope, LoadBalancer, MediaAddress, Power, Probe, Provider, install_medium};
use crate::actions::{Action, Program};
use crate::load_balancer;

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
    pub stage: InstallStage,
    /// What was seen before planning.
    pub facts: HostFacts,
}

impl Provider for BareMetal {
    fn infrastructure(&self) -> Vec<Action> {
        let mut actions = match self.cluster.inventory.is_hosted() {
            true => Vec::new(),
            false => self.surroundings(),
        };
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
                Some(power_of(printed, &["power: on"], &["power: off"]))
            }),
            // Fails until the machine was seen.
            false => Probe::new(self.bmc("seen", host), |_| Some(Power::On)),
        }
    }

    fn state(&self, host: &Host) -> Option<Probe<String>> {
        let has_controller = self.settings.controllers.contains_key(&host.name);
        has_controller.then(|| Probe::new(self.bmc("status", host), probe::one_line))
    }

    fn switch(&self, host: &Host, to: Power) -> Option<Program> {
        let verb = if to == Power::On { "power-on" } else { "shut-down" };
        self.settings.controllers.contains_key(&host.name).then(|| self.bmc(verb, host))
    }

    fn seen_by(&self, host: &Host) -> Option<&'static str> {
        self.settings.controllers.contains_key(&host.name).then_some("bmc")
    }

    fn load_balancer(&self) -> LoadBalancer {
        match self.cluster.inventory.network.load_balancer {
            Balancer::External => LoadBalancer::External,
            // Their sockets are elsewhere, but for one at most: each reads its configuration again.
            Balancer::Haproxy if !self.settings.balancers.is_empty() => LoadBalancer::ByConfiguration,
            Balancer::Haproxy => LoadBalancer::Haproxy { admin_socket: socket(self.id()).into() },
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
    /// What hardway runs itself, and files for the people who run the rest.
    fn surroundings(&self) -> Vec<Action> {
        let mut actions = self.name_service();
        if self.cluster.inventory.network.load_balancer == Balancer::Haproxy {
            actions.extend(self.balancers());
        } else {
            let table = load_balancer::table(&load_balancer::changes(&self.cluster));
            actions.push(Action::file(
                ActionScope::Balancer.action("table"),
                "the load balancer's configuration, for its administrator",
                self.own_file("load-balancer.txt"),
                table,
            ));
        }
        actions
    }

    /// A file of the provider's own in the working folder.
    fn own_file(&self, name: &str) -> PathBuf {
        self.folder.join("bare-metal").join(name)
    }

    /// Those that are still wanted.
    fn hosts(&self) -> impl Iterator<Item = &Host> {
        let is_wanted = |host: &&Host| {
            self.stage == InstallStage::Bootstrapping
                || host.role != hardway_assets::inventory::Role::Bootstrap
        };
        self.cluster.inventory.hosts.iter().filter(is_wanted)
    }

    /// What units and folders on hosts are named after: the same for this folder, and no other's.
    fn id(&self) -> &str {
        &self.cluster.identity.infra_id
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
