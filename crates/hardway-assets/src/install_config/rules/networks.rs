//! The three networks: each right in itself, none over another.

use ipnet::IpNet;

use super::super::draft::{Draft, Net};
use super::Rules;
use crate::schema::Findings;
use crate::violation::Violation;

pub(super) fn check(
    draft: &Draft<'_>,
    rules: &Rules,
    is_known_plugin: &dyn Fn(&str) -> bool,
    findings: &mut Findings<'_>,
) {
    network_type(draft, is_known_plugin, findings);
    machine_networks(draft, findings);
    service_networks(draft, findings);
    cluster_networks(draft, rules, findings);
    for net in draft.all_networks() {
        if overlap(net.cidr, constant("172.17.0.0/16")) {
            findings.warn(invalid(&net.path, net, "overlaps with default Docker Bridge subnet"));
        }
    }
    if let Some(mtu) = draft.node.get("networking").and_then(|networking| networking.get("clusterNetworkMTU"))
        && let crate::yaml::Value::Int(mtu) = mtu.value
        && mtu != 0
    {
        let detail = "cluster network MTU is allowed only in AWS deployments";
        findings.error(Violation::invalid("networking.clusterNetworkMTU", mtu, detail));
    }
}

/// One contains the other's base address. Networks of different families never do.
pub(super) fn overlap(a: IpNet, b: IpNet) -> bool {
    a.contains(&b.addr()) || b.contains(&a.addr())
}

/// A network written in the source.
pub(super) fn constant(text: &str) -> IpNet {
    text.parse().expect("a constant network parses")
}

/// Why this is not a network: no address, or bits set behind the mask.
pub(super) fn subnet_error(cidr: IpNet) -> Option<String> {
    if cidr.addr().is_unspecified() {
        return Some("address must be specified".to_owned());
    }
    let network = cidr.trunc();
    (network != cidr).then(|| format!("invalid network address. got {cidr}, expecting {network}"))
}

fn network_type(draft: &Draft<'_>, is_known_plugin: &dyn Fn(&str) -> bool, findings: &mut Findings<'_>) {
    let path = "networking.networkType";
    match draft.config.networking.network_type.as_str() {
        "OVNKubernetes" => {}
        "Kuryr" => {
            let detail = "networkType Kuryr is not supported on OpenShift later than 4.14";
            findings.error(Violation::invalid(path, "Kuryr", detail));
        }
        "OpenShiftSDN" => {
            let detail = "networkType OpenShiftSDN is not supported, please use OVNKubernetes";
            findings.error(Violation::invalid(path, "OpenShiftSDN", detail));
        }
        // Ours: openshift-install takes any word, for plugins that bring their own manifests, and so takes misspelt ones.
        other if is_known_plugin(other) => findings.warn(
            Violation::invalid(path, other, "not a plugin of the release: its manifests must be supplied")
                .fix("put the plugin's manifests into manifests/"),
        ),
        other => findings.error(
            Violation::invalid(path, other, "not a plugin of the release, which has OVNKubernetes").fix(format!(
                "remove it for OVNKubernetes; a plugin whose manifests you put into manifests/ is allowed by its name, with \
                 options: {{networkPlugin: {other}}} in inventory.yaml"
            )),
        ),
    }
}

fn machine_networks(draft: &Draft<'_>, findings: &mut Findings<'_>) {
    for (i, net) in draft.machine_networks.iter().enumerate() {
        if let Some(error) = subnet_error(net.cidr) {
            findings.error(invalid(&net.path, net, error));
        }
        for earlier in &draft.machine_networks[..i] {
            if overlap(net.cidr, earlier.cidr) {
                let detail =
                    format!("machine network must not overlap with machine network {}", earlier.index);
                findings.error(invalid(&net.path, net, detail));
            }
        }
        // Refused only on the bootstrap host, an hour later (cluster-etcd-operator `pkg/cmd/render/render.go`),
        // because the API server operator leaves out etcd endpoints with such addresses.
        if ["192.0.2.0/24", "2001:db8::/32"]
            .iter()
            .any(|reserved| constant(reserved).contains(&net.cidr.addr()))
        {
            let detail = "machineNetwork CIDR is reserved and unsupported";
            findings.error(
                invalid(&net.path, net, detail).fix("use a network that is not set aside for examples"),
            );
        }
    }
}

fn service_networks(draft: &Draft<'_>, findings: &mut Findings<'_>) {
    for (i, net) in draft.service_networks.iter().enumerate() {
        let size_error = match net.cidr {
            IpNet::V4(cidr) if cidr.prefix_len() < 12 => {
                Some("subnet size for IPv4 service network must be /12 or greater (/16 is recommended)")
            }
            IpNet::V6(cidr) if cidr.prefix_len() < 108 => {
                Some("subnet size for IPv6 service network should be /112")
            }
            _ => None,
        };
        if let Some(error) = subnet_error(net.cidr).or(size_error.map(str::to_owned)) {
            findings.error(invalid(&net.path, net, error));
        }
        if draft.machine_networks.iter().any(|machine| overlap(net.cidr, machine.cidr)) {
            let detail = "service network must not overlap with any of the machine networks";
            findings.error(invalid(&net.path, net, detail));
        }
        for earlier in &draft.service_networks[..i] {
            if overlap(net.cidr, earlier.cidr) {
                let detail =
                    format!("service network must not overlap with service network {}", earlier.index);
                findings.error(invalid(&net.path, net, detail));
            }
        }
    }
}

fn cluster_networks(draft: &Draft<'_>, rules: &Rules, findings: &mut Findings<'_>) {
    for (i, net) in draft.cluster_networks.iter().enumerate() {
        let path = format!("{}.cidr", net.path);
        if let Some(error) = subnet_error(net.cidr) {
            findings.error(invalid(&path, net, error));
        }
        if draft.machine_networks.iter().any(|machine| overlap(net.cidr, machine.cidr)) {
            let detail = "cluster network must not overlap with any of the machine networks";
            findings.error(invalid(&path, net, detail));
        }
        for service in draft.service_networks.iter().filter(|service| overlap(net.cidr, service.cidr)) {
            let detail = format!("cluster network must not overlap with service network {}", service.index);
            findings.error(invalid(&path, net, detail));
        }
        let earlier = &draft.cluster_networks[..i];
        for other in earlier.iter().filter(|other| overlap(net.cidr, other.cidr)) {
            let detail = format!("cluster network must not overlap with cluster network {}", other.index);
            findings.error(invalid(&path, net, detail));
        }
        // A plugin that does not use it may remove it.
        if draft.config.networking.network_type == "OVNKubernetes" || net.host_prefix != 0 {
            host_prefix(net, earlier, rules, findings);
        }
    }
}

fn host_prefix(net: &Net, earlier: &[Net], rules: &Rules, findings: &mut Findings<'_>) {
    let path = format!("{}.hostPrefix", net.path);
    let mut wrong = |detail: String| findings.error(Violation::invalid(&path, net.host_prefix, detail));
    if net.host_prefix < 0 {
        wrong("hostPrefix must be positive".to_owned());
    }
    let share = "cluster network host subnetwork prefix";
    let is_ipv4 = |net: &Net| matches!(net.cidr, IpNet::V4(_));
    if net.host_prefix < i64::from(net.cidr.prefix_len()) {
        wrong(format!("{share} must not be larger size than CIDR {}", net.cidr));
    } else if !is_ipv4(net) && net.host_prefix != 64 {
        wrong(format!("{share} must be 64 for IPv6 networks"));
    } else if net.host_prefix > i64::from(net.cidr.max_prefix_len()) {
        // Ours: openshift-install sets no upper bound and the network operator fails later.
        wrong(format!("{share} must not be longer than an address of {} bits", net.cidr.max_prefix_len()));
    } else if rules.one_host_prefix
        && is_ipv4(net)
        && earlier.iter().any(|other| is_ipv4(other) && other.host_prefix != net.host_prefix)
    {
        wrong(format!("{share} must be the same value for IPv4 networks"));
    }
}

fn invalid(path: &str, net: &Net, detail: impl Into<String>) -> Violation {
    Violation::invalid(path, net.cidr.to_string(), detail)
}
