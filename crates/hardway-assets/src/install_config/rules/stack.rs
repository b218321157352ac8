//! One family or two, the same in all three networks and in an order the release takes. The families of the service networks decide.

use super::super::draft::{Draft, Net};
use super::Rules;
use crate::schema::Findings;
use crate::violation::Violation;

pub(super) fn check(draft: &Draft<'_>, rules: &Rules, findings: &mut Findings<'_>) {
    let service = &draft.service_networks;
    let (has_ipv4, has_ipv6) = (service.iter().any(is_ipv4), service.iter().any(|net| !is_ipv4(net)));
    let path = "networking.serviceNetwork";
    if has_ipv4 && has_ipv6 {
        if service.len() != 2 {
            let detail = "when installing dual-stack IPv4/IPv6 you must provide two service networks, one for each IP \
                          address type";
            findings.error(Violation::invalid(path, list(service), detail));
        }
        dual_stack("machineNetwork", &draft.machine_networks, rules, findings);
        dual_stack("serviceNetwork", service, rules, findings);
        dual_stack("clusterNetwork", &draft.cluster_networks, rules, findings);
    } else if has_ipv4 && service.len() > 1 {
        findings.error(Violation::invalid(path, list(service), "only one service network can be specified"));
    } else {
        one_family(draft, has_ipv6, findings);
    }
}

fn dual_stack(name: &str, nets: &[Net], rules: &Rules, findings: &mut Findings<'_>) {
    let (has_ipv4, has_ipv6) = (nets.iter().any(is_ipv4), nets.iter().any(|net| !is_ipv4(net)));
    let detail = match (has_ipv4, has_ipv6) {
        (true, false) => "dual-stack IPv4/IPv6 requires an IPv6 network in this list",
        (false, true) => "dual-stack IPv4/IPv6 requires an IPv4 network in this list",
        (true, true) if !rules.ipv6_may_be_first && !is_ipv4(&nets[0]) => {
            "IPv4 addresses must be listed before IPv6 addresses"
        }
        _ => return,
    };
    findings.error(Violation::invalid(format!("networking.{name}"), list(nets), detail));
}

/// Ours: openshift-install does not look whether machines and pods have the one family that services have; such a
/// cluster never starts.
fn one_family(draft: &Draft<'_>, ipv6: bool, findings: &mut Findings<'_>) {
    if draft.service_networks.is_empty() {
        return;
    }
    let family = if ipv6 { "IPv6" } else { "IPv4" };
    for (name, nets) in
        [("machineNetwork", &draft.machine_networks), ("clusterNetwork", &draft.cluster_networks)]
    {
        if !nets.is_empty() && !nets.iter().any(|net| is_ipv4(net) != ipv6) {
            let detail = format!("the service network is {family}: this list needs an {family} network too");
            findings.error(Violation::invalid(format!("networking.{name}"), list(nets), detail));
        }
    }
}

fn is_ipv4(net: &Net) -> bool {
    net.cidr.addr().is_ipv4()
}

fn list(nets: &[Net]) -> String {
    nets.iter().map(|net| net.cidr.to_string()).collect::<Vec<_>>().join(", ")
}
