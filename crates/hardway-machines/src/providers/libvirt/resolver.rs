//! The host asks the network's name server about the cluster's domain, and about nothing else.

use super::Libvirt;
use super::facts::Resolver;
use super::settings::ResolverChoice;
use crate::actions::{Action, ActionCheck, Program, Step};
use crate::providers::ActionScope;
use crate::providers::unit::{Unit, with_interface};

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

    /// A routing-only domain on the bridge (`~domain`). It disappears with the bridge, so a unit restores it.
    fn resolved(&self) -> Action {
        let (hypervisor, bridge, domain) = (self.hypervisor(), &self.settings.bridge, self.cluster.domain());
        let servers = self.servers().join(" ");
        let text = with_interface(
            &format!("Names of {domain} are resolved by its own network"),
            bridge,
            &[
                format!("/usr/bin/resolvectl dns {bridge} {servers}"),
                format!("/usr/bin/resolvectl domain {bridge} ~{domain}"),
            ],
            &[format!("-/usr/bin/resolvectl revert {bridge}")],
        );
        let unit = Unit {
            id: &ActionScope::Names.action("resolver"),
            why: self.reason(),
            name: format!("hardway-{}-resolver.service", self.settings.network),
            text,
            files: Vec::new(),
            works: ActionCheck::Succeeds(hypervisor.shell(&self.is_known())),
            start: "restart",
        };
        unit.action(&hypervisor)
    }

    /// NetworkManager's own dnsmasq, with one more server for one domain.
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
        // The reload returns before dnsmasq is started.
        let known = self.is_known();
        let wait = format!("for try in $(seq 60); do if {known}; then exit 0; fi; sleep 0.5; done; exit 1");
        does.push(Step::Run(hypervisor.shell(&wait)));
        let mut undo: Vec<Step> = files.iter().map(|(path, _)| hypervisor.remove(path)).collect();
        undo.push(reload());
        let mut holds: Vec<ActionCheck> =
            files.iter().map(|(path, text)| hypervisor.is_file(path, 0o644, text)).collect();
        holds.push(ActionCheck::Succeeds(hypervisor.shell(&known)));
        let holds = ActionCheck::All(holds);
        Action { id: ActionScope::Names.action("resolver"), why: self.reason(), holds, does, undo }
    }

    /// The bridge's addresses: there the network's dnsmasq answers.
    fn servers(&self) -> Vec<String> {
        self.cluster.inventory.network.gateway.iter().map(ToString::to_string).collect()
    }

    /// Asked through the resolver that every program of the host uses.
    fn is_known(&self) -> String {
        let address = self.cluster.inventory.network.api_vip[0];
        format!("getent ahosts {} | grep -qF {address}", self.cluster.api_host())
    }

    fn reason(&self) -> String {
        format!("this host resolves the names of {}", self.cluster.domain())
    }
}
