//! The names and addresses it will serve at. What the node reports about itself is no proof: only the inventory is.

use std::net::IpAddr;

use hardway_assets::node_name::is_node_name;

use super::Rule;
use crate::csr_policy::case::{Ask, Case};
use crate::csr_policy::{Finding, Name, ReasonCode};
use crate::declared::{Declared, DeclaredNode};

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "names",
        about: "a client request has none; a server request has at least one, of kinds that kubelets use",
        check: kinds,
    },
    Rule { name: "dns-names", about: "each DNS name is the node's own", check: dns_names },
    Rule {
        name: "addresses",
        about: "each address is one the inventory gives to that host",
        check: addresses,
    },
];

fn kinds(case: &Case<'_>) -> Finding {
    let Ok(read) = case.pkcs10 else { return Finding::DoesNotApply };
    let others: Vec<&str> = read
        .names
        .iter()
        .filter_map(|name| match name {
            Name::Other(shown) => Some(shown.as_str()),
            Name::Dns(_) | Name::Ip(_) => None,
        })
        .collect();
    let is_client = case.ask() != Ask::Serving;
    match read.names.len() {
        0 if is_client => Finding::fits("it has no names, as expected for a client"),
        count if is_client => {
            Finding::objects(ReasonCode::ClientHasNames, format!("it is for a client, but has {count} names"))
        }
        0 => Finding::objects(ReasonCode::NoNames, "it is for a server, but has no names"),
        _ if !others.is_empty() => Finding::objects(
            ReasonCode::NameKindNotAllowed,
            format!("it has names of other kinds: {}", others.join(", ")),
        ),
        count => Finding::fits(format!("it has {count} names, all of them DNS names and addresses")),
    }
}

fn dns_names(case: &Case<'_>) -> Finding {
    let Some((node, names)) = asked(case) else { return Finding::DoesNotApply };
    let names: Vec<&str> = names
        .iter()
        .filter_map(|name| match name {
            Name::Dns(name) => Some(name.as_str()),
            Name::Ip(_) | Name::Other(_) => None,
        })
        .collect();
    let objections = names.iter().filter_map(|name| against_name(name, node, case.world.declared));
    worst(objections)
        .unwrap_or_else(|| Finding::fits(format!("its DNS names are its own: [{}]", names.join(", "))))
}

fn addresses(case: &Case<'_>) -> Finding {
    let Some((node, names)) = asked(case) else { return Finding::DoesNotApply };
    let addresses: Vec<IpAddr> = names
        .iter()
        .filter_map(|name| match name {
            Name::Ip(address) => Some(*address),
            Name::Dns(_) | Name::Other(_) => None,
        })
        .collect();
    let objections =
        addresses.iter().filter_map(|address| against_address(*address, node, case.world.declared));
    let shown: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    worst(objections)
        .unwrap_or_else(|| Finding::fits(format!("its addresses are declared: [{}]", shown.join(", "))))
}

/// The declared node and the names it asks to serve at.
fn asked<'c>(case: &Case<'c>) -> Option<(&'c DeclaredNode, &'c [Name])> {
    let read = case.pkcs10.ok().filter(|_| case.ask() == Ask::Serving)?;
    Some((case.declared()?, &read.names))
}

fn against_name(name: &str, node: &DeclaredNode, declared: &Declared) -> Option<(ReasonCode, String)> {
    if name == node.name {
        return None;
    }
    let owner = declared.other_name(name, node);
    Some(if name.contains('*') {
        (ReasonCode::WildcardName, format!("{name:?} is a wildcard name"))
    } else if !is_node_name(name) {
        (ReasonCode::NameMalformed, format!("{name:?} is not a DNS name that a kubelet requests"))
    } else if let Some(owner) = owner {
        (ReasonCode::NameBelongsToAnother, format!("{name} is a name of {owner}, not of {}", node.name))
    } else {
        (ReasonCode::NameNotDeclared, format!("{name} is not the name of {}", node.name))
    })
}

fn against_address(
    address: IpAddr,
    node: &DeclaredNode,
    declared: &Declared,
) -> Option<(ReasonCode, String)> {
    let within = |networks: &[ipnet::IpNet]| networks.iter().any(|network| network.contains(&address));
    let is_broadcast = matches!(address, IpAddr::V4(v4) if v4.is_broadcast());
    let kind = [
        (address.is_loopback(), "every host's own"),
        (address.is_unspecified() || address.is_multicast() || is_broadcast, "no host's"),
        (within(&declared.service_networks), "a service's"),
        (within(&declared.pod_networks), "a pod's"),
    ];
    if let Some((_, kind)) = kind.iter().find(|(is, _)| *is) {
        return Some((ReasonCode::AddressReserved, format!("{address} is {kind} address")));
    }
    if node.addresses.contains(&address) {
        return None;
    }
    Some(match declared.other_owner(address, node) {
        Some(owner) => (
            ReasonCode::AddressBelongsToAnother,
            format!("{address} is the address of {owner}, not of {}", node.name),
        ),
        None => (
            ReasonCode::AddressNotDeclared,
            format!("{address} is not among the addresses of host {} in the inventory", node.host),
        ),
    })
}

/// One that denies before one that holds; all are told.
fn worst(objections: impl Iterator<Item = (ReasonCode, String)>) -> Option<Finding> {
    let mut all: Vec<(ReasonCode, String)> = objections.collect();
    all.sort_by_key(|(reason, _)| reason.verdict());
    let reason = all.first()?.0;
    let told: Vec<String> = all.into_iter().map(|(_, what)| what).collect();
    Some(Finding::objects(reason, told.join("; ")))
}
