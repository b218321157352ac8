//! Addresses and networks (apiserver `pkg/cel/library/ip.go` and `cidr.go`): read strictly, as Go's `net/netip` does.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::evaluation::{Outcome, error};
use super::functions::not_known;
use super::value::Val;

pub(super) fn global(name: &str, text: &str) -> Outcome {
    match name {
        "isIP" => Ok(Val::Bool(address(text).is_some())),
        "isCIDR" => Ok(Val::Bool(network(text).is_some())),
        "ip" => address(text).map(Val::Ip).ok_or_else(|| error(format!("IP Address {text:?} parse error"))),
        _ => match network(text) {
            Some((address, prefix)) => Ok(Val::Cidr(address, prefix)),
            None => Err(error(format!("network address parse error: {text:?}"))),
        },
    }
}

pub(super) fn is_canonical(text: &str) -> Outcome {
    match address(text) {
        Some(address) => Ok(Val::Bool(address.to_string() == text)),
        None => Err(error(format!("IP Address {text:?} parse error"))),
    }
}

pub(super) fn method(subject: &Val, name: &str, arguments: &[Val]) -> Outcome {
    match (subject, name, arguments) {
        (Val::Ip(address), _, []) => address_method(*address, name),
        (Val::Cidr(address, _), "ip", []) => Ok(Val::Ip(*address)),
        (Val::Cidr(_, prefix), "prefixLength", []) => Ok(Val::Int(i64::from(*prefix))),
        (Val::Cidr(address, prefix), "masked", []) => Ok(Val::Cidr(masked(*address, *prefix), *prefix)),
        (Val::Cidr(network, prefix), "containsIP", [inner]) => {
            let inner = match inner {
                Val::Ip(inner) => Some(*inner),
                Val::Text(text) => address(text),
                _ => None,
            };
            inner
                .map(|inner| Val::Bool(contains(*network, *prefix, inner)))
                .ok_or_else(|| error("IP address parse error"))
        }
        (Val::Cidr(outer, prefix), "containsCIDR", [inner]) => {
            let inner = match inner {
                Val::Cidr(inner, prefix) => Some((*inner, *prefix)),
                Val::Text(text) => network(text),
                _ => None,
            };
            inner
                .map(|(inner, length)| Val::Bool(length >= *prefix && contains(*outer, *prefix, inner)))
                .ok_or_else(|| error("network address parse error"))
        }
        _ => not_known(name, false),
    }
}

fn address_method(address: IpAddr, name: &str) -> Outcome {
    let link_local = match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    let link_local_multicast = match address {
        IpAddr::V4(address) => address.octets()[..3] == [224, 0, 0],
        IpAddr::V6(address) => address.segments()[0] & 0xff0f == 0xff02,
    };
    Ok(match name {
        "family" => Val::Int(if address.is_ipv4() { 4 } else { 6 }),
        "isUnspecified" => Val::Bool(address.is_unspecified()),
        "isLoopback" => Val::Bool(address.is_loopback()),
        "isLinkLocalUnicast" => Val::Bool(link_local),
        "isLinkLocalMulticast" => Val::Bool(link_local_multicast),
        "isGlobalUnicast" => Val::Bool(
            !address.is_unspecified()
                && !address.is_loopback()
                && !address.is_multicast()
                && !link_local
                && address != IpAddr::V4(Ipv4Addr::BROADCAST),
        ),
        _ => return not_known(name, false),
    })
}

/// No zones, and no IPv4 in an IPv6 address.
fn address(text: &str) -> Option<IpAddr> {
    match text.parse().ok()? {
        IpAddr::V6(address) if is_mapped(&address) => None,
        address => Some(address),
    }
}

fn is_mapped(address: &Ipv6Addr) -> bool {
    address.to_ipv4_mapped().is_some()
}

fn network(text: &str) -> Option<(IpAddr, u8)> {
    let (host, prefix) = text.split_once('/')?;
    let address = address(host)?;
    let is_plain = prefix == "0" || (!prefix.starts_with('0') && prefix.bytes().all(|b| b.is_ascii_digit()));
    let prefix: u8 = is_plain.then(|| prefix.parse().ok()).flatten()?;
    (prefix <= if address.is_ipv4() { 32 } else { 128 }).then_some((address, prefix))
}

fn masked(address: IpAddr, prefix: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0);
            IpAddr::V4(Ipv4Addr::from(u32::from(address) & mask))
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(prefix)).unwrap_or(0);
            IpAddr::V6(Ipv6Addr::from(u128::from(address) & mask))
        }
    }
}

fn contains(network: IpAddr, prefix: u8, inner: IpAddr) -> bool {
    network.is_ipv4() == inner.is_ipv4() && masked(network, prefix) == masked(inner, prefix)
}
