//! Addresses of this host, from the kernel's own tables: no program is needed, and a bind that succeeds would prove nothing
//! where `ip_nonlocal_bind` is set.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Every address of every interface.
pub(in crate::preflight) fn own_addresses() -> BTreeSet<IpAddr> {
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
