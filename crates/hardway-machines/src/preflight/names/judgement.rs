//! What the name servers said, judged.

use std::net::IpAddr;

use hardway_assets::host_services::Name;

use super::message::{DnsAnswer, Question};
use super::names_seen::NamesSeen;
use super::server_seen::ServerSeen;
use crate::preflight::Judged;

/// Does every server answer?
pub(super) fn judge_server(seen: &NamesSeen) -> Judged {
    let silent = seen.servers.iter().filter(|server| !server.answers_at_all());
    let wrong: Vec<String> = silent
        .map(|server| {
            let trouble = server.trouble.as_deref().unwrap_or("nothing came back from UDP port 53");
            format!("{} does not answer: {trouble}", server.address)
        })
        .collect();
    let answering: Vec<String> = seen.servers.iter().map(|server| server.address.to_string()).collect();
    let fix = "start the name server, open UDP port 53, or correct network.dns in inventory.yaml";
    Judged::of(wrong, Vec::new(), fix, format!("{} answers", answering.join(", ")))
}

/// Has every host, api and api-int its address?
pub(super) fn judge_records(seen: &NamesSeen) -> Judged {
    let mut wrong = Vec::new();
    for server in seen.talking() {
        wrong.extend(
            seen.wanted.names.names.iter().flat_map(|name| wrong_addresses(server, name, &name.name)),
        );
    }
    let good = format!("{} names resolve to their addresses", seen.wanted.names.names.len());
    judged(seen, wrong, Vec::new(), "add or correct these records on the name server", good)
}

/// Has whatever is below apps the address of the routers?
pub(super) fn judge_apps(seen: &NamesSeen) -> Judged {
    let wildcard = format!("*.{}", seen.wanted.names.wildcard.name);
    let wrong: Vec<String> =
        seen.talking().flat_map(|server| wrong_addresses(server, &seen.wanted.route, &wildcard)).collect();
    let fix = format!("add the wildcard record {wildcard} on the name server");
    judged(seen, wrong, Vec::new(), &fix, format!("{wildcard} is {}", list(&seen.wanted.route.addresses)))
}

/// Has every address of a host its name, and no other?
pub(super) fn judge_reverse(seen: &NamesSeen) -> Judged {
    let (mut wrong, mut odd) = (Vec::new(), Vec::new());
    for server in seen.talking() {
        for name in seen.wanted.names.names.iter().filter(|name| name.is_reverse) {
            let found = name.addresses.iter().filter_map(|address| wrong_name(server, *address, &name.name));
            match seen.wanted.hosts.contains(&name.name) {
                true => wrong.extend(found),
                // No machine calls itself after the balancer's address.
                false => odd.extend(found),
            }
        }
    }
    let count = seen.wanted.hosts.len();
    let fix = "add or correct these PTR records: each address has one name, the host's own";
    judged(seen, wrong, odd, fix, format!("the addresses of {count} hosts resolve to their names"))
}

/// Do names that nobody has stay without an address?
pub(super) fn judge_search(seen: &NamesSeen) -> Judged {
    let (mut wrong, mut odd) = (Vec::new(), Vec::new());
    for server in seen.talking() {
        for nobody in &seen.wanted.nobody {
            let found = addresses(server, &nobody.name);
            if !found.is_empty() {
                let sentence = format!(
                    "{} resolves {} to {}: a wildcard below {} answers for names that do not exist",
                    server.address,
                    nobody.name,
                    list(&found),
                    nobody.below
                );
                if nobody.is_searched { wrong.push(sentence) } else { odd.push(sentence) }
            }
        }
    }
    let below: Vec<&str> = seen.wanted.nobody.iter().map(|nobody| nobody.below.as_str()).collect();
    let fix = "restrict the wildcard to *.apps, or remove the domain from the search list";
    judged(seen, wrong, odd, fix, format!("no unexpected answers below {}", below.join(", ")))
}

/// Are names resolved that are not the cluster's?
pub(super) fn judge_outside(seen: &NamesSeen) -> Judged {
    if seen.wanted.outside.is_empty() {
        return Judged::not_applicable("no registry is reached by name without a proxy");
    }
    let mut wrong = Vec::new();
    for server in seen.talking() {
        for name in seen.wanted.outside.iter().filter(|name| addresses(server, name).is_empty()) {
            let families: [IpAddr; 2] = [[0, 0, 0, 0].into(), [0u16; 8].into()];
            let answers =
                families.iter().filter_map(|family| server.answers.get(&Question::address(name, *family)));
            let said = answers.map(said).next().unwrap_or("nothing");
            wrong.push(format!("{} answers for {name}: {said}", server.address));
        }
    }
    let fix = "configure a forwarder on the name server for names that it does not know";
    judged(seen, wrong, Vec::new(), fix, format!("{} has an address", seen.wanted.outside.join(", ")))
}

/// Where no server talks, only the check about that fails.
fn judged(seen: &NamesSeen, wrong: Vec<String>, odd: Vec<String>, fix: &str, good: String) -> Judged {
    if seen.talking().next().is_none() {
        return Judged::not_applicable("no name server answers: see names-server");
    }
    Judged::of(wrong, odd, fix, good)
}

/// Sentences about each family in which a name has other addresses than it should.
fn wrong_addresses(server: &ServerSeen, name: &Name, shown: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for is_ipv6 in [false, true] {
        let expected: Vec<IpAddr> =
            name.addresses.iter().copied().filter(|address| address.is_ipv6() == is_ipv6).collect();
        let Some(first) = expected.first() else { continue };
        let kind = if is_ipv6 { "AAAA" } else { "A" };
        let record = format!("{shown} {kind}");
        match server.answers.get(&Question::address(&name.name, *first)) {
            None => wrong.push(format!(
                "{record}: no answer from {}; expected {}",
                server.address,
                list(&expected)
            )),
            Some(answer) if answer.addresses.is_empty() => {
                let (server, said) = (server.address, said(answer));
                wrong.push(format!("{record}: {server} answers: {said}; expected {}", list(&expected)));
            }
            Some(answer) if answer.addresses.iter().any(|found| !expected.contains(found)) => {
                let (server, found) = (server.address, list(&answer.addresses));
                wrong.push(format!("{record}: {server} answers {found}, expected {}", list(&expected)));
            }
            Some(_) => {}
        }
    }
    wrong
}

fn wrong_name(server: &ServerSeen, address: IpAddr, expected: &str) -> Option<String> {
    let answer = server.answers.get(&Question::reverse(address));
    let names = answer.map_or(&[][..], |answer| &answer.names);
    if names.is_empty() {
        let said = answer.map_or("nothing", said);
        return Some(format!("{address} PTR: {} answers: {said}; expected {expected}", server.address));
    }
    let is_other = |name: &&String| !name.eq_ignore_ascii_case(expected);
    names.iter().find(is_other).map(|_| {
        format!("{address} PTR: {} answers {}, expected {expected}", server.address, names.join(" and "))
    })
}

fn addresses(server: &ServerSeen, name: &str) -> Vec<IpAddr> {
    let of = |question: &&Question| question.name == name;
    let answers = server.answers.iter().filter(|(question, _)| of(question));
    answers.flat_map(|(_, answer)| answer.addresses.clone()).collect()
}

fn said(answer: &DnsAnswer) -> &'static str {
    match answer.code {
        0 => "the name has no such record",
        2 => "server failure (SERVFAIL)",
        3 => "no such name (NXDOMAIN)",
        5 => "refused (REFUSED)",
        _ => "an error",
    }
}

pub(super) fn list(addresses: &[IpAddr]) -> String {
    addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
