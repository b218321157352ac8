//! What the network knows of one machine: its names, and the address it gets.

use hardway_assets::host_services::Names;
use hardway_assets::inventory::Host;
use hardway_base::shell_word;

use super::Libvirt;
use super::network_xml::{dhcp_host, dns_host};
use crate::actions::{Action, ActionCheck, Program};
use crate::providers::machine_action;

/// An element of the network that can be changed while it runs.
struct Entry {
    /// As `virsh net-update` calls it.
    section: &'static str,
    /// What `delete` is given: libvirt finds the existing entry by it.
    old: String,
    new: String,
}

impl Libvirt {
    /// Updates the running network, so that machines can come and go while others keep working.
    pub(super) fn known(&self, host: &Host) -> Action {
        let entries = self.entries(host);
        let forget: String = entries
            .iter()
            .map(|entry| {
                format!("{} >/dev/null 2>&1 || :; ", self.update("delete", entry.section, &entry.old))
            })
            .collect();
        let learn: Vec<String> =
            entries.iter().map(|entry| self.update("add", entry.section, &entry.new).to_string()).collect();
        // Deleting an entry that is absent fails, and may; a libvirt that does not answer is a failure.
        let answers = self.virsh().call("net-list", ["--all", "--uuid"]);
        let script =
            |then: &str| Program::new("sh", ["-ec", &format!("{answers} >/dev/null; {forget}{then}")]);
        Action::programs(
            machine_action(&host.name, "name"),
            format!("the network has the name and the MAC address of {}", host.name),
            self.has_entries(&entries),
            [script(&learn.join("; "))],
            [script(":")],
        )
    }

    /// IPv4 only: DHCPv6 identifies clients by a DUID, which nobody knows before the system has booted.
    fn entries(&self, host: &Host) -> Vec<Entry> {
        let names = Names::of_host(&self.cluster, host);
        let mut entries = Vec::new();
        for address in &host.ip {
            let old = format!("<host ip='{address}'/>");
            let new = dns_host(&names, *address).lines().map(str::trim).collect::<String>();
            entries.push(Entry { section: "dns-host", old: old.clone(), new });
            if address.is_ipv4() {
                let new = dhcp_host(&self.cluster.node_name(host), &self.machine_mac(host), *address);
                entries.push(Entry { section: "ip-dhcp-host", old, new });
            }
        }
        entries
    }

    /// In the running and in the persistent network, as libvirt prints them, without white space between elements.
    fn has_entries(&self, entries: &[Entry]) -> ActionCheck {
        let uuid = self.network_uuid();
        let printed = |more: &[&str]| {
            let dump = self.virsh().call("net-dumpxml", [&[uuid.as_str()], more].concat());
            format!("$({dump} | sed 's/^ *//' | tr -d '\\n')")
        };
        let has: String = entries
            .iter()
            .map(|entry| {
                let word = shell_word(&entry.new);
                format!("case \"$now$later\" in *{word}*{word}*) ;; *) exit 1 ;; esac; ")
            })
            .collect();
        let script = format!("now={}; later={}; {has}", printed(&[]), printed(&["--inactive"]));
        ActionCheck::Succeeds(Program::new("sh", ["-ec", &script]))
    }

    fn update(&self, verb: &str, section: &str, xml: &str) -> Program {
        self.virsh().call("net-update", [&self.network_uuid(), verb, section, xml, "--live", "--config"])
    }
}
