//! Each host by itself, and no two alike.

use std::collections::BTreeSet;

use super::super::Role;
use super::super::draft::{Draft, DraftHost};
use crate::install_config::InstallConfig;
use crate::install_config::dns_name::{is_label, subdomain_error};
use crate::machine_provider::Provider;
use crate::schema::Findings;
use crate::violation::Violation;

pub(super) fn check(draft: &Draft<'_>, config: Option<&InstallConfig>, findings: &mut Findings<'_>) {
    if draft.node.get("hosts").is_some_and(|hosts| hosts.value == crate::yaml::Value::List(Vec::new())) {
        findings.error(Violation::required("hosts", "at least one host is required"));
    }
    cards(draft, findings);
    let domain = config.map(InstallConfig::domain);
    let (mut names, mut macs, mut addresses) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for host in &draft.hosts {
        name(host, domain.as_deref(), findings);
        details(host, findings);
        stock_pointer(host, draft, config, findings);
        if !host.name.is_empty() && !names.insert(node_name(host, domain.as_deref())) {
            findings.error(Violation::duplicate(format!("{}.name", host.path), &host.name));
        }
        if let Some(mac) = host.canonical_mac()
            && !macs.insert(mac.clone())
        {
            findings.error(Violation::duplicate(format!("{}.mac", host.path), mac));
        }
        for address in host.ip.iter().filter(|address| addresses.contains(&address.ip)) {
            findings.error(Violation::duplicate(&address.path, address.ip.to_string()));
        }
        // Only now: one host that says an address twice is told about its families.
        addresses.extend(host.ip.iter().map(|address| address.ip));
    }
}

fn name(host: &DraftHost<'_>, domain: Option<&str>, findings: &mut Findings<'_>) {
    if host.name.is_empty() {
        return;
    }
    let path = format!("{}.name", host.path);
    let mut wrong = |detail: String| findings.error(Violation::invalid(&path, &host.name, detail));
    if let Some(error) = subdomain_error(&host.name) {
        return wrong(error);
    }
    if host.name.split('.').any(|label| label.len() > 63) || !host.name.split('.').all(is_label) {
        return wrong("no part between dots may be longer than 63 characters".to_owned());
    }
    let node_name = node_name(host, domain);
    let Some(domain) = domain else {
        return if RESERVED.contains(&host.name.as_str()) {
            wrong(reserved(&host.name))
        };
    };
    let below = node_name.strip_suffix(domain).and_then(|name| name.strip_suffix('.')).unwrap_or_default();
    if RESERVED.contains(&below) || below.ends_with(".apps") {
        wrong(reserved(&node_name));
    }
    // The kubelet puts the node's name into the label kubernetes.io/hostname, and a label's value ends there.
    if node_name.len() > 63 {
        wrong(format!("the node name would be {node_name}, longer than the 63 characters of a node label"));
    }
}

const RESERVED: [&str; 4] = ["api", "api-int", "apps", "localhost"];

fn reserved(name: &str) -> String {
    format!("{name} is a name of the cluster itself or of everyone")
}

fn node_name(host: &DraftHost<'_>, domain: Option<&str>) -> String {
    domain.map_or_else(|| host.name.clone(), |domain| crate::node_name::qualified(&host.name, domain))
}

fn details(host: &DraftHost<'_>, findings: &mut Findings<'_>) {
    let mut wrong = |field: &str, value: &str, detail: String| {
        findings.error(Violation::invalid(format!("{}.{field}", host.path), value, detail));
    };
    if let Some(mac) = &host.mac
        && let Some(error) = mac_error(mac)
    {
        wrong("mac", mac, error);
    }
    if let Some(disk) = &host.install_disk
        && let Some(error) = disk_error(disk)
    {
        wrong("installDisk", disk, error.to_owned());
    }
    if let Some(interface) = &host.interface
        && let Some(error) = interface_error(interface)
    {
        wrong("interface", interface, error.to_owned());
    }
}

/// Why this is no disk.
pub(crate) fn disk_error(disk: &str) -> Option<&'static str> {
    let is_good = disk.starts_with('/') && !disk.ends_with('/') && disk.chars().all(|c| c.is_ascii_graphic());
    (!is_good).then_some("must be the absolute path of a disk, such as /dev/vda")
}

/// Why this is no interface. It becomes part of a file name and of a keyfile on the host.
pub(crate) fn interface_error(interface: &str) -> Option<&'static str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let is_good =
        !interface.trim_matches('.').is_empty() && interface.len() <= 15 && interface.chars().all(plain);
    (!is_good).then_some(
        "must be the name of a network interface: at most 15 letters, digits, dots, dashes, underscores",
    )
}

/// A stock pointer is for masters and workers, where somebody serves what it points at.
fn stock_pointer(
    host: &DraftHost<'_>,
    draft: &Draft<'_>,
    config: Option<&InstallConfig>,
    findings: &mut Findings<'_>,
) {
    if !host.is_stock_pointer() {
        return;
    }
    let path = format!("{}.stockPointer", host.path);
    if host.role == Role::Bootstrap.name() {
        let detail = "the bootstrap host boots from bootstrap.ign: there is no pointer for it";
        findings.error(Violation::forbidden(path, detail));
    } else if config.is_some_and(|config| config.bootstrap_in_place.is_some()) {
        let detail = "with bootstrapInPlace the node installs itself from its own config, without a pointer";
        findings.error(Violation::forbidden(path, detail));
    } else if let Some(provider) = Provider::named(&draft.provider)
        && !provider.row().serves_machine_configs
    {
        let detail = format!("with provider {} nothing serves what a pointer refers to", provider.name());
        findings.error(Violation::forbidden(path, detail));
    }
}

/// Which card gets the addresses must be known; a cloud gives its machines theirs. Said once, of all hosts.
fn cards(draft: &Draft<'_>, findings: &mut Findings<'_>) {
    let unknown: Vec<&str> = draft
        .hosts
        .iter()
        .filter(|host| host.mac.is_none() && host.interface.is_none())
        .map(|host| host.name.as_str())
        .collect();
    let is_configured =
        Provider::named(&draft.provider).is_some_and(|provider| provider.row().configures_cards);
    if !unknown.is_empty() && !is_configured {
        let names = unknown.join(", ");
        let detail = format!(
            "neither mac nor interface is given for {names}: the NIC that comes up first gets the addresses"
        );
        findings.warn(Violation::required("hosts", detail));
    }
}

/// Why this is no Ethernet address of one card (the sentences are installer `pkg/validate`'s).
pub(crate) fn mac_error(mac: &str) -> Option<String> {
    let separator = if mac.contains('-') { '-' } else { ':' };
    let octets: Vec<Option<u8>> = mac
        .split(separator)
        .map(|octet| {
            u8::from_str_radix(octet, 16).ok().filter(|_| octet.len() == 2 && !octet.starts_with('+'))
        })
        .collect();
    match octets[..] {
        [Some(first), Some(_), Some(_), Some(_), Some(_), Some(_)] if first & 1 == 1 => {
            Some("expected unicast mac address, found multicast".to_owned())
        }
        [Some(_), Some(_), Some(_), Some(_), Some(_), Some(_)] => None,
        _ => Some(format!("address {mac}: invalid MAC address")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macs_are_six_octets_of_one_card() {
        assert_eq!(mac_error("52:54:00:7e:00:64"), None);
        assert_eq!(mac_error("52-54-00-7E-00-64"), None);
        assert_eq!(mac_error("53:54:00:7e:00:64").unwrap(), "expected unicast mac address, found multicast");
        for bad in [
            "",
            "52:54:00:7e:00",
            "52:54:00:7e:00:64:01",
            "52:54:00:7e:00:6g",
            "5254007e0064",
            "52:54:0:7e:0:64",
            "+2:54:00:7e:00:64",
        ] {
            assert!(mac_error(bad).unwrap().ends_with("invalid MAC address"), "{bad}");
        }
    }
}
