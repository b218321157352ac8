//! The network: defined, set to start with the host, running; and IP forwarding on the host.

use std::net::IpAddr;

use hardway_base::shell_word;

use super::Libvirt;
use super::network_xml::network_xml;
use super::xml::uuid;
use crate::actions::{Action, ActionCheck, Program};

/// The action that defines the network.
pub(super) const DEFINITION: &str = "network/definition";
/// The action that turns on IP forwarding.
const FORWARDING: &str = "network/forwarding-ipv4";

impl Libvirt {
    /// Defined, started with the host, running as defined.
    pub(super) fn network(&self) -> Vec<Action> {
        let (virsh, name, uuid) = (self.virsh(), &self.settings.network, self.network_uuid());
        let (xml, mark) = network_xml(&self.cluster, &self.settings, &uuid);
        let defined = Action::programs(
            DEFINITION,
            format!("the network {name}: addresses, DNS and DHCP of all machines"),
            ActionCheck::Prints {
                program: virsh.call("net-dumpxml", ["--inactive", &uuid]),
                line: mark.line(),
            },
            [virsh.call("net-define", ["/dev/stdin"]).reading(xml)],
            [virsh.if_listed("net-list --all --uuid", &uuid, &[virsh.call("net-undefine", [&uuid])])],
        );
        let autostarted = Action::programs(
            "network/autostart",
            "it starts when the host boots",
            virsh.lists("net-list --all --autostart --uuid", &uuid),
            [virsh.call("net-autostart", [&uuid])],
            [],
        );
        let running = ActionCheck::All(vec![
            virsh.lists("net-list --uuid", &uuid),
            ActionCheck::Prints { program: virsh.call("net-dumpxml", [&uuid]), line: mark.line() },
        ]);
        let stop = virsh.if_listed("net-list --uuid", &uuid, &[virsh.call("net-destroy", [&uuid])]);
        let started = Action::programs(
            "network/active",
            "it runs as defined, with the virtual addresses on its bridge",
            running,
            [stop.clone(), virsh.call("net-start", [&uuid]), self.plug_in_again()],
            [stop],
        );
        let mut actions = vec![defined, autostarted];
        actions.extend(self.forwarding());
        actions.push(started);
        actions
    }

    /// libvirt turns on IP forwarding when it starts the network, and never turns it off again. So hardway does it first, as an
    /// action that can be undone; it stays on if another bridge of this host needs it by then.
    ///
    /// IPv6 is left to libvirt: forwarding it drops the routes that the kernel learned from routers, and libvirt refuses to
    /// start the network where that would cut the host off.
    fn forwarding(&self) -> Option<Action> {
        const KEY: &str = "net.ipv4.ip_forward";
        if !self.cluster.inventory.network.gateway.iter().any(IpAddr::is_ipv4) {
            return None;
        }
        let hypervisor = self.hypervisor();
        let others = format!(
            "links=$(ip -o link show type bridge); \
             bridges=$(printf '%s\\n' \"$links\" | awk '{{print $2}}' | grep -vxF {} || :)",
            shell_word(&format!("{}:", self.settings.bridge))
        );
        Some(Action::programs(
            FORWARDING,
            format!("this host forwards the machines' traffic ({KEY})"),
            ActionCheck::Prints {
                program: hypervisor.run(Program::new("sysctl", ["-n", KEY])),
                line: "1".to_owned(),
            },
            [hypervisor.run(Program::new("sysctl", ["-w", &format!("{KEY}=1")]))],
            [hypervisor.shell(&format!("{others}; if [ -z \"$bridges\" ]; then sysctl -w {KEY}=0; fi"))],
        ))
    }

    /// Stays the same for a cluster, whatever else changes.
    pub(super) fn network_uuid(&self) -> String {
        network_uuid(&self.uuid_word, &self.settings.network)
    }

    /// Stopping a network removes its bridge, and running machines do not attach to the new one by themselves.
    fn plug_in_again(&self) -> Program {
        let uri = if self.settings.uri.ssh.is_some() { "qemu:///system" } else { &self.settings.uri.text };
        let virsh = Program::new("virsh", ["-c", uri]);
        let (network, bridge) = (&self.settings.network, &self.settings.bridge);
        let cards = format!("awk '$2 == \"network\" && $3 == \"{network}\" {{print $1}}'");
        self.hypervisor().shell(&format!(
            "for machine in $({virsh} list --uuid); do \
             for card in $({virsh} domiflist \"$machine\" | {cards}); do \
             ip link set dev \"$card\" master {bridge}; done; done"
        ))
    }
}

/// The UUID of a network, derived from the word that all UUIDs of its cluster are derived from.
pub(super) fn network_uuid(uuid_word: &str, network: &str) -> String {
    uuid(&["network", uuid_word, network])
}
