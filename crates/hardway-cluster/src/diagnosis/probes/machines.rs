//! Machines: the host that carries them, what they boot into, and who fetched which config.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::nodes::awaited;
use crate::diagnosis::evidence::{Api, DeadMachine, Evidence};

/// Before the API answered for the first time, nothing says that the addresses were ever there.
pub(in crate::diagnosis) fn addresses_lost(evidence: &Evidence) -> Vec<String> {
    if !evidence.install.api_came_up || !matches!(evidence.api, Api::Silent(_)) {
        return Vec::new();
    }
    let lost = evidence.host.lost_addresses.iter();
    lost.map(|address| {
        format!("no interface of this host has {address}, although the API has answered before")
    })
    .collect()
}

/// A machine that is off says nothing more about itself: nobody needs to read its journal.
pub(in crate::diagnosis) fn dead(evidence: &Evidence) -> Vec<String> {
    evidence.host.dead_machines.iter().flat_map(told).collect()
}

fn told(machine: &DeadMachine) -> Vec<String> {
    let DeadMachine { host, by, .. } = machine;
    if !machine.exists {
        return vec![format!("the machine of {host} does not exist any more ({by})")];
    }
    let state = machine.state.as_ref().map(|state| format!(": {state}")).unwrap_or_default();
    let mut told = vec![format!("the machine of {host} is off ({by}{state})")];
    told.extend(machine.disk.map(|bytes| {
        let used = bytes / 1_000_000;
        format!(
            "disk of {host}: {used} MB in use{}",
            if used < WRITTEN_MB { ", so no system is installed" } else { "" }
        )
    }));
    told.extend(machine.console.iter().map(|line| format!("console of {host}: {line}")));
    told
}

/// CoreOS takes more than 2 GB; partitions alone, next to nothing.
const WRITTEN_MB: u64 = 100;

/// A machine that is off has no interface; one that works hangs on a bridge.
pub(in crate::diagnosis) fn interfaces_loose(evidence: &Evidence) -> Vec<String> {
    if evidence.is_settled() {
        return Vec::new();
    }
    let loose = evidence.host.loose_interfaces.iter();
    loose.map(|name| format!("interface {name} of a machine is not attached to a bridge")).collect()
}

/// What every CoreOS system says at its login prompt (coreos/fedora-coreos-config, `coreos-ignition-write-issues`).
const RAN: &str = "Ignition: ran on ";

/// Clocks of machines without a time server are wrong by less.
const TOLERANCE: SignedDuration = SignedDuration::from_hours(1);

/// A system whose Ignition ran before this install began was not installed by it.
pub(in crate::diagnosis) fn old_system(evidence: &Evidence) -> Vec<String> {
    let Some(begun) = evidence.install.begun else { return Vec::new() };
    let mut found = Vec::new();
    for log in evidence.logs() {
        // A console tells every boot; the last one counts.
        let last = log.lines.iter().rev().find_map(|line| Some((line, ran_on(line)?)));
        if let Some((line, ran)) = last.filter(|(_, ran)| *ran + TOLERANCE < begun) {
            let line = line.trim();
            found.push(format!("{}: {line}; this install began at {begun:.0}, after {ran:.0}", log.name));
        }
    }
    found
}

fn ran_on(line: &str) -> Option<Timestamp> {
    let (_, rest) = line.split_once(RAN)?;
    let time = DateTime::strptime("%Y/%m/%d %H:%M:%S", rest.get(..19)?).ok()?;
    TimeZone::UTC.to_timestamp(time).ok()
}

/// The config is fetched on the first boot of what was installed, with the address that the machine has for good.
pub(in crate::diagnosis) fn other_address(evidence: &Evidence) -> Vec<String> {
    let mut found = Vec::new();
    for node in &evidence.declared.nodes {
        let Some(sources) = evidence.install.fetched_from.get(&node.name) else { continue };
        let is_own = sources.iter().any(|source| node.addresses.contains(source));
        let is_known = evidence.state.nodes.contains_key(&node.name);
        if !is_own && !is_known && !node.addresses.is_empty() {
            let sources: Vec<String> = sources.iter().map(ToString::to_string).collect();
            let own: Vec<String> = node.addresses.iter().map(ToString::to_string).collect();
            let (name, sources, own) = (&node.name, sources.join(", "), own.join(", "));
            found.push(format!("{name} fetched its config from {sources}, but {own} is declared"));
        }
    }
    found
}

/// More often than an install with a mistake or two needs.
const OFTEN: usize = 4;

pub(in crate::diagnosis) fn again_and_again(evidence: &Evidence) -> Vec<String> {
    let Some(fetched) = &evidence.fetched else { return Vec::new() };
    let is_node = |name: &str| evidence.state.nodes.contains_key(name);
    let often = fetched.iter().filter(|(node, times)| **times >= OFTEN && !is_node(node));
    often.map(|(node, times)| format!("{node} fetched its config {times} times and is not a node")).collect()
}

/// Counts only when others did fetch theirs from here: configs may also travel on media.
pub(in crate::diagnosis) fn never_fetched(evidence: &Evidence) -> Vec<String> {
    let Some(fetched) = evidence.fetched.as_ref().filter(|fetched| !fetched.is_empty()) else {
        return Vec::new();
    };
    let missing = awaited(evidence)
        .filter(|node| !fetched.contains_key(&node.name) && !evidence.state.nodes.contains_key(&node.name));
    missing.map(|node| format!("{} {} has not fetched its config", node.role_name(), node.name)).collect()
}
