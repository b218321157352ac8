//! `machines.bare-metal.balancers` of the inventory, read and checked.

use std::collections::BTreeMap;
use std::net::IpAddr;

use hardway_assets::Cluster;
use hardway_assets::inventory::Balancer;
use hardway_assets::violation::Violation;

use super::BalancerHost;
use super::settings::{INTERFACE, is_interface};
use crate::providers::fields::{Fields, SettingsFindings};
use crate::providers::place::Ssh;

/// keepalived's priorities end at 254, and each host has its own.
const MOST: usize = 16;

/// Those whose fields are right.
pub(super) fn balancer_hosts(
    cluster: &Cluster,
    fields: &Fields<'_>,
    findings: &SettingsFindings,
) -> Vec<BalancerHost> {
    let network = &cluster.inventory.network;
    let rows = fields.object("balancers").objects();
    if !rows.is_empty() && network.load_balancer == Balancer::External {
        let detail = "network.loadBalancer is external, so hardway sets up no load balancer";
        let fix = "set network.loadBalancer: haproxy, or remove balancers";
        findings.add(Violation::forbidden(fields.path("balancers"), detail).fix(fix));
    }
    if rows.len() > MOST {
        let detail = format!("at most {MOST} hosts");
        findings.add(Violation::invalid(fields.path("balancers"), rows.len(), detail));
    }
    let mut found: Vec<BalancerHost> = Vec::new();
    let mut taken: BTreeMap<IpAddr, String> = BTreeMap::new();
    for host in &cluster.inventory.hosts {
        taken.extend(host.ip.iter().map(|ip| (*ip, format!("the address of {}", host.name))));
    }
    taken.extend(network.api_vip.iter().map(|ip| (*ip, "apiVIP, which moves".to_owned())));
    taken.extend(network.ingress_vip.iter().map(|ip| (*ip, "ingressVIP, which moves".to_owned())));
    for (name, row) in rows {
        let balancer = balancer(name, &row, findings);
        let Some(balancer) = balancer else { continue };
        if let Some(whose) = taken.insert(balancer.ip, format!("the address of {name}")) {
            row.wrong("ip", &balancer.ip.to_string(), &format!("is {whose}: a balancer needs its own"));
        }
        if let Some(first) = found.first()
            && first.ip.is_ipv6() != balancer.ip.is_ipv6()
        {
            let detail = format!("must be of the same family as that of {}, {}", first.name, first.ip);
            row.wrong("ip", &balancer.ip.to_string(), &detail);
        }
        if let Some(other) = found.iter().find(|other| other.ssh == balancer.ssh) {
            let what = match &balancer.ssh {
                None => format!("{} is this computer already: say how to reach this one", other.name),
                Some(_) => {
                    format!("{} is reached in the same way: each balancer is a host of its own", other.name)
                }
            };
            let fix = "such as ssh: root@192.168.126.6";
            findings
                .add(Violation::invalid(row.path("ssh"), row.text("ssh").unwrap_or_default(), what).fix(fix));
        }
        found.push(balancer);
    }
    found
}

fn balancer(name: &str, row: &Fields<'_>, findings: &SettingsFindings) -> Option<BalancerHost> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || name.len() > 63 || !name.chars().all(is_plain) {
        let detail = "must be a name of at most 63 lower-case letters, digits and dashes";
        findings.add(Violation::invalid(row.path("").trim_end_matches('.'), name, detail));
    }
    let ip = row.needed("ip", "the balancer's own address, which stays when the virtual ones move");
    let ip = ip.and_then(|text| {
        let parsed = text.parse().ok();
        if parsed.is_none() {
            row.wrong("ip", text, "must be an address");
        }
        parsed
    });
    let interface = row.needed("interface", "the network interface that gets the virtual addresses");
    if let Some(interface) = interface
        && !is_interface(interface)
    {
        row.wrong("interface", interface, INTERFACE);
    }
    let ssh = row.text("ssh").map(|text| {
        let (user, host) = match text.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, text),
        };
        let ssh = Ssh::to(user, host);
        if ssh.is_none() {
            row.wrong("ssh", text, "must be [USER@]HOST, with a host name or an address");
        }
        ssh
    });
    let ssh = match ssh {
        None => None,
        Some(read) => Some(read?),
    };
    Some(BalancerHost { name: name.to_owned(), ip: ip?, interface: interface?.to_owned(), ssh })
}
