//! HAProxy on the hosts for it, and the virtual addresses: on one host they are a unit's, on several keepalived moves them.

use std::net::IpAddr;

use hardway_assets::host_services::{BalancedPort, Haproxy, Keepalived, haproxy, keepalived};

use super::{BalancerHost, BareMetal, ServicesBy};
use crate::actions::{Action, ActionCheck, Program};
use crate::providers::ActionScope;
use crate::providers::haproxy_service::{HaproxyService, own_folder, pid_file, run_folder, tidy, unit_name};
use crate::providers::place::Place;
use crate::providers::unit::{Daemon, Loaded, Unit, with_interface};

/// keepalived prefers whoever has the higher one.
const FIRST_PRIORITY: u8 = 200;
const PRIORITY_STEP: u8 = 10;

impl BareMetal {
    /// Addresses and HAProxy, on this computer or on the hosts that are named.
    pub(super) fn balancers(&self) -> Vec<Action> {
        match self.settings.balancers.as_slice() {
            [] => self.balancer_here(),
            [only] => {
                let place = Place::of(only.ssh.as_ref());
                let mut actions =
                    vec![self.addresses_unit(&place, &only.interface, &action(&only.name, "addresses"))];
                actions.extend(self.haproxy_at(&place, &only.name, &self.addresses_unit_name(), false));
                actions
            }
            several => (0..).zip(several).flat_map(|(n, host)| self.balancer_of_several(n, host)).collect(),
        }
    }

    fn balancer_here(&self) -> Vec<Action> {
        let place = Place::default();
        let by_systemd = self.settings.services == ServicesBy::Systemd;
        let mut actions = match (&self.settings.interface, by_systemd) {
            // They are here already, or HAProxy says that it cannot bind them.
            (None, _) => Vec::new(),
            (Some(card), true) => vec![self.addresses_unit(&place, card, "network/addresses")],
            (Some(card), false) => self.addresses_by_hand(card),
        };
        if by_systemd {
            actions.extend(self.haproxy_at(&place, "", &self.addresses_unit_name(), false));
        } else {
            actions.push(self.haproxy_service(&place, "", "", false).by_itself());
        }
        actions
    }

    fn balancer_of_several(&self, n: u8, host: &BalancerHost) -> Vec<Action> {
        let place = Place::of(host.ssh.as_ref());
        let mut actions = self.haproxy_at(&place, &host.name, "", true);
        actions.push(self.keepalived(&place, n, host));
        actions
    }

    /// As a unit, with what SELinux has to allow.
    fn haproxy_at(&self, place: &Place, host: &str, after: &str, is_early: bool) -> Vec<Action> {
        let after = if after.is_empty() { String::new() } else { format!(" {after}") };
        let service = self.haproxy_service(place, host, &after, is_early);
        let mut actions = Vec::new();
        if self.facts.selinux.contains(host) {
            actions.push(service.selinux(action(host, "selinux")));
        }
        actions.push(service.by_systemd());
        actions
    }

    fn haproxy_service<'s>(
        &'s self,
        place: &Place,
        host: &str,
        after: &'s str,
        binds_early: bool,
    ) -> HaproxyService<'s> {
        let files = Haproxy { binds_early, ..HaproxyService::files(self.id()) };
        HaproxyService {
            place: place.clone(),
            id: action(host, "haproxy"),
            name: self.id(),
            domain: self.cluster.domain(),
            after,
            text: haproxy(&BalancedPort::all(&self.cluster, self.stage), &files),
        }
    }

    fn keepalived(&self, place: &Place, n: u8, host: &BalancerHost) -> Action {
        let (path, check) = (self.host_file("keepalived.conf"), self.host_file("balancer-is-alive"));
        let others = self.settings.balancers.iter().filter(|other| other.name != host.name);
        let text = keepalived(&Keepalived {
            name: host.name.clone(),
            interface: host.interface.clone(),
            own: host.ip,
            peers: others.map(|other| other.ip).collect(),
            router: self.settings.router,
            priority: FIRST_PRIORITY - n * PRIORITY_STEP,
            addresses: self.virtual_addresses(),
            check: format!("/bin/sh {check}"),
        });
        // In master-worker mode the first process ends with its workers: while it is there, HAProxy works.
        let alive = format!(
            "# Made by hardway: succeeds while HAProxy runs on this host.\nread -r pid < {} && grep -qa haproxy \"/proc/$pid/cmdline\"\n",
            pid_file(self.id())
        );
        let name = format!("hardway-{}-keepalived.service", self.id());
        let folder = format!("{}-keepalived", self.id());
        let run = run_folder(&folder);
        let loaded = Loaded { file: format!("{run}/loaded") };
        let start = format!(
            "/usr/sbin/keepalived --dont-fork --log-console --vrrp --use-file {path} --pid {run}/pid --vrrp_pid {run}/vrrp"
        );
        let daemon = Daemon {
            title: format!("Virtual addresses of {}", self.cluster.domain()),
            after: &format!(" {}", unit_name(self.id())),
            kind: "simple",
            check: format!("/usr/sbin/keepalived --config-test --use-file {path}"),
            start,
            read: loaded.write(&path),
            reload: Some("-HUP"),
            run_folder: format!("hardway/{folder}"),
        };
        let is_active = place.run(Program::words(&format!("systemctl is-active --quiet {name}")));
        let unit = Unit {
            id: &action(&host.name, "keepalived"),
            why: format!(
                "{} takes the virtual addresses over when the balancer that has them fails",
                host.name
            ),
            works: ActionCheck::All(vec![ActionCheck::Succeeds(is_active), loaded.is(place, &text)]),
            name,
            text: daemon.text(),
            files: vec![(path, text), (check, alive)],
            start: "reload-or-restart",
        };
        let mut action = unit.action(place);
        action.undo.push(tidy(place, self.id()));
        action
    }

    /// They come back with the interface, after a reboot too.
    fn addresses_unit(&self, place: &Place, interface: &str, id: &str) -> Action {
        let addresses = self.virtual_addresses();
        let ip = |verb: &str, address: &IpAddr| {
            format!("/usr/sbin/ip address {verb} {} dev {interface}", with_length(address))
        };
        let text = with_interface(
            &format!("Virtual addresses of {}", self.cluster.domain()),
            interface,
            &addresses.iter().map(|address| ip("replace", address)).collect::<Vec<_>>(),
            &addresses.iter().map(|address| format!("-{}", ip("del", address))).collect::<Vec<_>>(),
        );
        let has: Vec<String> = addresses.iter().map(|address| has_address(interface, address)).collect();
        let unit = Unit {
            id,
            why: format!("{interface} has the addresses of the API and of the routes"),
            works: ActionCheck::Succeeds(place.shell(&has.join(" && "))),
            name: self.addresses_unit_name(),
            text,
            files: Vec::new(),
            start: "restart",
        };
        unit.action(place)
    }

    /// Without systemd: until the next reboot.
    fn addresses_by_hand(&self, card: &str) -> Vec<Action> {
        let action = |ip: &IpAddr| {
            let address = with_length(ip);
            let change = |verb: &str| {
                Program::words(&format!("ip address {verb}")).with([address.as_str(), "dev", card])
            };
            Action::programs(
                format!("network/address/{ip}"),
                format!("this host has {ip}, the address of the API or of the routes, until it restarts"),
                ActionCheck::Succeeds(Place::default().shell(&has_address(card, ip))),
                [change("replace")],
                [change("del")],
            )
        };
        self.virtual_addresses().iter().map(action).collect()
    }

    fn virtual_addresses(&self) -> Vec<IpAddr> {
        let network = &self.cluster.inventory.network;
        let mut all: Vec<IpAddr> = network.api_vip.iter().chain(&network.ingress_vip).copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn addresses_unit_name(&self) -> String {
        format!("hardway-{}-addresses.service", self.id())
    }

    /// A file of this cluster on a host that serves it.
    pub(super) fn host_file(&self, name: &str) -> String {
        format!("{}/{name}", own_folder(self.id()))
    }
}

/// Of a balancer that has a name, or of this host.
fn action(host: &str, what: &str) -> String {
    let what = if host.is_empty() { what.to_owned() } else { format!("{host}/{what}") };
    ActionScope::Balancer.action(&what)
}

fn with_length(address: &IpAddr) -> String {
    format!("{address}/{}", if address.is_ipv6() { 128 } else { 32 })
}

fn has_address(interface: &str, address: &IpAddr) -> String {
    format!("ip -o address show dev {interface} to {} | grep -q .", with_length(address))
}
