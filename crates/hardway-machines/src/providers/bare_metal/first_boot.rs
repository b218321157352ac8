//! The first boot of a machine.

use std::path::{Path, PathBuf};

use hardway_assets::inventory::Host;

use super::{BareMetal, Boot};
use crate::actions::{Action, Check, Program, Step};
use crate::providers::{install_medium, machine_action};

impl BareMetal {
    /// The controller can be asked; a wrong login is better known before the first machine boots.
    pub(super) fn controller_answers(&self, host: &Host) -> Option<Action> {
        let settings = self.settings.controllers.get(&host.name)?;
        Some(Action::programs(
            machine_action(&host.name, "controller"),
            format!("the controller of {} at {} answers and takes our login", host.name, settings.address),
            Check::Succeeds(self.bmc("status", host)),
            [self.bmc("status", host)],
            [],
        ))
    }

    /// What it boots from, with the config as it is now: its own, or one that is given.
    pub(super) fn medium(&self, host: &Host, given: Option<&Path>) -> Action {
        let (config, flags) = install_medium::carried(&self.cluster, &self.folder, host, given);
        let path = self.medium_path(host);
        match self.settings.boot {
            Boot::Iso => {
                let make = self.hardway("media iso --host").with([&host.name]).with(flags);
                Action {
                    id: machine_action(&host.name, "medium"),
                    why: format!(
                        "the ISO that installs {} with its config, newer than the config",
                        host.name
                    ),
                    holds: is_newer(&path, &config),
                    does: install_medium::make(&self.hardway(""), &self.folder, &make),
                    undo: vec![Step::RemoveFile { path }],
                }
            }
            Boot::Pxe => {
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
                format!("{} boots what installs it: a person has to do that", host.name),
                Check::Succeeds(self.bmc("seen", host)),
                [self.bmc("by-hand", host)],
                [],
            );
        }
        let verbs: &[&str] = match self.settings.boot {
            Boot::Iso => &["power-off", "insert", "boot-once-cd", "power-on"],
            Boot::Pxe => &["power-off", "boot-once-pxe", "power-on"],
        };
        let mark = Step::WriteFile {
            path: self.own_file(&format!("first-boot/{}", host.name)),
            mode: 0o644,
            content: format!("{} was booted by hardway to be installed.\n", host.name),
        };
        let Step::WriteFile { path, mode, content } = mark.clone() else { unreachable!("it is one") };
        let back: &[&str] = match self.settings.boot {
            Boot::Iso => &["power-off", "eject"],
            Boot::Pxe => &["power-off"],
        };
        let disk = host.install_disk.as_deref().unwrap_or("its disk");
        Action {
            id,
            why: format!(
                "{} is switched off, boots what installs it, once, and loses what is on {disk}",
                host.name
            ),
            holds: Check::FileIs { path, mode, content },
            does: verbs.iter().map(|verb| Step::Run(self.bmc(verb, host))).chain([mark]).collect(),
            undo: back.iter().map(|verb| Step::Run(self.bmc(verb, host))).collect(),
        }
    }

    /// Nobody should install it again by mistake.
    pub(super) fn medium_out(&self, host: &Host) -> Option<Action> {
        let has_drive = self.settings.controllers.contains_key(&host.name) && self.settings.boot == Boot::Iso;
        has_drive.then(|| {
            Action::programs(
                machine_action(&host.name, "medium-out"),
                format!(
                    "the virtual drive of {} is empty: it is installed, and the medium holds its config",
                    host.name
                ),
                Check::Prints { program: self.bmc("status", host), line: "medium: none".to_owned() },
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
            (Some(mac), _) => format!("the card {mac}"),
            (None, Some(interface)) => format!("the card that Linux calls {interface}"),
            (None, None) => "its first card".to_owned(),
        };
        let addresses: Vec<String> = host.ip.iter().map(ToString::to_string).collect();
        let mut steps = vec![
            format!(
                "Find the machine that is to be {name} ({}). Everything on its disk {disk} will be lost.",
                host.role
            ),
            format!(
                "Plug {card} into the machine network; it will have the address {}.",
                addresses.join(" and ")
            ),
            "In its firmware: the clock at the right time (UTC), RAID volumes made, the disk before everything else in the boot order.".to_owned(),
        ];
        steps.extend(match self.settings.boot {
            Boot::Iso => [
                format!(
                    "Give it {} as a disc: write it to a stick (dd if={} of=/dev/STICK bs=4M oflag=sync), or insert it with the machine's own remote console.",
                    install_medium::iso(&self.folder, host).display(),
                    install_medium::iso(&self.folder, host).display()
                ),
                "Switch it on and choose the stick or disc in the firmware's menu for one boot.".to_owned(),
            ],
            Boot::Pxe => [
                "Have `hardway serve --boot` run, and DHCP name to iPXE what `hardway media urls` prints for it (see the page of install-os in the guide)."
                    .to_owned(),
                "Switch it on and choose the network card in the firmware's menu for one boot.".to_owned(),
            ],
        });
        steps.push(
            "Wait: it writes the disk and restarts by itself. Then take the stick or disc out; it must not boot from it again."
                .to_owned(),
        );
        steps.push(if install_medium::has_pointer(&self.cluster) {
            format!("When {name} fetches its config, hardway sees it and goes on; run the same command again until then.")
        } else {
            format!("hardway sees {name} when its kubelet asks for a certificate; run the same command again until then.")
        });
        steps
    }

    /// What carries the config.
    pub(super) fn medium_path(&self, host: &Host) -> PathBuf {
        match self.settings.boot {
            Boot::Iso => install_medium::iso(&self.folder, host),
            Boot::Pxe => self.folder.join(format!("pxe/ignition/{}.ign", host.name)),
        }
    }
}

fn is_newer(file: &Path, than: &Path) -> Check {
    let word = |path: &Path| path.display().to_string();
    Check::Succeeds(Program::new("test", [word(file), "-nt".to_owned(), word(than)]))
}
