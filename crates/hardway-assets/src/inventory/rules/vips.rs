//! The two virtual addresses: on the machine network, and nobody else's.

use super::super::draft::{Address, Draft};
use super::super::{Balancer, Role};
use super::addresses::{inside, invalid, machine_networks, no_empty_list, one_a_family, ordinary};
use crate::install_config::InstallConfig;
use crate::schema::Findings;

pub(super) fn check(draft: &Draft<'_>, config: Option<&InstallConfig>, findings: &mut Findings<'_>) {
    for (path, list) in [("network.apiVIP", &draft.api_vip), ("network.ingressVIP", &draft.ingress_vip)] {
        one_a_family(path, list, findings);
        no_empty_list(draft, path, list, findings);
        for vip in list {
            ordinary(vip, findings);
            if draft.gateway.iter().any(|gateway| gateway.ip == vip.ip) {
                findings.error(invalid(vip, "is the gateway's address"));
            }
            taken(draft, vip, path == "network.apiVIP", findings);
            // An external load balancer may stand anywhere.
            if let Some(config) = config.filter(|_| draft.load_balancer != Some(Balancer::External)) {
                inside(vip, &machine_networks(config), findings);
            }
        }
    }
    if draft.load_balancer != Some(Balancer::External) && !is_single_node(draft) {
        for vip in &draft.api_vip {
            if draft.ingress_vip.iter().any(|ingress| ingress.ip == vip.ip) {
                findings.error(
                    invalid(vip, "VIP for API must not be one of the Ingress VIPs")
                        .fix("give each its own address, or set network.loadBalancer: external"),
                );
            }
        }
    }
}

/// A host's address can be the VIP only where that host is all there is: the one node of a cluster. While a bootstrap
/// host still answers for the API, not even then.
fn taken(draft: &Draft<'_>, vip: &Address, is_api: bool, findings: &mut Findings<'_>) {
    for host in draft.hosts.iter().filter(|host| host.ip.iter().any(|address| address.ip == vip.ip)) {
        let alone = is_single_node(draft)
            && host.role == Role::Master.name()
            && !(is_api && draft.with_role(Role::Bootstrap).next().is_some());
        if !alone {
            findings.error(invalid(vip, &format!("is the address of host {:?}", host.name)));
        }
    }
}

fn is_single_node(draft: &Draft<'_>) -> bool {
    draft.with_role(Role::Master).count() == 1 && draft.with_role(Role::Worker).next().is_none()
}
