//! The segment: a bridge in a network namespace of its own, with the gateway and both virtual addresses on it. Nothing of
//! the computer's own network is touched, and nothing in the lab reaches the outside.

use std::net::IpAddr;

use hardway_assets::Cluster;

use super::Lab;
use crate::actions::{Action, ActionCheck, Program};
use crate::providers::ActionScope;

/// Of the bridge.
const SEGMENT: &str = "lab0";

impl Lab {
    /// In the order of their dependencies.
    pub(super) fn network(&self) -> Vec<Action> {
        let namespace = self.site.namespace();
        let ip = |words: String| Program::words(&format!("ip -n {namespace} {words}"));
        let files = "the configuration of the lab's services, until the next reboot";
        let mut actions = vec![
            Action::folder("network/files", files, self.site.state("")),
            Action::programs(
                "network/namespace",
                "a network namespace that isolates the lab from this computer",
                ActionCheck::Succeeds(ip("link show lo".to_owned())),
                [Program::words(&format!("ip netns add {namespace}"))],
                [Program::words(&format!("ip netns delete {namespace}"))],
            ),
            self.up("lo", "the loopback interface is up, so that services on the gateway reach each other"),
            Action::programs(
                "network/segment",
                "the bridge that all machines are attached to",
                ActionCheck::Succeeds(ip(format!("link show {SEGMENT}"))),
                [ip(format!("link add {SEGMENT} type bridge"))],
                [ip(format!("link delete {SEGMENT}"))],
            ),
            self.up(SEGMENT, "the bridge is up"),
        ];
        for (address, prefix, what) in self.addresses() {
            actions.push(Action::programs(
                format!("network/address/{address}"),
                format!("{what} is on the bridge"),
                ActionCheck::PrintsSomething(ip(format!(
                    "-o address show dev {SEGMENT} to {address}/{prefix}"
                ))),
                [ip(format!("address replace {address}/{prefix} dev {SEGMENT}"))],
                [ip(format!("address delete {address}/{prefix} dev {SEGMENT}"))],
            ));
        }
        actions.push(Action::file(
            ActionScope::Names.action("resolver"),
            "commands inside the lab use the lab's own name server",
            self.site.state("resolv.conf"),
            format!("nameserver {}\nsearch {}\n", self.gateway(), self.cluster.domain()),
        ));
        actions
    }

    /// Sets a link in the segment's namespace up. Needs no undo: it goes when the link goes.
    fn up(&self, link: &str, why: &str) -> Action {
        let ip = |words: String| Program::words(&format!("ip -n {} {words}", self.site.namespace()));
        let holds = ActionCheck::PrintsSomething(ip(format!("link show dev {link} up")));
        Action::programs(format!("network/{link}-up"), why, holds, [ip(format!("link set {link} up"))], [])
    }

    /// Where the machines send what is not for the segment. Names, registry and ignition server answer there.
    pub(super) fn gateway(&self) -> IpAddr {
        gateway(&self.cluster)
    }

    /// The prefix length of the address's machine network.
    pub(super) fn prefix(&self, ip: IpAddr) -> u8 {
        self.cluster.machine_network_of(ip).map_or(24, |network| network.prefix_len())
    }

    fn addresses(&self) -> Vec<(IpAddr, u8, &'static str)> {
        let network = &self.cluster.inventory.network;
        let gateway = self.gateway();
        let mut found = vec![(gateway, self.prefix(gateway), "the gateway")];
        let vips = [
            (&network.api_vip, "the address of the API"),
            (&network.ingress_vip, "the address of the routes"),
        ];
        for (addresses, what) in vips {
            for address in addresses.iter().filter(|ip| ip.is_ipv4()) {
                if !found.iter().any(|(known, _, _)| known == address) {
                    found.push((*address, 32, what));
                }
            }
        }
        found
    }
}

/// This computer, as machines know it.
pub(super) fn gateway(cluster: &Cluster) -> IpAddr {
    let network = &cluster.inventory.network;
    *network.gateway.iter().chain(&network.dns).find(|ip| ip.is_ipv4()).unwrap_or(&network.api_vip[0])
}
