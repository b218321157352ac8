//! What a provider's own checks look at: the cluster, the working folder, and the addresses of this host.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use hardway_assets::Cluster;

/// A cluster that is to be, and where.
pub(crate) struct CheckedSite<'a> {
    pub(crate) cluster: &'a Cluster,
    /// The working folder.
    pub(crate) folder: &'a Path,
    pub(crate) patience: PreflightPatience,
    own_addresses: OnceLock<BTreeSet<IpAddr>>,
}

/// How long to wait for each kind of answer. Only what does not answer costs that long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreflightPatience {
    /// A name server, a port.
    pub answer: Duration,
    /// A load balancer that has to notice a member first: two good answers, ten seconds apart, are usual.
    pub balancer: Duration,
    /// Measuring the disk.
    pub disk: Duration,
}

impl Default for PreflightPatience {
    fn default() -> Self {
        Self {
            answer: Duration::from_secs(5),
            balancer: Duration::from_secs(25),
            disk: Duration::from_millis(1500),
        }
    }
}

impl<'a> CheckedSite<'a> {
    pub(crate) fn new(cluster: &'a Cluster, folder: &'a Path, patience: PreflightPatience) -> Self {
        Self { cluster, folder, patience, own_addresses: OnceLock::new() }
    }

    /// A text among the provider's settings.
    pub(crate) fn setting(&self, name: &str) -> Option<&str> {
        self.cluster.inventory.machines.settings[name].as_str()
    }

    /// Whether one of these addresses is this host's.
    pub(crate) fn owns(&self, addresses: &[IpAddr]) -> bool {
        let own = self.own_addresses.get_or_init(own_addresses);
        addresses.iter().any(|address| own.contains(address))
    }
}

/// Every address of every interface.
fn own_addresses() -> BTreeSet<IpAddr> {
    let text = |path: &str| fs_err::read_to_string(path).unwrap_or_default();
    let mut found = of_fib_trie(&text("/proc/net/fib_trie"));
    found.extend(of_if_inet6(&text("/proc/net/if_inet6")));
    found
}

/// `|-- 127.0.0.1` and below it `/32 host LOCAL`.
fn of_fib_trie(text: &str) -> BTreeSet<IpAddr> {
    let mut found = BTreeSet::new();
    let mut last: Option<Ipv4Addr> = None;
    for line in text.lines().map(str::trim) {
        if let Some(address) = line.strip_prefix("|-- ") {
            last = address.parse().ok();
        } else if line.starts_with("/32 host LOCAL") {
            found.extend(last.map(IpAddr::V4));
        }
    }
    found
}

/// The address in 32 digits, and more columns.
fn of_if_inet6(text: &str) -> BTreeSet<IpAddr> {
    let addresses =
        text.lines().filter_map(|line| u128::from_str_radix(line.split_whitespace().next()?, 16).ok());
    addresses.map(|number| IpAddr::V6(Ipv6Addr::from(number))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_addresses_only() {
        let text = "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 0.0.0.0\n        /0 universe UNICAST\n     |-- 192.168.126.0\n        /24 link UNICAST\nLocal:\n     |-- 127.0.0.1\n        /32 host LOCAL\n     |-- 192.168.126.1\n        /32 host LOCAL\n     |-- 192.168.126.255\n        /32 link BROADCAST\n";
        let found: Vec<String> = of_fib_trie(text).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["127.0.0.1", "192.168.126.1"]);
        let six = "fd00000000000000000000000000000a 02 40 00 80     eth0\n00000000000000000000000000000001 01 80 10 80       lo\n";
        let found: Vec<String> = of_if_inet6(six).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["::1", "fd00::a"]);
    }

    #[test]
    fn this_host_has_a_loopback() {
        assert!(own_addresses().contains(&IpAddr::V4(Ipv4Addr::LOCALHOST)));
    }
}
