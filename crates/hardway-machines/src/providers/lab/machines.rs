//! Machines: containers with systemd that boot from an Ignition config.

use std::path::Path;

use hardway_assets::inventory::Host;

use super::Lab;
use super::services::NODE_IMAGE;
use crate::actions::{Action, ActionCheck, Program};
use crate::providers::machine_action;

impl Lab {
    /// Creates its network card, its disks and its container, without starting it.
    pub(super) fn define(&self, host: &Host) -> Action {
        let (name, gateway) = (&host.name, self.gateway());
        let (lab, ip) = (&self.site.lab, host.ip[0]);
        let address = format!("{ip}/{}", self.prefix(ip));
        let mut define = self.site.script("node/define.sh").with([lab, name]);
        for (option, value) in [
            ("--image", NODE_IMAGE.to_owned()),
            ("--ip", address),
            ("--mac", host.mac.clone().unwrap_or_default()),
            ("--gateway", gateway.to_string()),
            ("--registry", self.registry()),
        ] {
            define = define.with([option.to_owned(), value]);
        }
        define = define.with(self.podman_arguments());
        let card = Program::words(&format!("ip -n {} link show eth0", self.site.container(name)));
        let container = Program::words("podman container exists").with([self.site.container(name)]);
        Action::programs(
            machine_action(name, "defined"),
            format!("{name} ({}), attached to the network and off", host.role),
            ActionCheck::All(vec![ActionCheck::Succeeds(card), ActionCheck::Succeeds(container)]),
            [define],
            [self.site.script("node/remove.sh").with([lab, name])],
        )
    }

    /// With the pointer to its config, as an installer would put it on its disk.
    pub(super) fn boot(&self, host: &Host, pointer: &Path) -> Action {
        let pointer = self.folder.join(pointer);
        let boot = self.site.script("node/boot.sh").with([
            self.site.lab.clone(),
            host.name.clone(),
            "--ignition".to_owned(),
            pointer.display().to_string(),
        ]);
        Action::programs(
            machine_action(&host.name, "booted"),
            format!("{} boots and fetches its config from the ignition server", host.name),
            self.site.is_running(&host.name),
            [boot],
            [],
        )
    }
}
