//! What to change at a load balancer of somebody else's, at each stage of an install.

use std::fmt::Write as _;

use hardway_assets::host_services::{BalancedPort, InstallStage};
use hardway_assets::{Cluster, Phase};
use serde::Serialize;

/// The members of one port from one moment on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// The phase before which it must be so.
    pub before: Phase,
    /// Where clients come in.
    pub addresses: Vec<String>,
    /// On every address and member.
    pub port: u16,
    /// Who answers: a name and an address each.
    pub members: Vec<String>,
    /// How to ask a member whether it is well.
    pub health: String,
    /// Who may come in.
    pub clients: String,
    /// Whether a client stays with its member.
    pub is_sticky: bool,
}

/// Everything that must be so when machines first boot, and then what differs once the bootstrap host goes.
pub fn changes(cluster: &Cluster) -> Vec<Change> {
    let first = BalancedPort::all(cluster, InstallStage::Bootstrapping);
    let later = BalancedPort::all(cluster, InstallStage::Installed);
    let differ = later.iter().filter(|service| !first.contains(service));
    let first = first.iter().map(|service| change(Phase::InstallOs, service));
    first.chain(differ.map(|service| change(Phase::RemoveBootstrap, service))).collect()
}

/// As text, a row each.
pub fn table(changes: &[Change]) -> String {
    let head = ["BEFORE PHASE", "ADDRESS", "PORT", "MEMBERS", "HEALTH CHECK", "CLIENTS", "STICKY"];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(changes.iter().map(|change| {
        [
            change.before.to_string(),
            change.addresses.join(","),
            change.port.to_string(),
            change.members.join(","),
            change.health.clone(),
            change.clients.clone(),
            if change.is_sticky { "by source" } else { "no" }.to_owned(),
        ]
    }));
    let widths: Vec<usize> =
        (0..head.len()).map(|column| rows.iter().map(|row| row[column].len()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "{cell:<width$}  ");
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

fn clients(service: &BalancedPort) -> String {
    let networks: Vec<String> = service.clients.iter().map(ToString::to_string).collect();
    if networks.is_empty() { "everybody".to_owned() } else { format!("only {}", networks.join(",")) }
}

fn change(before: Phase, service: &BalancedPort) -> Change {
    let scheme = if service.health.is_tls { "https" } else { "http" };
    let member = |member: &hardway_assets::host_services::BackendMember| {
        let backup = if member.is_backup { " (last)" } else { "" };
        format!("{}={}{backup}", member.name, member.address)
    };
    Change {
        before,
        addresses: service.addresses.iter().map(ToString::to_string).collect(),
        port: service.port,
        members: service.members.iter().map(member).collect(),
        health: format!("{scheme} GET :{}{} = 200", service.health.port, service.health.path),
        clients: clients(service),
        is_sticky: service.is_sticky,
    }
}
