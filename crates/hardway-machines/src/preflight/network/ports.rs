//! Ports at which hardway will listen on this host.

use std::net::{IpAddr, SocketAddr};

use hardway_assets::host_services::{BalancedPort, InstallStage};
use hardway_assets::inventory::Balancer;

use super::listener::{Listener, Protocol};
use crate::preflight::Judged;
use crate::preflight::scene::Scene;
use crate::providers::Ground;

/// A port that must be free, or in the right hands already.
#[derive(Clone, Debug, PartialEq, Eq)]
struct WantedPort {
    protocol: Protocol,
    port: u16,
    addresses: Vec<IpAddr>,
    what: &'static str,
    /// The program that may have it already.
    ours: &'static str,
}

/// A listener, and its process where this user may see it.
type Owned = (Listener, Option<(String, u32)>);

pub(in crate::preflight) fn ports(scene: &Scene<'_>) -> Judged {
    let wanted = wanted(scene);
    if wanted.is_empty() {
        return Judged::not_applicable("no part of the cluster will listen on this host");
    }
    let listeners =
        Listener::all().into_iter().filter(|listener| wanted.iter().any(|port| port.is_met_by(listener)));
    let owned: Vec<Owned> = listeners
        .map(|listener| {
            let owner = listener.owner();
            (listener, owner)
        })
        .collect();
    judge(&wanted, &owned)
}

fn wanted(scene: &Scene<'_>) -> Vec<WantedPort> {
    let (cluster, mut wanted) = (scene.site.cluster, Vec::new());
    let network = &cluster.inventory.network;
    let is_here = scene.ground() == Ground::Here;
    let is_gateway_here = is_here && scene.provider().row().is_gateway_here;
    let is_balancer_here = is_here || scene.owns(&network.api_vip);
    if network.load_balancer == Balancer::Haproxy && is_balancer_here {
        for BalancedPort { name, port, addresses, .. } in
            BalancedPort::all(cluster, InstallStage::Bootstrapping)
        {
            wanted.push(WantedPort { protocol: Protocol::Tcp, port, addresses, what: name, ours: "haproxy" });
        }
    }
    if is_here && (scene.surroundings().brings_names)(cluster) {
        for protocol in [Protocol::Tcp, Protocol::Udp] {
            let addresses = network.dns.clone();
            wanted.push(WantedPort { protocol, port: 53, addresses, what: "names", ours: "dnsmasq" });
        }
    }
    let server =
        cluster.inventory.ignition_server.url.as_ref().and_then(|url| Some((url.address()?, url.port)));
    if let Some((address, port)) = server
        && (scene.owns(&[address]) || is_gateway_here && network.gateway.contains(&address))
    {
        let what = "the ignition server";
        wanted.push(WantedPort {
            protocol: Protocol::Tcp,
            port,
            addresses: vec![address],
            what,
            ours: "hardway",
        });
    }
    if let Some(at) = scene.setting("mediaUrl").and_then(server_in)
        && scene.owns(&[at.ip()])
    {
        let (port, addresses, what) = (at.port(), vec![at.ip()], "install media");
        wanted.push(WantedPort { protocol: Protocol::Tcp, port, addresses, what, ours: "hardway" });
    }
    wanted
}

/// The address in `http://192.168.126.2:8080`. Behind a name or a path is somebody else's server.
fn server_in(url: &str) -> Option<SocketAddr> {
    let server = url.strip_prefix("http://")?.trim_end_matches('/');
    server.parse().ok().or_else(|| Some(SocketAddr::new(server.parse().ok()?, 80)))
}

impl WantedPort {
    fn is_met_by(&self, listener: &Listener) -> bool {
        let is_same = (listener.protocol, listener.port) == (self.protocol, self.port);
        is_same && (listener.address.is_unspecified() || self.addresses.contains(&listener.address))
    }
}

fn judge(wanted: &[WantedPort], listeners: &[Owned]) -> Judged {
    let (mut wrong, mut odd) = (Vec::new(), Vec::new());
    for port in wanted {
        for (listener, owner) in listeners.iter().filter(|(listener, _)| port.is_met_by(listener)) {
            if owner.as_ref().is_some_and(|(name, _)| name == port.ours) {
                continue;
            }
            let who = owner
                .as_ref()
                .map_or_else(|| "somebody".to_owned(), |(name, id)| format!("{name} (process {id})"));
            let (protocol, number, address) = (port.protocol.name(), port.port, listener.address);
            let sentence =
                format!("{protocol} port {number}, for {}, is used at {address} by {who}", port.what);
            // Only root can see whose it is; at exactly this address, it may well be ours.
            let is_ours_perhaps = owner.is_none() && !address.is_unspecified();
            if is_ours_perhaps { odd.push(sentence) } else { wrong.push(sentence) }
        }
    }
    wrong.dedup();
    let mut shown: Vec<String> = wanted.iter().map(|port| port.port.to_string()).collect();
    shown.dedup();
    let fix = "stop the process that listens there, or have it listen on other addresses";
    Judged::of(wrong, odd, fix, format!("{} are free or used by hardway", shown.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preflight::Verdict;

    #[test]
    fn the_port_and_its_holder_are_named() {
        let vip: IpAddr = [192, 168, 126, 10].into();
        let wanted = [WantedPort {
            protocol: Protocol::Tcp,
            port: 6443,
            addresses: vec![vip],
            what: "api",
            ours: "haproxy",
        }];
        let by = |address: &str, name: &str| {
            let listener =
                Listener { protocol: Protocol::Tcp, address: address.parse().unwrap(), port: 6443, inode: 1 };
            judge(&wanted, &[(listener, Some((name.to_owned(), 42)))])
        };
        assert_eq!(judge(&wanted, &[]).verdict, Verdict::Passed);
        assert_eq!(by("192.168.126.10", "haproxy").verdict, Verdict::Passed);
        assert_eq!(by("127.0.0.1", "k3s-server").verdict, Verdict::Passed);
        let taken = by("0.0.0.0", "k3s-server");
        assert_eq!(taken.seen, ["TCP port 6443, for api, is used at 0.0.0.0 by k3s-server (process 42)"]);
        assert_eq!(by("::", "nginx").verdict, Verdict::Failed);
        let listener = Listener { protocol: Protocol::Tcp, address: vip, port: 6443, inode: 1 };
        assert_eq!(judge(&wanted, &[(listener, None)]).verdict, Verdict::Warned);
    }

    #[test]
    fn media_are_served_where_the_url_says() {
        assert_eq!(server_in("http://192.168.126.2:8080"), Some("192.168.126.2:8080".parse().unwrap()));
        assert_eq!(server_in("http://192.168.126.2/"), Some("192.168.126.2:80".parse().unwrap()));
        assert_eq!(server_in("http://media.example.com/iso"), None);
    }
}
