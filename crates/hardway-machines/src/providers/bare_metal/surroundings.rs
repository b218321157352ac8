//! Names and load balancer around machines that are there. Names belong to whoever runs the network: they get files.

use std::net::IpAddr;
use std::path::PathBuf;

use hardway_assets::host_services::{BalancedPort, Dnsmasq, Haproxy, Names, dnsmasq, haproxy};
use hardway_assets::inventory::Balancer;
use hardway_base::shell_word;

use super::BareMetal;
use crate::actions::{Action, Check, Program, Step};
use crate::load_balancer;

impl BareMetal {
    /// Files for people, and the load balancer where it is ours.
    pub(super) fn surroundings(&self) -> Vec<Action> {
        let mut actions = vec![Action::file(
            "dns/records",
            "the names of the cluster, as dnsmasq takes them: whoever runs the name server needs them",
            self.own_file("dnsmasq.conf"),
            self.names(),
        )];
        if self.cluster.inventory.network.load_balancer == Balancer::Haproxy {
            actions.extend(self.virtual_addresses());
            actions.extend(self.balancer());
        } else {
            let table = load_balancer::table(&load_balancer::changes(&self.cluster));
            actions.push(Action::file(
                "balancer/table",
                "what the load balancer has to know: whoever runs it needs it",
                self.own_file("load-balancer.txt"),
                table,
            ));
        }
        actions
    }

    /// A file of the provider's own in the working folder.
    pub(super) fn own_file(&self, name: &str) -> PathBuf {
        self.folder.join("bare-metal").join(name)
    }

    fn names(&self) -> String {
        let network = &self.cluster.inventory.network;
        let server = Dnsmasq {
            listen: network.dns.clone(),
            port: 53,
            pid_file: "/run/dnsmasq.pid".to_owned(),
            upstream: self.settings.upstream_dns.clone(),
        };
        dnsmasq(&Names::of(&self.cluster), &server)
    }

    /// On the card that is named; else they are here already, or HAProxy says that it cannot bind them.
    fn virtual_addresses(&self) -> Vec<Action> {
        let network = &self.cluster.inventory.network;
        let Some(card) = &self.settings.interface else { return Vec::new() };
        let mut all: Vec<IpAddr> = network.api_vip.iter().chain(&network.ingress_vip).copied().collect();
        all.sort_unstable();
        all.dedup();
        let action = |ip: &IpAddr| {
            let address = format!("{ip}/{}", if ip.is_ipv6() { 128 } else { 32 });
            let has = Program::words("ip -o address show dev").with([card.as_str(), "to", &address]);
            let change = |verb: &str| {
                Program::words(&format!("ip address {verb}")).with([address.as_str(), "dev", card])
            };
            Action::programs(
                format!("network/address/{ip}"),
                format!("{ip} is answered here: the API's or the routes' address"),
                Check::Succeeds(Program::new("sh", ["-c".to_owned(), format!("{has} | grep -q .")])),
                [change("replace")],
                [change("del")],
            )
        };
        all.iter().map(action).collect()
    }

    /// HAProxy on this computer.
    fn balancer(&self) -> [Action; 2] {
        let file = |name: &str| self.own_file(name).display().to_string();
        let (config, pid_file) = (file("haproxy.cfg"), file("haproxy.pid"));
        let files = Haproxy { socket: file("haproxy.sock"), pid_file: pid_file.clone() };
        let content = haproxy(&BalancedPort::all(&self.cluster, self.stage), &files);
        let pid = format!("$(cat {} 2>/dev/null)", shell_word(&pid_file));
        let shell = |line: String| Program::new("sh", ["-c".to_owned(), line]);
        // The one that runs is replaced without letting go of its connections.
        let start =
            format!("set -e; haproxy -c -q -f {0}; exec haproxy -D -W -f {0} -sf {pid}", shell_word(&config));
        let mark = self.own_file("haproxy.started");
        let service = Action {
            id: "balancer/service".to_owned(),
            why: "what asks for the API or a route gets a machine that is well".to_owned(),
            holds: Check::All(vec![
                Check::FileIs { path: mark.clone(), mode: 0o644, content: content.clone() },
                Check::Succeeds(shell(format!("kill -0 {pid}"))),
            ]),
            does: vec![
                Step::Run(shell(start)),
                Step::WriteFile { path: mark, mode: 0o644, content: content.clone() },
            ],
            undo: vec![Step::Run(shell(format!("kill {pid} 2>/dev/null || true")))],
        };
        let why = "what the load balancer goes by";
        [Action::file("balancer/config", why, self.own_file("haproxy.cfg"), content), service]
    }
}
