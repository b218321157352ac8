//! A provider that is a program of the user's: for machines that no other provider makes.
//!
//! ```text
//! PROGRAM boot NAME FILE     make the machine NAME and switch it on with the Ignition config FILE
//! PROGRAM is-on NAME         exit 0 when it is on
//! PROGRAM remove NAME        switch it off, and leave nothing of it
//! ```

use std::path::{Path, PathBuf};

use hardway_assets::inventory::Host;
use hardway_assets::work_paths;
use hardway_machines::actions::{Action, ActionCheck, Program};
use hardway_machines::providers::{LoadBalancer, Power, Probe, Provider, machine_action};

/// The program, and the working folder its files are in.
#[derive(Clone, Debug)]
pub struct ProgramProvider {
    program: String,
    folder: PathBuf,
}

impl ProgramProvider {
    /// A program by its path.
    pub fn new(program: &Path, folder: &Path) -> Self {
        Self { program: program.display().to_string(), folder: folder.to_owned() }
    }

    fn call(&self, verb: &str, host: &Host) -> Program {
        Program::new(self.program.as_str(), [verb, host.name.as_str()])
    }
}

impl Provider for ProgramProvider {
    fn infrastructure(&self) -> Vec<Action> {
        Vec::new()
    }

    fn first_boot(&self, host: &Host) -> Vec<Action> {
        self.first_boot_with(host, &self.boots_from(host))
    }

    fn first_boot_with(&self, host: &Host, config: &Path) -> Vec<Action> {
        let config = self.folder.join(config).display().to_string();
        vec![Action::programs(
            machine_action(&host.name, "first-boot"),
            format!("machine {} becomes a worker", host.name),
            ActionCheck::Succeeds(self.call("is-on", host)),
            [self.call("boot", host).with([config])],
            [self.call("remove", host)],
        )]
    }

    fn boots_from(&self, host: &Host) -> PathBuf {
        PathBuf::from(work_paths::host_config(&host.name))
    }

    fn power(&self, host: &Host) -> Probe<Power> {
        // Fails while it is off.
        Probe::new(self.call("is-on", host), |_| Some(Power::On))
    }

    fn load_balancer(&self) -> LoadBalancer {
        LoadBalancer::External
    }
}
