//! The network's three states: defined, started by libvirt itself, running.

use super::Libvirt;
use super::network_xml::{dhcp_host, dns_host, network_xml};
use super::xml::uuid;
use crate::actions::{Action, Check, Program};
use crate::providers::machine_action;
use hardway_assets::host_services::Names;
use hardway_assets::inventory::Host;
use hardway_assets::shell_word;

impl Libvirt {
    /// Defined, started with the host, running as defined.
    pub(super) fn network(&self) -> Vec<Action> {
        let (virsh, name, uuid) = (self.virsh(), &self.settings.network, self.network_uuid());
        let (xml, mark) = network_xml(&self.cluster, &self.settings, &uuid);
        let defined = Action::programs(
            "network/definition",
            format!("The network {name}: addresses, names and DHCP of all machines."),
            Check::Prints { program: virsh.call("net-dumpxml", ["--inactive", &uuid]), line: mark.line() },
            [virsh.call("net-define", ["/dev/stdin"]).reading(xml)],
            [virsh.if_listed("net-list --all --uuid", &uuid, &[virsh.call("net-undefine", [&uuid])])],
        );
        let autostarted = Action::programs(
            "network/autostart",
            "It comes back when the host restarts.",
            virsh.lists("net-list --all --autostart --uuid", &uuid),
            [virsh.call("net-autostart", [&uuid])],
            [],
        );
        let running = Check::All(vec![
            virsh.lists("net-list --uuid", &uuid),
            Check::Prints { program: virsh.call("net-dumpxml", [&uuid]), line: mark.line() },
        ]);
        let stop = virsh.if_listed("net-list --uuid", &uuid, &[virsh.call("net-destroy", [&uuid])]);
        let started = Action::programs(
            "network/active",
            "It runs as it is defined, with the virtual addresses on its bridge.",
            running,
            [stop.clone(), virsh.call("net-start", [&uuid]), self.plug_in_again()],
            [stop],
        );
        vec![defined, autostarted, started]
    }

    /// What the network knows of one machine: its names, and the address it gets. Told to a network that runs, so that
    /// machines come and go while others work. DHCPv6 knows clients by something that only a booted system can tell.
    pub(super) fn known(&self, host: &Host) -> Action {
        let (virsh, uuid, names) = (self.virsh(), self.network_uuid(), Names::of(&self.cluster));
        let mut entries = Vec::new();
        for address in &host.ip {
            let names = dns_host(&names, *address).lines().map(str::trim).collect::<String>();
            entries.push(("dns-host", format!("<host ip='{address}'/>"), names));
            if address.is_ipv4() {
                let name = self.cluster.node_name(host);
                let entry = dhcp_host(&name, &self.machine_mac(host), *address);
                entries.push(("ip-dhcp-host", format!("<host ip='{address}'/>"), entry));
            }
        }
        let update = |verb: &str, section: &str, xml: &str| {
            virsh.call("net-update", [&uuid, verb, section, xml, "--live", "--config"])
        };
        let dump = |more: &[&str]| virsh.call("net-dumpxml", [&[uuid.as_str()], more].concat());
        // As libvirt prints it, without the space between elements.
        let joined = |dump: Program| format!("$({dump} | sed 's/^ *//' | tr -d '\\n')");
        let has: String = entries
            .iter()
            .map(|(_, _, entry)| {
                format!(
                    "case \"$now$later\" in *{word}*{word}*) ;; *) exit 1 ;; esac; ",
                    word = shell_word(entry)
                )
            })
            .collect();
        let look = format!("now={}; later={}; {has}", joined(dump(&[])), joined(dump(&["--inactive"])));
        let forget: Vec<Program> =
            entries.iter().map(|(section, old, _)| update("delete", section, old)).collect();
        let forget = |then: &str| {
            let each =
                forget.iter().map(|program| format!("{program} >/dev/null 2>&1 || :; ")).collect::<String>();
            let list = virsh.call("net-list", ["--all", "--uuid"]);
            Program::new("sh", ["-ec", &format!("{list} >/dev/null; {each}{then}")])
        };
        let learn = entries
            .iter()
            .map(|(section, _, entry)| update("add", section, entry).to_string())
            .collect::<Vec<_>>()
            .join("; ");
        Action::programs(
            machine_action(&host.name, "name"),
            format!("The network knows {} by name and card.", host.name),
            Check::Succeeds(Program::new("sh", ["-ec", &look])),
            [forget(&learn)],
            [forget(":")],
        )
    }

    /// The same for a cluster's domain whatever else changes.
    pub(super) fn network_uuid(&self) -> String {
        uuid(&["network", &self.cluster.domain(), &self.settings.network])
    }

    /// A network that stops takes its bridge away, and running machines do not come back to the new one by themselves.
    fn plug_in_again(&self) -> Program {
        let uri = if self.settings.uri.ssh.is_some() { "qemu:///system" } else { &self.settings.uri.text };
        let virsh = Program::new("virsh", ["-c", uri]);
        let (network, bridge) = (&self.settings.network, &self.settings.bridge);
        let cards = format!("awk '$2 == \"network\" && $3 == \"{network}\" {{print $1}}'");
        self.place().shell(&format!(
            "for machine in $({virsh} list --uuid); do \
             for card in $({virsh} domiflist \"$machine\" | {cards}); do \
             ip link set dev \"$card\" master {bridge}; done; done"
        ))
    }
}
