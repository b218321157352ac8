//! The virtual addresses on one of several balancer hosts, as a configuration of keepalived 2.0 or newer.

use std::fmt::Write as _;
use std::net::IpAddr;

/// One balancer host as keepalived there has to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keepalived {
    /// Its own name.
    pub name: String,
    /// The card that gets the addresses.
    pub interface: String,
    /// Where it sends from, and hears of the others.
    pub own: IpAddr,
    /// The others.
    pub peers: Vec<IpAddr>,
    /// VRRP's virtual router id: one for a cluster, another than any other in the network.
    pub router: u8,
    /// Who is preferred when several start at once: the highest.
    pub priority: u8,
    /// The virtual addresses, which move together.
    pub addresses: Vec<IpAddr>,
    /// Succeeds while the load balancer of this host is alive.
    pub check: String,
}

/// How long a host may be silent. Three of these and a part of one, and another host has the addresses: under two seconds, where
/// clients are to be without an answer for three at most.
const ADVERTISEMENT: &str = "0.5";

/// The whole file.
///
/// VRRP version 3, which knows parts of seconds and IPv6; sent to each host by itself, so that no switch has to pass multicast on.
/// Nobody takes the addresses back from a host that has them: a host that returns would only cut clients off once more.
pub fn keepalived(host: &Keepalived) -> String {
    let Keepalived { name, interface, own, peers, router, priority, addresses, check } = host;
    let mut text = format!(
        "# Made by hardway.\nglobal_defs {{\n    router_id {name}\n    vrrp_version 3\n    script_user root\n    enable_script_security\n}}\n\n\
         vrrp_script balancer {{\n    script \"{check}\"\n    interval 1\n    timeout 2\n    fall 1\n    rise 1\n    init_fail\n}}\n\n\
         vrrp_instance hardway {{\n    state BACKUP\n    nopreempt\n    interface {interface}\n    virtual_router_id {router}\n    \
         priority {priority}\n    advert_int {ADVERTISEMENT}\n    garp_master_delay 1\n    unicast_src_ip {own}\n    unicast_peer {{\n"
    );
    for peer in peers {
        let _ = writeln!(text, "        {peer}");
    }
    text.push_str("    }\n");
    // An advertisement holds addresses of its own family only; those of the other move with them.
    for (block, is_own) in [("virtual_ipaddress", true), ("virtual_ipaddress_excluded", false)] {
        let of_block: Vec<&IpAddr> =
            addresses.iter().filter(|address| (address.is_ipv6() == own.is_ipv6()) == is_own).collect();
        if of_block.is_empty() {
            continue;
        }
        let _ = writeln!(text, "    {block} {{");
        for address in of_block {
            let length = if address.is_ipv6() { 128 } else { 32 };
            let _ = writeln!(text, "        {address}/{length} dev {interface}");
        }
        text.push_str("    }\n");
    }
    text.push_str("    track_script {\n        balancer\n    }\n}\n");
    text
}
