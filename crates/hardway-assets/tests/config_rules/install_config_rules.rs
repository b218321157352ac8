//! One bad file per rule of openshift-install that can apply to platform none, and what the cases cannot say.

use std::collections::BTreeSet;

use hardway_assets::install_config::{self, Rules};

use super::cases::{compare, parse};
use super::files::{HA, with};

const CASES: [&str; 8] = [
    include_str!("cases/install_config/families.txt"),
    include_str!("cases/install_config/keys_and_bundles.txt"),
    include_str!("cases/install_config/names.txt"),
    include_str!("cases/install_config/networks.txt"),
    include_str!("cases/install_config/ovn.txt"),
    include_str!("cases/install_config/platform_and_pools.txt"),
    include_str!("cases/install_config/publishing_capabilities_features.txt"),
    include_str!("cases/install_config/pull_secret_proxy_mirrors.txt"),
];

/// Every rule that a small change of a good file breaks. Others have a test below, or cannot be reached from a file, because
/// a default is filled in first.
#[rustfmt::skip]
const RULES: [&str; 57] = [
    "unknown-field", "api-version", "ssh-key", "fips", "trust-bundle", "trust-bundle-policy",
    "cluster-name", "base-domain", "network-type", "network-address", "service-network-size",
    "machine-networks-overlap", "service-overlaps-machine", "service-networks-overlap",
    "cluster-network-overlaps", "docker-bridge", "ovn-join-subnet", "host-prefix-positive",
    "host-prefix-size", "host-prefix-ipv6", "host-prefixes-differ", "host-prefix-length",
    "dual-stack-service-networks", "dual-stack-families", "family-order", "one-service-network",
    "service-network-family", "cluster-network-mtu", "ovn-config-without-ovn", "ovn-config-subnets",
    "platform", "control-plane-replicas", "pool-replicas", "control-plane-topology", "pool-name",
    "pool-words", "pool-architecture", "pool-platform", "pull-secret", "proxy-without-address",
    "proxy-url", "proxy-inside-cluster", "no-proxy", "mirror-source", "mirror-source-policy",
    "mirrors-twice", "mirror-without-login", "publish", "publishing-strategy",
    "modes-of-other-platforms", "capability-words", "capability-needs", "capability-alone",
    "feature-set", "feature-gates", "gated-field", "reserved-network",
];

#[test]
fn every_rule_finds_its_mistake() {
    let mut seen = BTreeSet::new();
    for case in CASES.iter().flat_map(|cases| parse(cases, HA)) {
        let found = install_config::read(&case.text, Rules::for_version(&case.version));
        compare(&case, &found.map(|read| read.warnings));
        seen.insert(case.rule);
    }
    assert_eq!(seen, RULES.map(str::to_owned).into(), "each rule has a case, and each case a rule");
}

#[test]
fn a_domain_can_be_too_long_together() {
    let base = vec!["a"; 125].join(".");
    let text = with(HA, "baseDomain: corp.example", &format!("baseDomain: {base}"));
    let errors = install_config::read(&text, Rules::for_version("4.18.3")).unwrap_err();
    assert_eq!(
        errors[0].to_string(),
        format!("baseDomain: Invalid value: \"prod1.{base}\": must be no more than 253 characters")
    );
}

#[test]
fn fips_needs_the_right_key_and_the_right_host() {
    let text = with(HA, "apiVersion: v1\n", "apiVersion: v1\nfips: true\n");
    let text: String =
        text.lines().filter(|line| !line.starts_with("sshKey")).map(|l| format!("{l}\n")).collect();
    assert!(install_config::read(&text, Rules::for_version("4.18.3").on_fips_host(true)).unwrap().value.fips);
    assert_eq!(install_config::read(&text, Rules::for_version("4.18.3")).unwrap_err().len(), 1);
}

#[test]
fn single_node_is_asked_for_apart() {
    let messages = |text: &str| -> Vec<String> {
        let config = install_config::read(text, Rules::for_version("4.18.3")).unwrap().value;
        install_config::single_node(&config).iter().map(ToString::to_string).collect()
    };
    assert_eq!(
        messages(HA),
        [
            "controlPlane.replicas: Invalid value: 3: bootstrap in place requires a single ControlPlane replica",
            "bootstrapInPlace: Required value: bootstrapInPlace is required when creating a single node \
             bootstrap-in-place ignition",
        ]
    );
    let one = with(HA, "replicas: 3", "replicas: 1");
    assert_eq!(
        messages(&with(&one, "apiVersion: v1\n", "apiVersion: v1\nbootstrapInPlace: {}\n")),
        [
            "bootstrapInPlace.installationDisk: Required value: installationDisk must be set the target disk drive for \
          the installation"
        ]
    );
    let good = "apiVersion: v1\nbootstrapInPlace: {installationDisk: /dev/vda}\n";
    assert!(messages(&with(&one, "apiVersion: v1\n", good)).is_empty());
}

#[test]
fn architecture_is_asked_for_apart() {
    let config = install_config::read(HA, Rules::for_version("4.18.3")).unwrap().value;
    let messages: Vec<String> =
        install_config::architecture(&config, "arm64").iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        [
            "controlPlane.architecture: Invalid value: \"amd64\": cannot create amd64 controlPlane node from a single \
             architecture arm64 release payload",
            "compute[0].architecture: Invalid value: \"amd64\": cannot create amd64 compute node from a single \
             architecture arm64 release payload",
        ]
    );
    assert!(install_config::architecture(&config, "amd64").is_empty());
    assert!(install_config::architecture(&config, "multi").is_empty());
}
