//! Machines: containers with systemd that boot from an Ignition config.

use std::path::Path;

use hardway_assets::inventory::Host;

use super::Lab;
use super::services::NODE_IMAGE;
use crate::actions::{Action, Check, Program};
use crate::providers::machine_action;

impl Lab {
    /// Its card, its disks and its container; off.
    pub(super) fn define(&self, host: &Host) -> Action {
        let (name, gateway) = (&host.name, self.gateway());
        let (lab, ip) = (&self.place.lab, host.ip[0]);
        let address = format!("{ip}/{}", self.prefix(ip));
        let mut define = self.place.script("node/define.sh").with([lab, name]);
        for (option, value) in [
            ("--image", NODE_IMAGE.to_owned()),
            ("--ip", address),
            ("--mac", host.mac.clone().unwrap_or_default()),
            ("--gateway", gateway.to_string()),
            ("--registry", self.registry()),
        ] {
            define = define.with([option.to_owned(), value]);
        }
        let card = Program::words(&format!("ip -n {} link show eth0", self.place.container(name)));
        let container = Program::words("podman container exists").with([self.place.container(name)]);
        Action::programs(
            machine_action(name, "defined"),
            format!("{name} ({}), plugged in and off", host.role),
            Check::All(vec![Check::Succeeds(card), Check::Succeeds(container)]),
            [define],
            [self.place.script("node/remove.sh").with([lab, name])],
        )
    }

    /// With the pointer to its config, as an installer would put it on its disk.
    pub(super) fn boot(&self, host: &Host, pointer: &Path) -> Action {
        let pointer = self.folder.join(pointer);
        let boot = self.place.script("node/boot.sh").with([
            self.place.lab.clone(),
            host.name.clone(),
            "--ignition".to_owned(),
            pointer.display().to_string(),
        ]);
        Action::programs(
            machine_action(&host.name, "booted"),
            format!("{} boots, and fetches its config from the ignition server", host.name),
            self.place.is_running(&host.name),
            [boot],
            [],
        )
    }
}
