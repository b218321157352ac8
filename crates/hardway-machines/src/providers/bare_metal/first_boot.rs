//! The first boot of a machine.

use std::path::{Path, PathBuf};

use hardway_assets::inventory::{Host, Role};
use hardway_assets::work_paths;
use hardway_base::shell_word;

use super::{BareMetal, FirstBoot};
use crate::actions::{Action, ActionCheck, Program, Step};
use crate::providers::{install_medium, machine_action};

impl BareMetal {
    /// The controller can be asked; a wrong login is better known before the first machine boots.
    pub(super) fn controller_answers(&self, host: &Host) -> Option<Action> {
        let settings = self.settings.controllers.get(&host.name)?;
        Some(Action::programs(
            machine_action(&host.name, "controller"),
            format!("the controller of {} at {} answers and accepts the login", host.name, settings.address),
            ActionCheck::Succeeds(self.bmc("status", host)),
            [self.bmc("status", host)],
            [],
        ))
    }

    /// What it boots from, with the config as it is now: its own, or one that is given.
    pub(super) fn medium(&self, host: &Host, given: Option<&Path>) -> Action {
        let (config, flags) = install_medium::carried(&self.cluster, &self.folder, host, given);
        let path = self.medium_path(host);
        match self.settings.boot {
            FirstBoot::Iso => {
                let make = self.hardway("media iso --host").with([&host.name]).with(flags);
                Action {
                    id: machine_action(&host.name, "medium"),
                    why: format!("the ISO that installs {}, newer than its config", host.name),
                    holds: is_newer(&path, &config),
                    does: install_medium::make(
                        &self.hardway(""),
                        &self.folder,
                        &make,
                        self.cluster.inventory.is_hosted(),
                    ),
                    undo: vec![Step::RemoveFile { path }],
                }
            }
            FirstBoot::Pxe => {
                let url = self.settings.media_url.as_deref().unwrap_or_default();
                let make = self.hardway("media pxe --url").with([url]);
                let why = format!("what {} boots over the network, newer than its config", host.name);
                let holds = is_newer(&path, &config);
                let id = machine_action(&host.name, "medium");
                // What all hosts boot from is made at once; a config that is given is one host's alone, and goes with its machine.
                if given.is_none() {
                    return Action::programs(id, why, holds, [make], []);
                }
                let make = make.with(["--host", &host.name]).with(flags);
                Action { id, why, holds, does: vec![Step::Run(make)], undo: vec![Step::RemoveFile { path }] }
            }
        }
    }

    /// Through its controller, or by a person. A mark in the folder says that it was done: the machine's own state
    /// would not, because it reboots, and the drive is emptied later.
    pub(super) fn boot(&self, host: &Host) -> Action {
        let id = machine_action(&host.name, "first-boot");
        if !self.settings.controllers.contains_key(&host.name) {
            return Action::programs(
                id,
                format!("{} boots its install medium, by hand", host.name),
                ActionCheck::Succeeds(self.bmc("seen", host)),
                [self.bmc("by-hand", host)],
                [],
            );
        }
        let verbs: &[&str] = match self.settings.boot {
            FirstBoot::Iso => &["power-off", "insert", "boot-once-cd", "power-on"],
            FirstBoot::Pxe => &["power-off", "boot-once-pxe", "power-on"],
        };
        let mark = Step::WriteFile {
            path: self.own_file(&format!("first-boot/{}", host.name)),
            mode: 0o644,
            content: format!("{} was booted by hardway to be installed.\n", host.name),
        };
        let Step::WriteFile { path, mode, content } = mark.clone() else { unreachable!("it is one") };
        let back: &[&str] = match self.settings.boot {
            FirstBoot::Iso => &["power-off", "eject"],
            FirstBoot::Pxe => &["power-off"],
        };
        let disk = host.install_disk.as_deref().unwrap_or("its disk");
        Action {
            id,
            why: format!(
                "{} is switched off and boots its install medium once; all data on {disk} is lost",
                host.name
            ),
            holds: ActionCheck::FileIs { path, mode, content },
            does: verbs.iter().map(|verb| Step::Run(self.bmc(verb, host))).chain([mark]).collect(),
            undo: back.iter().map(|verb| Step::Run(self.bmc(verb, host))).collect(),
        }
    }

    /// Nobody should install it again by mistake.
    pub(super) fn medium_out(&self, host: &Host) -> Option<Action> {
        let has_drive =
            self.settings.controllers.contains_key(&host.name) && self.settings.boot == FirstBoot::Iso;
        has_drive.then(|| {
            Action::programs(
                machine_action(&host.name, "medium-out"),
                format!(
                    "the virtual drive of {} is empty, because the medium contains its config",
                    host.name
                ),
                ActionCheck::Prints { program: self.bmc("status", host), line: "medium: none".to_owned() },
                [self.bmc("eject", host)],
                [],
            )
        })
    }

    /// What a person has to do; nothing where there is a controller.
    pub(super) fn instructions(&self, host: &Host) -> Vec<String> {
        if self.settings.controllers.contains_key(&host.name) {
            return Vec::new();
        }
        let name = &host.name;
        let disk = host.install_disk.as_deref().unwrap_or("its disk");
        let card = match (&host.mac, &host.interface) {
            (Some(mac), _) => format!("the NIC {mac}"),
            (None, Some(interface)) => format!("the NIC that Linux calls {interface}"),
            (None, None) => "its first NIC".to_owned(),
        };
        let addresses: Vec<String> = host.ip.iter().map(ToString::to_string).collect();
        let mut steps = vec![
            format!(
                "Find the machine that will be {name} ({}). All data on its disk {disk} will be lost.",
                host.role
            ),
            format!(
                "Connect {card} to the machine network; it will have the address {}.",
                addresses.join(" and ")
            ),
            "In its firmware setup: set the clock (UTC), create RAID volumes, and put the disk first in the boot order.".to_owned(),
        ];
        steps.extend(match self.settings.boot {
            FirstBoot::Iso => [
                format!(
                    "Write {} to a USB stick (dd if={} of=/dev/STICK bs=4M oflag=sync), or attach it as virtual media in the \
                     machine's remote console.",
                    install_medium::iso(&self.folder, host).display(),
                    install_medium::iso(&self.folder, host).display()
                ),
                "Switch it on and choose the stick or virtual disc in the firmware's one-time boot menu.".to_owned(),
            ],
            FirstBoot::Pxe => [
                format!(
                    "Run `{0} serve --boot ADDRESS:PORT`, and set the URL that `{0} media urls` prints as the iPXE script in \
                     DHCP (see the page on install-os in the guide).",
                    self.command()
                ),
                "Switch it on and choose the NIC in the firmware's one-time boot menu.".to_owned(),
            ],
        });
        steps.push(
            "Wait until it has written the disk and restarted by itself. Then remove the stick or disc, so that it does not \
             boot from it again."
                .to_owned(),
        );
        steps.push(match (install_medium::has_pointer(&self.cluster), host.role) {
            (true, _) => format!("hardway continues when {name} fetches its config. If the command has ended by then, run it again."),
            // Its kubelet asks nobody for a certificate.
            (false, Role::Bootstrap) => format!(
                "hardway cannot see {name} boot, because its whole config is on its medium: `{0} create cluster` goes on and waits for its API, \
                 and so does `{0} wait-for bootstrap-complete`. Set ignitionServer.url in inventory.yaml to have it seen.",
                self.command()
            ),
            (false, _) => format!("hardway sees {name} when its kubelet requests a certificate."),
        });
        steps
    }

    /// The program, for this folder, as a person types it.
    fn command(&self) -> String {
        format!("hardway --dir {}", shell_word(self.folder.display().to_string().trim_end_matches('/')))
    }

    /// What carries the config.
    pub(super) fn medium_path(&self, host: &Host) -> PathBuf {
        match self.settings.boot {
            FirstBoot::Iso => install_medium::iso(&self.folder, host),
            FirstBoot::Pxe => self.folder.join(work_paths::pxe_config(&host.name)),
        }
    }
}

fn is_newer(file: &Path, than: &Path) -> ActionCheck {
    let word = |path: &Path| path.display().to_string();
    ActionCheck::Succeeds(Program::new("test", [word(file), "-nt".to_owned(), word(than)]))
}
