//! Networks that this host knows a way to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;

use crate::preflight::Judged;
use crate::preflight::scene::Scene;
use crate::providers::Ground;

/// One entry of the routing table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HostRoute {
    pub(super) network: IpNet,
    pub(super) interface: String,
    /// Whether its hosts are on the same segment as this one.
    pub(super) is_direct: bool,
}

impl HostRoute {
    /// All but the default routes, those of single hosts, and what every IPv6 interface has.
    pub(super) fn all() -> Vec<Self> {
        let text = |path: &str| fs_err::read_to_string(path).unwrap_or_default();
        let mut routes: Vec<Self> = text("/proc/net/route").lines().filter_map(Self::of_ipv4).collect();
        routes.extend(text("/proc/net/ipv6_route").lines().filter_map(Self::of_ipv6));
        routes
    }

    /// Interface, destination, gateway, flags, three counters, mask; numbers as they lie in the memory of a little-endian machine.
    fn of_ipv4(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| Some(u32::from_str_radix(words.get(at)?, 16).ok()?.swap_bytes());
        let (destination, gateway, mask) = (number(1)?, number(2)?, number(7)?);
        let prefix = mask.leading_ones();
        Self::new(IpAddr::V4(Ipv4Addr::from(destination)), prefix, 1..32, gateway == 0, words[0])
    }

    /// Destination, its prefix, source, its prefix, next hop, four figures, interface.
    fn of_ipv6(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| u128::from_str_radix(words.get(at)?, 16).ok();
        let destination = Ipv6Addr::from(number(0)?);
        let prefix = u32::from_str_radix(words.get(1)?, 16).ok()?;
        if destination.is_unicast_link_local() || destination.is_multicast() {
            return None;
        }
        Self::new(IpAddr::V6(destination), prefix, 1..128, number(4)? == 0, words.get(9)?)
    }

    fn new(
        address: IpAddr,
        prefix: u32,
        wanted: std::ops::Range<u32>,
        is_direct: bool,
        interface: &str,
    ) -> Option<Self> {
        let network = IpNet::new(address, u8::try_from(prefix).ok()?).ok()?;
        wanted.contains(&prefix).then(|| Self { network, interface: interface.to_owned(), is_direct })
    }

    /// Whether there is an address in both.
    pub(super) fn overlaps(&self, other: &IpNet) -> bool {
        self.network.contains(&other.network()) || other.contains(&self.network.network())
    }
}

pub(in crate::preflight) fn subnet(scene: &Scene<'_>) -> Judged {
    let cluster = scene.site.cluster;
    if scene.ground() == Ground::Elsewhere {
        return Judged::not_applicable("the machines are on another host");
    }
    if scene.owns(&cluster.inventory.network.gateway) {
        return Judged::passed("this host is already the gateway: build-infra has created the network");
    }
    let networks: Vec<IpNet> =
        cluster.config.networking.machine_network.iter().map(|network| network.cidr).collect();
    judge(&networks, &HostRoute::all())
}

fn judge(networks: &[IpNet], routes: &[HostRoute]) -> Judged {
    let mut wrong = Vec::new();
    for network in networks {
        for route in routes.iter().filter(|route| route.overlaps(network)) {
            wrong.push(format!("{network} overlaps {} of interface {}", route.network, route.interface));
        }
    }
    let shown: Vec<String> = networks.iter().map(ToString::to_string).collect();
    let fix = "choose another machineNetwork in install-config.yaml, and addresses in it in inventory.yaml";
    Judged::of(wrong, Vec::new(), fix, format!("no route of this host overlaps {}", shown.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preflight::Verdict;

    #[test]
    fn the_kernels_tables() {
        let route =
            HostRoute::of_ipv4("virbr0\t007EA8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0").unwrap();
        assert_eq!((route.network.to_string().as_str(), route.is_direct), ("192.168.126.0/24", true));
        assert_eq!(HostRoute::of_ipv4("eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0"), None);
        assert_eq!(HostRoute::of_ipv4("Iface\tDestination\tGateway \tFlags"), None);
        let zeros = "0".repeat(32);
        let line =
            format!("fd{} 40 {zeros} 00 {zeros} 00000100 00000001 00000000 00000001 eth0", &zeros[2..]);
        assert_eq!(HostRoute::of_ipv6(&line).unwrap().network.to_string(), "fd00::/64");
        assert_eq!(HostRoute::of_ipv6(&line.replace("fd00", "fe80")), None);
        assert!(route.overlaps(&"192.168.0.0/16".parse().unwrap()));
        assert!(!route.overlaps(&"192.168.127.0/24".parse().unwrap()));
    }

    #[test]
    fn the_other_network_is_named() {
        let networks = ["192.168.126.0/24".parse().unwrap()];
        let route = |network: &str| HostRoute {
            network: network.parse().unwrap(),
            interface: "virbr7".to_owned(),
            is_direct: true,
        };
        assert_eq!(judge(&networks, &[route("10.0.0.0/8")]).verdict, Verdict::Passed);
        let other = judge(&networks, &[route("192.168.126.128/25"), route("10.0.0.0/8")]);
        assert_eq!(other.seen, ["192.168.126.0/24 overlaps 192.168.126.128/25 of interface virbr7"]);
        assert_eq!(other.verdict, Verdict::Failed);
    }
}
