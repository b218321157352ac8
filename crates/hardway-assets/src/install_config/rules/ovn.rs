//! The subnets OVN-Kubernetes keeps for itself, and none of the three networks over them.

use ipnet::IpNet;

use super::super::draft::{Draft, Net};
use super::Rules;
use super::networks::{constant, overlap, subnet_error};
use crate::schema::Findings;
use crate::violation::Violation;

pub(super) fn check(draft: &Draft<'_>, rules: &Rules, findings: &mut Findings<'_>) {
    let join = draft.join_subnet();
    if draft.config.networking.network_type == "OVNKubernetes" {
        for net in draft.all_networks() {
            default_subnets(net, join.is_some(), rules, findings);
        }
    } else if draft.config.networking.ovn_kubernetes_config.is_some() {
        let detail = "ovnKubernetesConfig may only be specified with the OVNKubernetes networkType";
        findings.error(Violation::invalid(
            "networking.networkType",
            &draft.config.networking.network_type,
            detail,
        ));
    }
    if let Some(join) = join {
        join_subnet(draft, join, findings);
    }
}

fn default_subnets(net: &Net, join_is_set: bool, rules: &Rules, findings: &mut Findings<'_>) {
    let (join, transit, masquerade, family) = match net.cidr {
        IpNet::V4(_) => ("100.64.0.0/16", "100.88.0.0/16", "169.254.0.0/17", "ipv4"),
        IpNet::V6(_) => ("fd98::/64", "fd97::/64", "fd69::/112", "ipv6"),
    };
    let join_set_apart = join_is_set && family == "ipv4";
    let path =
        if net.path.contains("clusterNetwork") { format!("{}.cidr", net.path) } else { net.path.clone() };
    for (name, subnet) in [("internal", join), ("transit", transit), ("masquerade", masquerade)] {
        if !overlap(net.cidr, constant(subnet)) || name == "internal" && join_set_apart {
            continue;
        }
        let detail = format!("must not overlap with OVNKubernetes default {name} subnet {subnet}");
        let violation = Violation::invalid(&path, net.cidr.to_string(), detail);
        let violation = match (name, family) {
            ("internal", "ipv4") => violation
                .fix("choose another network, or move OVN's with networking.ovnKubernetesConfig.ipv4.internalJoinSubnet"),
            _ => violation.fix("choose another network"),
        };
        if rules.ovn_subnets_are_reserved { findings.error(violation) } else { findings.warn(violation) }
    }
}

fn join_subnet(draft: &Draft<'_>, join: IpNet, findings: &mut Findings<'_>) {
    let path = "networking.ovnKubernetesConfig.ipv4.internalJoinSubnet";
    let mut wrong = |detail: String| findings.error(Violation::invalid(path, join.to_string(), detail));
    if let Some(error) = subnet_error(join) {
        return wrong(error);
    }
    if matches!(join, IpNet::V6(_)) {
        // Ours: openshift-install lets an IPv6 network pass here.
        return wrong("must be an IPv4 network".to_owned());
    }
    for (name, nets) in [
        ("clusterNetwork", &draft.cluster_networks),
        ("machineNetwork", &draft.machine_networks),
        ("serviceNetwork", &draft.service_networks),
    ] {
        for net in nets.iter().filter(|net| overlap(join, net.cidr)) {
            wrong(format!("must not overlap with {name} {}", net.cidr));
        }
    }
    match most_nodes(draft) {
        Ok(nodes) if nodes + 3 >= 1 << (32 - u32::from(join.prefix_len())) => wrong(
            "ipv4InternalJoinSubnet is not large enough for the maximum number of nodes which can be supported by \
             ClusterNetwork"
                .to_owned(),
        ),
        Ok(_) => {}
        Err(index) => findings.error(Violation::new(
            path,
            crate::violation::FieldErrorKind::Internal,
            None,
            format!("cannot determine the number of nodes supported by cluster network {index} due to invalid hostPrefix"),
        )),
    }
}

/// How many nodes the IPv4 cluster networks have room for; `Err` is the network whose shares make no sense. One
/// address is for the gateway, one for the network, one for broadcast (cluster-network-operator checks it again).
fn most_nodes(draft: &Draft<'_>) -> Result<u128, usize> {
    let mut nodes = 0;
    for net in draft.cluster_networks.iter().filter(|net| net.cidr.addr().is_ipv4()) {
        let bits = net.host_prefix.checked_sub(i64::from(net.cidr.prefix_len()));
        let bits = bits.and_then(|bits| u32::try_from(bits).ok()).filter(|bits| *bits <= 32);
        nodes += 1_u128 << bits.ok_or(net.index)?;
    }
    Ok(nodes)
}
