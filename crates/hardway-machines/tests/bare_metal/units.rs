//! The units as systemd itself reads them, and mistakes in what they are made from.

use std::path::Path;

use hardway_assets::host_services::InstallStage;
use hardway_machines::actions::{Action, Step};
use hardway_machines::providers::bare_metal::{BareMetal, BareMetalSettings, HostFacts};
use hardway_machines::providers::{LoadBalancer, Provider as _};
use serde_json::{Value, json};

use super::site::{cluster, provider};
use crate::systemd;

fn planned(settings: Value) -> BareMetal {
    let facts = HostFacts { inventory_written: 1000, ..HostFacts::default() };
    BareMetal { facts, ..provider(&cluster(settings), Path::new("/work"), InstallStage::Bootstrapping) }
}

fn units(actions: &[Action]) -> Vec<(String, String)> {
    let files = actions.iter().flat_map(|action| &action.does).filter_map(|step| match step {
        Step::WriteFile { path, content, .. } if path.starts_with("/etc/systemd") => {
            Some((path.file_name()?.to_str()?.to_owned(), content.clone()))
        }
        _ => None,
    });
    files.collect()
}

fn balancers() -> Value {
    json!({
        "lb-0": {"ip": "192.168.126.5", "interface": "eno1"},
        "lb-1": {"ip": "192.168.126.6", "interface": "eno1", "ssh": "root@192.168.126.6"},
    })
}

#[test]
fn real_systemd_takes_the_units() {
    let folder = tempfile::tempdir().unwrap();
    let mut all =
        units(&planned(json!({"interface": "eno1", "names": "unit", "dhcp": "unit"})).infrastructure());
    all.extend(units(&planned(json!({"balancers": balancers()})).infrastructure()));
    let kinds: Vec<&str> = all.iter().filter_map(|(name, _)| name.rsplit('-').next()).collect();
    assert_eq!(
        kinds,
        ["dnsmasq.service", "addresses.service", "haproxy.service", "haproxy.service", "keepalived.service"]
    );
    for (name, text) in all {
        assert_eq!(systemd::complaints(folder.path(), &name, &text), [""; 0]);
    }
}

#[test]
fn several_balancers_are_worked_on_where_they_are() {
    let planned = planned(json!({"balancers": balancers()}));
    assert_eq!(planned.load_balancer(), LoadBalancer::ByConfiguration);
    let actions = planned.infrastructure();
    let ids: Vec<&str> = actions.iter().map(|action| action.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "dns/records",
            "balancer/lb-0/haproxy",
            "balancer/lb-0/keepalived",
            "balancer/lb-1/haproxy",
            "balancer/lb-1/keepalived"
        ]
    );
    for action in &actions[3..] {
        for step in action.does.iter().chain(&action.undo) {
            assert!(step.to_string().contains("-- root@192.168.126.6 "), "{step}");
        }
    }
    for action in &actions[1..3] {
        assert!(action.does.iter().all(|step| !step.to_string().contains("ssh ")), "{action:?}");
    }
}

#[test]
fn every_mistake_is_named() {
    let told = |settings: Value| -> Vec<String> {
        let violations = BareMetalSettings::read(&cluster(settings)).unwrap_err();
        violations.iter().map(ToString::to_string).collect()
    };
    let told = told(json!({
        "names": "unit", "dhcp": "unit", "services": "daemon", "ipxe": "ipxe", "routerID": 300,
        "balancers": {
            "LB": {"ip": "192.168.126.10", "interface": "eno1"},
            "lb-1": {"ip": "192.168.126.101", "interface": "a name that is long"},
            "lb-2": {"ip": "fd00::1", "interface": "eno1", "ssh": "-oProxyCommand=reboot"},
            "lb-3": {"ip": "fd00::2", "interface": "eno1", "ssh": "root@big"},
            "lb-4": {"ssh": "root@big"},
        },
    }));
    let (all, below) = (told.join("\n"), "machines.bare-metal.balancers");
    for part in [
        "machines.bare-metal.interface: Required value",
        "machines.bare-metal.services: Forbidden",
        "machines.bare-metal.ipxe: Invalid value: \"ipxe\"",
        "machines.bare-metal.ipxe: Forbidden",
        "machines.bare-metal.routerID: Invalid value: \"300\": must be a number from 1 to 255",
        &format!("{below}.LB: Invalid value"),
        &format!("{below}.LB.ip: Invalid value: \"192.168.126.10\": is apiVIP, which moves"),
        &format!("{below}.lb-1.ip: Invalid value: \"192.168.126.101\": is the address of master-0"),
        &format!("{below}.lb-1.interface: Invalid value"),
        &format!("{below}.lb-1.ssh: Invalid value: \"\": LB is this computer already"),
        &format!("{below}.lb-2.ssh: Invalid value"),
        &format!("{below}.lb-3.ip: Invalid value: \"fd00::2\": must be of the same family as that of LB"),
        &format!("{below}.lb-4.ip: Required value"),
        &format!("{below}.lb-4.interface: Required value"),
    ] {
        assert!(all.contains(part), "{part} is not in:\n{all}");
    }
    assert_eq!(told.len(), 14, "{all}");

    let mut external = cluster(json!({"dhcp": "kea", "balancers": balancers()}));
    external.inventory.network.load_balancer = hardway_assets::inventory::Balancer::External;
    external.inventory.hosts[2].mac = None;
    external.inventory.hosts[2].interface = Some("eno1".to_owned());
    let all: Vec<String> =
        BareMetalSettings::read(&external).unwrap_err().iter().map(ToString::to_string).collect();
    assert_eq!(all.len(), 2, "{all:?}");
    assert!(all[0].starts_with("machines.bare-metal.balancers: Forbidden"), "{all:?}");
    assert!(all[1].starts_with("hosts[2].mac: Required value: a fixed lease"), "{all:?}");
}
