//! Addresses that machines will get: nobody else may have them.
//!
//! A packet is sent to each, which makes the kernel ask who has it; its table of neighbours then says who answered.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use hardway_assets::Cluster;
use hardway_assets::inventory::Balancer;

use super::route::HostRoute;
use crate::preflight::Judged;
use crate::preflight::scene::Scene;

/// A neighbour on the same segment is asked and answers in milliseconds.
const LONG_ENOUGH: Duration = Duration::from_millis(1500);
/// Nobody listens there; the question is who has the address.
const DISCARD: u16 = 9;

/// An address and who should have it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Claim {
    address: IpAddr,
    whose: String,
    /// The card that should answer, if the inventory names it.
    mac: Option<String>,
    /// Whether it is a machine's own, which may be on already.
    is_machine: bool,
}

pub(in crate::preflight) fn addresses(scene: &Scene<'_>) -> Judged {
    let routes = HostRoute::all();
    let is_near =
        |claim: &Claim| routes.iter().any(|route| route.is_direct && route.network.contains(&claim.address));
    let claims: Vec<Claim> = claims(scene.site.cluster)
        .into_iter()
        .filter(|claim| claim.address.is_ipv4() && is_near(claim) && !scene.owns(&[claim.address]))
        .collect();
    if claims.is_empty() {
        return Judged::not_applicable("this host is not on the machine network");
    }
    judge(&claims, &neighbours(&claims))
}

fn claims(cluster: &Cluster) -> Vec<Claim> {
    let network = &cluster.inventory.network;
    let mut claims = Vec::new();
    for host in &cluster.inventory.hosts {
        let claim = |address: &IpAddr| Claim {
            address: *address,
            whose: host.name.clone(),
            mac: host.mac.as_ref().map(|mac| mac.to_ascii_lowercase()),
            is_machine: true,
        };
        claims.extend(host.ip.iter().map(claim));
    }
    // Somebody else's balancer has them already; ours is to be on this host.
    if network.load_balancer == Balancer::Haproxy {
        for (whose, addresses) in [("apiVIP", &network.api_vip), ("ingressVIP", &network.ingress_vip)] {
            let claim = |address: &IpAddr| Claim {
                address: *address,
                whose: whose.to_owned(),
                mac: None,
                is_machine: false,
            };
            claims.extend(addresses.iter().map(claim));
        }
    }
    claims
}

/// Who answered, by address.
fn neighbours(claims: &[Claim]) -> BTreeMap<IpAddr, String> {
    let Ok(socket) = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)) else { return BTreeMap::new() };
    for claim in claims {
        let _ = socket.send_to(&[], (claim.address, DISCARD));
    }
    let began = Instant::now();
    loop {
        let found = answered(&fs_err::read_to_string("/proc/net/arp").unwrap_or_default());
        let is_all = claims.iter().all(|claim| found.contains_key(&claim.address));
        if is_all || began.elapsed() > LONG_ENOUGH {
            return found;
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// `192.168.126.101 0x1 0x2 52:54:00:7e:00:65 * virbr0`: flag 2 means that somebody answered.
fn answered(arp: &str) -> BTreeMap<IpAddr, String> {
    let entry = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let flags = u32::from_str_radix(words.get(2)?.strip_prefix("0x")?, 16).ok()?;
        (flags & 2 != 0).then_some((words.first()?.parse().ok()?, words.get(3)?.to_ascii_lowercase()))
    };
    arp.lines().filter_map(entry).collect()
}

fn judge(claims: &[Claim], neighbours: &BTreeMap<IpAddr, String>) -> Judged {
    let (mut wrong, mut odd) = (Vec::new(), Vec::new());
    for Claim { address, whose, mac, is_machine } in claims {
        let Some(found) = neighbours.get(address) else { continue };
        match mac {
            Some(mac) if mac == found => {}
            Some(mac) => wrong.push(format!("{address} of {whose} is used by {found}, expected {mac}")),
            None if *is_machine => {
                odd.push(format!("{address} of {whose} is already used by {found}; is the machine on?"))
            }
            None => wrong.push(format!("{address}, the {whose}, is already used by {found}")),
        }
    }
    let fix = "free the address, or choose another in inventory.yaml";
    Judged::of(wrong, odd, fix, format!("none of {} addresses is in use", claims.len()))
}

#[cfg(test)]
mod tests {
    use hardway_assets::example;

    use super::*;
    use crate::preflight::Verdict;

    #[test]
    fn who_has_an_address_is_named() {
        let cluster = example::cluster();
        let claims = claims(&cluster);
        assert_eq!(claims.len(), 8);
        let judge = |address: &str, mac: &str| {
            let arp = format!(
                "IP address HW type Flags HW address Mask Device\n{address} 0x1 0x2 {mac} * virbr0\n10.0.0.1 0x1 0x0 00:00:00:00:00:00 * eth0\n"
            );
            judge(&claims, &answered(&arp))
        };
        assert_eq!(judge("192.168.126.101", "52:54:00:7E:00:65").verdict, Verdict::Passed);
        let other = judge("192.168.126.101", "aa:bb:cc:00:00:01");
        assert_eq!(
            other.seen,
            ["192.168.126.101 of master-0 is used by aa:bb:cc:00:00:01, expected 52:54:00:7e:00:65"]
        );
        let vip = judge("192.168.126.10", "aa:bb:cc:00:00:01");
        assert_eq!(vip.seen, ["192.168.126.10, the apiVIP, is already used by aa:bb:cc:00:00:01"]);
        assert_eq!(vip.verdict, Verdict::Failed);
    }
}
