//! Machines that are containers on this computer, on a network of their own.
//!
//! ```text
//! Lab            the provider                                       mod.rs
//! LabSettings    `machines.lab` of the inventory                    settings.rs
//! LabSite        how everything of a lab is called, and where       site.rs
//! network()      segment, addresses                                 network.rs
//! services()     names, load balancer, registry                     services.rs
//! machines       defined, switched on                               machines.rs
//! RealComponents what of a real release the lab's nodes can run     real_components.rs
//! checks         what can be known before anything is built         checks.rs
//! DESCRIPTOR     the provider's row                                 descriptor.rs
//! ```
//!
//! The folder `lab/` of the sources has the scripts that build images and start machines, with their contracts.

mod checks;
mod descriptor;
mod machines;
mod network;
mod real_components;
mod services;
mod settings;
mod site;

use std::path::{Path, PathBuf};

use hardway_assets::Cluster;
use hardway_assets::host_services::InstallStage;
use hardway_assets::ignition::HostPointer;
use hardway_assets::inventory::{Host, Role};

pub use descriptor::DESCRIPTOR;
pub use real_components::{RealComponent, RealComponents};
pub use settings::LabSettings;
pub use site::LabSite;
use site::RUNNING;

use super::probe::{self, power_of};
use super::{LoadBalancer, Power, Probe, Provider};
use crate::actions::{Action, ActionCheck, Program};

/// The lab's registry listens here, on the gateway's address.
const REGISTRY_PORT: u16 = 5000;

/// The provider.
pub struct Lab {
    /// What is to be rehearsed.
    pub cluster: Cluster,
    /// How everything is called, and where it lies.
    pub site: LabSite,
    /// This program: it makes the files that the lab's release is built from.
    pub program: PathBuf,
    /// The working folder, absolute.
    pub folder: PathBuf,
    /// Whether the bootstrap host is still wanted. Its name stays, whatever becomes of it.
    pub stage: InstallStage,
    /// How many inotify instances a user of this computer may have (`fs.inotify.max_user_instances`).
    pub watches: u32,
    /// What podman has to be told on this computer, such as `--ulimit=nofile=20000:20000`.
    pub podman_options: Vec<String>,
}

/// A machine's systemd, kubelet and pods use about 25 inotify instances, and all machines count as one user.
const WATCHES_OF_A_MACHINE: u32 = 32;

impl Provider for Lab {
    fn infrastructure(&self) -> Vec<Action> {
        let mut actions = Vec::new();
        actions.extend(self.watches());
        actions.push(self.images());
        actions.extend(self.network());
        actions.extend(self.services());
        let is_wanted =
            |host: &&Host| self.stage == InstallStage::Bootstrapping || host.role != Role::Bootstrap;
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
        Probe::new(self.site.status(&host.name), |printed| {
            Some(power_of(
                printed,
                &[RUNNING],
                &["configured", "created", "exited", "initialized", "stopped"],
            ))
        })
    }

    fn state(&self, host: &Host) -> Option<Probe<String>> {
        let format = "--format={{.State.Status}}, exit code {{.State.ExitCode}}{{if .State.OOMKilled}}, killed for lack of memory{{end}}, \
             ended {{.State.FinishedAt}}";
        let inspect = Program::words("podman container inspect");
        Some(Probe::new(
            inspect.with([format.to_owned(), self.site.container(&host.name)]),
            probe::first_line,
        ))
    }

    fn exists(&self, host: &Host) -> Option<Probe<bool>> {
        let script = "podman container exists \"$0\"; case $? in 0) echo yes;; 1) echo no;; *) exit 1;; esac";
        let ask = Program::new("sh", ["-c".to_owned(), script.to_owned(), self.site.container(&host.name)]);
        Some(Probe::new(ask, probe::yes_or_no))
    }

    fn switch(&self, host: &Host, to: Power) -> Option<Program> {
        let container = self.site.container(&host.name);
        Some(match to {
            Power::On => Program::words("podman start").with([container]),
            // systemd in there stops pods and kubelet first.
            _ => Program::words("podman stop --time=120").with([container]),
        })
    }

    /// Until systemd runs, Ignition's messages are all there is; journalctl is there by then, and finds nothing.
    fn console_tail(&self, host: &Host) -> Option<Program> {
        let script = "said=$(podman exec \"$0\" journalctl --no-pager --quiet --output=short --lines=60 2>/dev/null); \
            if [ -n \"$said\" ]; then printf '%s\\n' \"$said\"; else podman logs --tail=60 \"$0\" 2>&1; fi";
        Some(Program::new("sh", ["-c".to_owned(), script.to_owned(), self.site.container(&host.name)]))
    }

    fn look_at_console(&self, host: &Host) -> Option<String> {
        Some(format!("hardway lab logs {}", host.name))
    }

    fn load_balancer(&self) -> LoadBalancer {
        LoadBalancer::Haproxy { admin_socket: self.site.state("haproxy.sock") }
    }
}

impl Lab {
    /// Raises the limit only where it is too low.
    fn watches(&self) -> Option<Action> {
        let machines = u32::try_from(self.cluster.inventory.hosts.len()).unwrap_or(u32::MAX);
        let needed = machines.saturating_mul(WATCHES_OF_A_MACHINE);
        let set = |value: u32| Program::words(&format!("sysctl -q -w fs.inotify.max_user_instances={value}"));
        (self.watches < needed).then(|| {
            Action::programs(
                "host/watches",
                format!(
                    "{machines} machines need {needed} inotify instances, but the limit is {}",
                    self.watches
                ),
                ActionCheck::Prints {
                    program: Program::words("sysctl -n fs.inotify.max_user_instances"),
                    line: (needed * 2).to_string(),
                },
                [set(needed * 2)],
                [set(self.watches)],
            )
        })
    }

    fn images(&self) -> Action {
        let mut build = self.site.script("build.sh").with([
            "--registry".to_owned(),
            self.registry(),
            "--hardway".to_owned(),
            self.program.display().to_string(),
        ]);
        let mut why = "the machines' image and a release in a registry, built from Debian packages and Go modules; this takes half an \
             hour the first time";
        if self.site.has_real_operators {
            build = build.with(["--operators", settings::REAL]);
            why = "the machines' image, built from Debian packages; the release is what `hardway lab release` put together";
        }
        Action::programs(
            IMAGES,
            why,
            ActionCheck::Succeeds(build.clone().with(["--check"])),
            [build],
            [self.site.script("clean.sh")],
        )
    }

    /// For the scripts that start containers.
    fn podman_arguments(&self) -> impl Iterator<Item = &str> {
        self.podman_options.iter().flat_map(|option| ["--podman", option])
    }

    /// `HOST:PORT`, as nodes know it.
    fn registry(&self) -> String {
        self.site.registry(&self.cluster)
    }
}

/// The action that builds the images: what it made can outlive a lab.
const IMAGES: &str = "images/built";

#[cfg(test)]
mod tests;
