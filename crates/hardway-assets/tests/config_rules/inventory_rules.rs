//! One bad inventory per rule, held against a good install-config.

use hardway_assets::install_config::{self, InstallConfig, Rules};
use hardway_assets::inventory::{self, read_both};

use super::cases::{compare, parse};
use super::files::{
    DUAL_STACK, DUAL_STACK_INVENTORY, HA, HA_INVENTORY, SINGLE_NODE, SINGLE_NODE_INVENTORY, with,
};

fn config(text: &str) -> InstallConfig {
    install_config::read(text, Rules::for_version("4.18.3")).expect("the install-config is good").value
}

#[test]
fn every_rule_finds_its_mistake() {
    let config = config(HA);
    for cases in [
        include_str!("cases/inventory/hosts.txt"),
        include_str!("cases/inventory/addresses.txt"),
        include_str!("cases/inventory/day_two.txt"),
    ] {
        let cases = parse(cases, HA_INVENTORY);
        assert!(cases.len() > 10);
        for case in cases {
            let found = inventory::read(&case.text, Some(&config));
            compare(&case, &found.map(|read| read.warnings));
        }
    }
}

fn errors(text: &str, config: Option<&InstallConfig>) -> Vec<String> {
    match inventory::read(text, config) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn a_node_that_installs_itself_has_no_bootstrap_host() {
    let config = config(SINGLE_NODE);
    let node = "- {name: node, role: master, ip: 10.20.30.5}\n";
    let bootstrap = format!("{node}- {{name: bootstrap, role: bootstrap, ip: 10.20.30.6}}\n");
    assert_eq!(
        errors(&with(SINGLE_NODE_INVENTORY, node, &bootstrap), Some(&config)),
        [
            "network.apiVIP: Invalid value: \"10.20.30.5\": is the address of host \"node\"",
            "hosts[1]: Forbidden: with bootstrapInPlace the node installs itself: there is no bootstrap host",
        ]
    );
}

#[test]
fn a_stock_pointer_is_for_a_node_that_somebody_serves() {
    let ha = config(HA);
    let stock = |text: &str, role: &str| {
        text.replacen(&format!("role: {role}"), &format!("role: {role}, stockPointer: true"), 1)
    };
    let flow = HA_INVENTORY;
    assert!(errors(&stock(flow, "worker"), Some(&ha)).is_empty());
    assert_eq!(
        errors(&stock(flow, "bootstrap"), Some(&ha)),
        [
            "hosts[0].stockPointer: Forbidden: the bootstrap host boots from bootstrap.ign: there is no pointer for it"
        ]
    );
    let lab = flow.replacen("provider: libvirt", "provider: lab", 1);
    assert!(
        errors(&stock(&lab, "worker"), Some(&ha)).contains(
            &"hosts[4].stockPointer: Forbidden: with provider lab nothing serves what a pointer refers to"
                .to_owned()
        )
    );
    assert_eq!(
        errors(&stock(SINGLE_NODE_INVENTORY, "master"), Some(&config(SINGLE_NODE))),
        [
            "hosts[0].stockPointer: Forbidden: with bootstrapInPlace the node installs itself from its own config, without a pointer"
        ]
    );
}

#[test]
fn dual_stack_hosts_need_both_families() {
    let config = config(DUAL_STACK);
    let text = with(DUAL_STACK_INVENTORY, "ip: [10.20.30.101, 'fd00::101']", "ip: 10.20.30.101");
    assert_eq!(
        errors(&text, Some(&config)),
        ["hosts[1].ip: Required value: the machine networks are dual-stack: an IPv6 address is missing"]
    );
}

#[test]
fn without_an_install_config_the_file_is_checked_alone() {
    assert!(errors(HA_INVENTORY, None).is_empty());
    let text = with(HA_INVENTORY, "name: worker-1", "name: api");
    assert_eq!(
        errors(&text, None),
        ["hosts[5].name: Invalid value: \"api\": api is a name of the cluster itself or of everyone"]
    );
    assert_eq!(
        errors("hosts: []", None).last().unwrap(),
        "hosts: Required value: at least one host is required"
    );
}

#[test]
fn hosts_whose_card_is_unknown_are_told_of_once() {
    let text = with(HA_INVENTORY, ", interface: enp1s0", "");
    let text = with(&text, ", interface: ens3", "");
    let warnings = inventory::read(&text, None).unwrap().warnings;
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].detail.contains("given for worker-0, worker-1:"), "{warnings:?}");
    let in_cloud = with(&text, "provider: libvirt", "provider: gce");
    let settings = in_cloud.lines().find(|line| line.starts_with("  libvirt: ")).unwrap().to_owned();
    let in_cloud = with(&in_cloud, &settings, "  gce: {project: acme}");
    assert!(inventory::read(&in_cloud, None).unwrap().warnings.is_empty());
}

#[test]
fn both_files_are_reported_in_one_run() {
    let config = with(HA, "baseDomain: corp.example", "baseDomain: Corp.example");
    let inventory = with(HA_INVENTORY, "ip: 10.20.30.111", "ip: 10.20.31.111");
    let errors = read_both(&config, &inventory, Rules::for_version("4.18.3")).unwrap_err();
    assert_eq!(errors.install_config[0].path, "baseDomain");
    // The mistake in the domain does not hide that a host is outside the machine network.
    assert_eq!(errors.inventory[0].path, "hosts[5].ip");

    let errors = read_both("apiVersion: v1\napiVersion: v1\n", "a: b\na: c\n", Rules::for_version("4.18.3"));
    let errors = errors.unwrap_err();
    assert_eq!(errors.install_config[0].to_string(), "Syntax error: duplicate key \"apiVersion\"");
    assert_eq!(errors.inventory[0].to_string(), "Syntax error: duplicate key \"a\"");

    let (config, inventory) = read_both(HA, HA_INVENTORY, Rules::for_version("4.18.3")).unwrap();
    assert_eq!(config.value.metadata.name, "prod1");
    assert_eq!(inventory.value.hosts.len(), 6);
}

#[test]
fn a_network_plugin_that_the_release_does_not_have_is_allowed_by_its_name_alone() {
    let rules = Rules::for_version("4.18.3");
    let config = with(HA, "networkType: OVNKubernetes", "networkType: OVNKubernets");
    let errors = read_both(&config, HA_INVENTORY, rules).unwrap_err().install_config;
    assert_eq!(
        errors.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "networking.networkType: Invalid value: \"OVNKubernets\": not a plugin of the release, which has OVNKubernetes"
        ]
    );
    let named =
        |name: &str| with(HA_INVENTORY, "hosts:", &format!("options: {{networkPlugin: {name}}}\nhosts:"));
    let config = with(HA, "networkType: OVNKubernetes", "networkType: Cilium");
    assert!(read_both(&config, &named("Calico"), rules).is_err());
    let (read, inventory) = read_both(&config, &named("Cilium"), rules).unwrap();
    assert_eq!(read.warnings.len(), 1, "{:?}", read.warnings);
    assert_eq!(inventory.value.options.network_plugin.as_deref(), Some("Cilium"));
}

#[test]
fn what_is_odd_is_told_with_what_is_wrong() {
    let config = with(HA, "networkType: OVNKubernetes", "networkType: Cilium");
    let inventory = with(HA_INVENTORY, "hosts:", "options: {networkPlugin: Cilium}\nhosts:");
    let inventory = with(&inventory, "role: worker", "role: wrker");
    let errors = read_both(&config, &inventory, Rules::for_version("4.18.3")).unwrap_err();
    assert_eq!((errors.install_config.len(), errors.odd_install_config.len()), (0, 1), "{errors:?}");
    assert!(!errors.inventory.is_empty());
}
