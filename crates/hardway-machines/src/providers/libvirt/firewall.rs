//! Masquerading that survives others' reloads, and open ports.
//!
//! libvirt adds its own rules whenever it starts the network. firewalld drops them when it reloads, and then machines reach
//! nothing. Nobody else flushes a table of our own.

use std::fmt::Write as _;

use super::Libvirt;
use crate::actions::{Action, ActionCheck, Program};
use crate::providers::haproxy_service::own_folder;
use crate::providers::unit::{Unit, with_interface};
use hardway_assets::host_services::{BalancedPort, InstallStage};
use hardway_assets::inventory::Balancer;
use hardway_base::hex;
use sha2::{Digest as _, Sha256};

impl Libvirt {
    pub(super) fn firewall(&self) -> Vec<Action> {
        let mut actions = vec![self.masquerade()];
        if self.facts.has_firewalld {
            actions.extend(self.open_ports().into_iter().flat_map(|port| self.open_port(port)));
        }
        actions
    }

    fn masquerade(&self) -> Action {
        let hypervisor = self.hypervisor();
        let table = self.table_name();
        let (rules, mark) = self.rules(&table);
        let has_table = hypervisor
            .shell(&format!("found=$(nft list table inet {table}); printf %s \"$found\" | grep -qF {mark}"));
        let id = "network/masquerade";
        let why =
            "machines reach other networks through this host, even after firewalld has reloaded".to_owned();
        let delete =
            format!("if nft list table inet {table} >/dev/null 2>&1; then nft delete table inet {table}; fi");
        if !self.facts.has_systemd {
            let load = hypervisor.run(Program::words("nft -f -").reading(rules));
            let holds = ActionCheck::Succeeds(has_table);
            return Action::programs(id, why, holds, [load], [hypervisor.shell(&delete)]);
        }
        let path = format!("{}/masquerade.nft", self.own_folder());
        let text = with_interface(
            &format!("Masquerading for the machines of {}", self.cluster.domain()),
            &self.settings.bridge,
            &[format!("/usr/sbin/nft -f {path}")],
            &[format!("/bin/sh -c '{delete}'")],
        );
        let name = format!("hardway-{}-masquerade.service", self.settings.network);
        let unit = Unit {
            id,
            why,
            name,
            text,
            files: vec![(path, rules)],
            works: ActionCheck::Succeeds(has_table),
            start: "restart",
        };
        unit.action(&hypervisor)
    }

    /// The whole table, replacing what was in it, and the mark that identifies this version of it.
    fn rules(&self, table: &str) -> (String, String) {
        let bridge = &self.settings.bridge;
        let mut rules = String::new();
        let nets = self.cluster.inventory.network.gateway.iter();
        for net in nets.filter_map(|gateway| self.cluster.machine_network_of(*gateway)) {
            let family = if net.addr().is_ipv6() { "ip6" } else { "ip" };
            let _ = writeln!(
                rules,
                "    {family} saddr {net} {family} daddr != {net} oifname != \"{bridge}\" masquerade comment \"MARK\""
            );
        }
        let mark = format!("hardway-{}", &hex::encode(Sha256::digest(&rules))[..16]);
        let rules = rules.replace("MARK", &mark);
        let text = format!(
            "# Made by hardway.\ntable inet {table}\ndelete table inet {table}\ntable inet {table} {{\n  \
             chain postrouting {{\n    type nat hook postrouting priority srcnat; policy accept;\n{rules}  }}\n}}\n"
        );
        (text, mark)
    }

    /// nftables takes no dashes or dots in names.
    fn table_name(&self) -> String {
        format!("hardway_{}", self.settings.network.replace(['-', '.'], "_"))
    }

    /// Ports of this host that machines must reach.
    fn open_ports(&self) -> Vec<u16> {
        let mut ports = Vec::new();
        if self.cluster.inventory.network.load_balancer == Balancer::Haproxy {
            ports.extend(
                BalancedPort::all(&self.cluster, InstallStage::Bootstrapping)
                    .iter()
                    .map(|service| service.port),
            );
        }
        let url = self.cluster.inventory.ignition_server.url.as_ref();
        ports.extend(url.map(|url| url.port));
        ports.sort_unstable();
        ports.dedup();
        ports
    }

    /// Now, and after every reload: firewalld keeps both settings apart. Undoing closes only what was closed before.
    fn open_port(&self, port: u16) -> [Action; 2] {
        [("now", ""), ("kept", "--permanent ")].map(|(name, when)| {
            let firewall = |verb: &str| {
                let line = format!("firewall-cmd {when}--zone=libvirt --{verb}-port={port}/tcp");
                self.hypervisor().run(Program::words(&line))
            };
            Action::programs(
                format!("network/port-{port}-{name}"),
                format!("firewalld lets machines reach port {port} of this host"),
                ActionCheck::Succeeds(firewall("query")),
                [firewall("add")],
                [firewall("remove")],
            )
        })
    }

    /// Files of this cluster on the host.
    pub(super) fn own_folder(&self) -> String {
        own_folder(&self.settings.network)
    }
}
