//! The host asks the network's name server about the cluster, and nobody else about anything else.

use super::Libvirt;
use super::facts::Resolver;
use super::settings::ResolverChoice;
use super::unit::{Unit, with_bridge};
use crate::actions::{Action, Check, Program, Step};

const ID: &str = "dns/resolver";

impl Libvirt {
    pub(super) fn resolver(&self) -> Option<Action> {
        match (self.settings.resolver, self.facts.resolver) {
            (ResolverChoice::SystemdResolved, _) | (ResolverChoice::Auto, Resolver::SystemdResolved) => {
                Some(self.resolved())
            }
            (ResolverChoice::NetworkManager, _) | (ResolverChoice::Auto, Resolver::NetworkManager) => {
                Some(self.network_manager())
            }
            (ResolverChoice::None, _) | (ResolverChoice::Auto, Resolver::Other) => None,
        }
    }

    /// A domain that only routes questions, on the bridge. It goes with the bridge, so a unit brings it back.
    fn resolved(&self) -> Action {
        let (hypervisor, bridge, domain) = (self.hypervisor(), &self.settings.bridge, self.cluster.domain());
        let servers = self.servers().join(" ");
        let text = with_bridge(
            &format!("Names of {domain} are asked of its own network"),
            bridge,
            &[
                format!("/usr/bin/resolvectl dns {bridge} {servers}"),
                format!("/usr/bin/resolvectl domain {bridge} ~{domain}"),
            ],
            &[format!("-/usr/bin/resolvectl revert {bridge}")],
        );
        let unit = Unit {
            id: ID,
            why: self.reason(),
            name: format!("hardway-{}-resolver.service", self.settings.network),
            text,
            files: Vec::new(),
            works: Check::Succeeds(hypervisor.shell(&self.is_known())),
            start: "restart",
        };
        unit.action(&hypervisor)
    }

    /// A dnsmasq of NetworkManager's own, with one more server for one domain.
    fn network_manager(&self) -> Action {
        let (hypervisor, domain) = (self.hypervisor(), self.cluster.domain());
        let servers: String =
            self.servers().iter().map(|server| format!("server=/{domain}/{server}\n")).collect();
        let name = format!("hardway-{}.conf", self.settings.network);
        let files = [
            (
                format!("/etc/NetworkManager/conf.d/{name}"),
                "# Made by hardway.\n[main]\ndns=dnsmasq\n".to_owned(),
            ),
            (format!("/etc/NetworkManager/dnsmasq.d/{name}"), format!("# Made by hardway.\n{servers}")),
        ];
        let reload = || Step::Run(hypervisor.run(Program::words("systemctl reload NetworkManager")));
        let mut does: Vec<Step> =
            files.iter().map(|(path, text)| hypervisor.write(path, 0o644, text)).collect();
        does.push(reload());
        // The dnsmasq is started after the reload has answered.
        let known = self.is_known();
        let wait = format!("for try in $(seq 60); do if {known}; then exit 0; fi; sleep 0.5; done; exit 1");
        does.push(Step::Run(hypervisor.shell(&wait)));
        let mut undo: Vec<Step> = files.iter().map(|(path, _)| hypervisor.remove(path)).collect();
        undo.push(reload());
        let mut holds: Vec<Check> =
            files.iter().map(|(path, text)| hypervisor.is_file(path, 0o644, text)).collect();
        holds.push(Check::Succeeds(hypervisor.shell(&known)));
        let holds = Check::All(holds);
        Action { id: ID.to_owned(), why: self.reason(), holds, does, undo }
    }

    /// The bridge's addresses: there the network's dnsmasq answers.
    fn servers(&self) -> Vec<String> {
        self.cluster.inventory.network.gateway.iter().map(ToString::to_string).collect()
    }

    /// Asked as every program of the host asks.
    fn is_known(&self) -> String {
        let address = self.cluster.inventory.network.api_vip[0];
        format!("getent ahosts {} | grep -qF {address}", self.cluster.api_host())
    }

    fn reason(&self) -> String {
        format!("This host knows the names of {}.", self.cluster.domain())
    }
}
