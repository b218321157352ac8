//! The inventory of hosted workers: what it gives, and one bad file per rule.

use hardway_assets::hosted_inventory::{self, HostedInventory};
use hardway_assets::secrets::SecretBundle;

const GOOD: &str = r#"apiVersion: hardway.dev/v1alpha1
kind: HostedInventory
name: site
machines:
  provider: libvirt
network:
  machineNetwork: 192.168.126.0/24
  gateway: 192.168.126.1
  dns: [192.168.126.1]
pools:
- cluster: one
  nodePool: small
  names: one-small-{n}
  addresses: [192.168.126.10-192.168.126.12, 192.168.126.20]
  macPrefix: "52:54:00:7e:01"
  installDisk: /dev/vda
  zones: [rack-a, rack-b]
- cluster: two
  nodePool: large
  installDisk: /dev/vda
  hosts:
  - {name: metal-0, ip: 192.168.126.30, mac: "52-54-00-AA-00-01", zone: rack-c}
"#;

fn read(text: &str) -> HostedInventory {
    hosted_inventory::read(text).unwrap().value
}

fn errors(text: &str) -> Vec<String> {
    hosted_inventory::read(text).map(drop).unwrap_err().iter().map(ToString::to_string).collect()
}

/// The good file with a change.
fn with(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    GOOD.replacen(from, to, 1)
}

#[test]
fn a_range_gives_a_machine_for_each_address() {
    let inventory = read(GOOD);
    let pool = inventory.pool("clusters", "one", "small").unwrap();
    let told: Vec<String> = pool
        .hosts
        .iter()
        .map(|one| {
            let (host, zone) = (&one.host, one.zone.as_deref().unwrap());
            format!("{} {} {} {zone}", host.name, host.ip[0], host.mac.as_deref().unwrap())
        })
        .collect();
    assert_eq!(
        told,
        [
            "one-small-0 192.168.126.10 52:54:00:7e:01:00 rack-a",
            "one-small-1 192.168.126.11 52:54:00:7e:01:01 rack-b",
            "one-small-2 192.168.126.12 52:54:00:7e:01:02 rack-a",
            "one-small-3 192.168.126.20 52:54:00:7e:01:03 rack-b",
        ]
    );
    let metal = &inventory.pool("clusters", "two", "large").unwrap().hosts[0];
    assert_eq!(metal.host.mac.as_deref(), Some("52:54:00:aa:00:01"));
    assert_eq!(metal.zone.as_deref(), Some("rack-c"));
    assert!(inventory.pool("clusters", "one", "large").is_none(), "pools are their clusters'");
}

#[test]
fn both_families_are_counted_together() {
    let inventory = read(
        &with(
            "[192.168.126.10-192.168.126.12, 192.168.126.20]",
            "[192.168.126.10-192.168.126.11, 'fd00::10-fd00::11']",
        )
        .replace("machineNetwork: 192.168.126.0/24", "machineNetwork: [192.168.126.0/24, 'fd00::/64']"),
    );
    let ips: Vec<String> = inventory.pools[0].hosts[1].host.ip.iter().map(ToString::to_string).collect();
    assert_eq!(ips, ["192.168.126.11", "fd00::11"]);
}

#[test]
fn a_cloud_says_where_machines_are() {
    let gce = "provider: gce\n  gce: {project: p, zones: [europe-west1-b, europe-west1-c], image: i}";
    let text = with("provider: libvirt", gce).replace("  zones: [rack-a, rack-b]\n", "");
    let text = text.replace(", zone: rack-c", "");
    let inventory = read(&text);
    let zones: Vec<&str> = inventory.pools[0].hosts.iter().map(|one| one.zone.as_deref().unwrap()).collect();
    assert_eq!(zones, ["europe-west1-b", "europe-west1-c", "europe-west1-b", "europe-west1-c"]);
    assert_eq!(inventory.region.as_deref(), Some("europe-west1"));
    let other =
        text.replace("  installDisk: /dev/vda\n- cluster: two", "  zones: us-east1-b\n- cluster: two");
    assert_eq!(errors(&other), ["pools[0].zones: Not found: \"us-east1-b\""]);
}

#[test]
fn whoever_makes_machines_is_told_of_no_cluster() {
    let mut secrets = SecretBundle::default();
    let cluster = read(GOOD).cluster(&mut secrets, jiff::Timestamp::UNIX_EPOCH).unwrap();
    assert!(cluster.inventory.is_hosted());
    assert_eq!(cluster.inventory.hosts.len(), 5);
    assert!(cluster.inventory.network.api_vip.is_empty() && cluster.inventory.network.ingress_vip.is_empty());
    assert_eq!(
        cluster.machine_network_of([192, 168, 126, 7].into()).unwrap().to_string(),
        "192.168.126.0/24"
    );
    assert_eq!(cluster.inventory.hosted.unwrap().zones["metal-0"], "rack-c");
    assert!(cluster.identity.infra_id.starts_with("site-"));
}

#[test]
fn what_a_provider_says_of_a_host_is_said_of_its_place() {
    let inventory = read(GOOD);
    for (of_provider, here) in [
        ("hosts[3].installDisk", "pools[0].installDisk"),
        ("hosts[0].name", "pools[0].names"),
        ("hosts[2].ip", "pools[0].addresses"),
        ("hosts[4].installDisk", "pools[1].hosts[0].installDisk"),
        ("hosts[5].ip", "hosts[5].ip"),
        ("machines.libvirt.uri", "machines.libvirt.uri"),
    ] {
        assert_eq!(inventory.place(of_provider), here);
    }
}

#[test]
fn every_mistake_is_found_and_all_at_once() {
    let alone = [
        (
            "kind: HostedInventory",
            "kind: Inventory",
            "kind: Unsupported value: \"Inventory\": supported values: \"HostedInventory\"",
        ),
        ("name: site\n", "name: Site\n", "name: Invalid value: \"Site\": must be at most 40 lower-case"),
        (
            "provider: libvirt",
            "provider: lab",
            "machines.provider: Invalid value: \"lab\": a lab has a control plane",
        ),
        ("provider: libvirt", "provider: cloud", "machines.provider: Unsupported value: \"cloud\""),
        (
            "gateway: 192.168.126.1\n",
            "gateway: 10.0.0.1\n",
            "network.gateway: Invalid value: \"10.0.0.1\": is in none of",
        ),
        ("  nodePool: small\n", "", "pools[0].nodePool: Required value"),
        ("  nodePool: small", "  nodePool: Small", "pools[0].nodePool: Invalid value: \"Small\""),
        ("one-small-{n}", "one-small", "pools[0].names: Invalid value: \"one-small\": must have {n} once"),
        (
            "one-small-{n}",
            "One-{n}",
            "pools[0].names: Invalid value: \"One-{n}\": One-3 is not the name of a node",
        ),
        ("  names: one-small-{n}\n", "", "pools[0].names: Required value"),
        (
            "192.168.126.10-192.168.126.12",
            "192.168.126.12-192.168.126.10",
            "pools[0].addresses[0]: Invalid value: \"192.168.126.12-192.168.126.10\": 192.168.126.12 comes after",
        ),
        (
            "192.168.126.10-192.168.126.12",
            "192.168.126.1-192.168.126.3",
            "pools[0].addresses: Invalid value: \"192.168.126.1\": is the gateway's address",
        ),
        (
            "192.168.126.10-192.168.126.12",
            "192.168.127.10-192.168.127.12",
            "pools[0].addresses: Invalid value: \"192.168.127.10\": is not in network.machineNetwork",
        ),
        (
            "192.168.126.20]",
            "192.168.126.255]",
            "pools[0].addresses: Invalid value: \"192.168.126.255\": is the broadcast",
        ),
        ("192.168.126.20]", "192.168.126.30]", "pools[1].hosts[0].ip: Duplicate value: \"192.168.126.30\""),
        (
            "52:54:00:7e:01",
            "53:54:00:7e:01",
            "pools[0].macPrefix: Invalid value: \"53:54:00:7e:01\": expected unicast",
        ),
        ("52:54:00:7e:01", "52:54", "pools[0].macPrefix: Invalid value: \"52:54\": must be the first three"),
        ("52:54:00:7e:01\"", "52:54:00:7e:01:00\"", "pools[0].macPrefix: Invalid value"),
        ("name: metal-0", "name: one-small-2", "pools[1].hosts[0].name: Duplicate value: \"one-small-2\""),
        ("52-54-00-AA-00-01", "52:54:00:7e:01:03", "pools[1].hosts[0].mac: Duplicate value"),
        (
            "zones: [rack-a, rack-b]",
            "zones: [rack a]",
            "pools[0].zones: Invalid value: \"rack a\": becomes the value",
        ),
        (
            "nodePool: large",
            "nodePool: large\n  names: x-{n}",
            "pools[1].names: Forbidden: belongs to a range",
        ),
        (
            "cluster: two\n  nodePool: large",
            "cluster: one\n  nodePool: small",
            "pools[1].nodePool: Duplicate value: \"small\"",
        ),
    ];
    let mut all = 0;
    for (from, to, said) in alone {
        let found = errors(&with(from, to));
        assert!(found.iter().any(|error| error.starts_with(said)), "{to}: {found:#?}");
        all += 1;
    }
    assert!(all > 20);
    let several = with("name: site\n", "name: Site\n")
        .replace("one-small-{n}", "one-small")
        .replace("name: metal-0", "name: Metal")
        .replace("network:", "networks: {}\nnetwork:");
    let found = errors(&several);
    for path in ["networks: Unknown field", "name: ", "pools[0].names: ", "pools[1].hosts[0].name: "] {
        assert!(found.iter().any(|error| error.starts_with(path)), "{path}: {found:#?}");
    }
}

#[test]
fn a_mistake_has_its_place() {
    let text = with("one-small-{n}", "one-small");
    let found = hosted_inventory::read(&text).map(drop).unwrap_err();
    let span = found.iter().find(|violation| violation.path == "pools[0].names").unwrap().span.unwrap();
    assert_eq!(&text[span.start..span.end], "one-small");
}
