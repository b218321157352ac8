//! What can be known of machines that are there, and of this host beside them.

mod bmc;

pub(super) use bmc::bmc;

use std::net::IpAddr;
use std::path::Path;

use hardway_assets::inventory::Balancer;
use hardway_base::Judged;

use crate::check::CheckedSite;

/// The balancer's addresses, where HAProxy is to run on this host.
pub(super) fn virtual_addresses(site: &CheckedSite<'_>) -> Judged {
    let network = &site.cluster.inventory.network;
    if network.load_balancer != Balancer::Haproxy {
        return Judged::not_applicable("the load balancer is external");
    }
    let balancers = &site.cluster.inventory.machines.settings["balancers"];
    if let Some(hosts) = balancers.as_object().filter(|hosts| !hosts.is_empty()) {
        let names: Vec<&str> = hosts.keys().map(String::as_str).collect();
        return Judged::passed(format!("build-infra gives them to {}", names.join(", ")));
    }
    let all = network.api_vip.iter().chain(&network.ingress_vip).copied();
    let missing: Vec<IpAddr> = all.filter(|address| !site.owns(&[*address])).collect();
    let card = site.setting("interface").map(|card| (card, Path::new("/sys/class/net").join(card).exists()));
    judge_addresses(&missing, card)
}

/// HAProxy cannot bind an address that this host does not have.
fn judge_addresses(missing: &[IpAddr], card: Option<(&str, bool)>) -> Judged {
    let shown = missing.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match card {
        _ if missing.is_empty() => Judged::passed("this host has them"),
        Some((card, true)) => Judged::passed(format!("build-infra adds {shown} to {card}")),
        Some((card, false)) => Judged::refused(
            format!("{shown} belongs on {card}, but this host has no such interface"),
            "correct machines.bare-metal.interface; `ip link` lists the interfaces of this host",
        ),
        None => Judged::refused(
            match missing {
                [_] => format!("{shown} is not an address of this host, where HAProxy has to listen on it"),
                _ => format!("{shown} are not addresses of this host, where HAProxy has to listen on them"),
            },
            "set machines.bare-metal.interface to the interface that gets them, or set network.loadBalancer to external",
        ),
    }
}

#[cfg(test)]
mod tests {
    use hardway_base::Verdict;

    use super::*;

    #[test]
    fn an_address_that_nobody_can_bind_is_named() {
        let missing: [IpAddr; 1] = [[192, 168, 126, 10].into()];
        assert_eq!(judge_addresses(&[], None).verdict, Verdict::Passed);
        assert_eq!(judge_addresses(&missing, Some(("eno1", true))).verdict, Verdict::Passed);
        let without = judge_addresses(&missing, None);
        assert_eq!(without.verdict, Verdict::Failed);
        assert!(without.seen[0].starts_with("192.168.126.10 is not an address of this host"), "{without:?}");
        let wrong = judge_addresses(&missing, Some(("eno9", false)));
        assert_eq!(wrong.seen, ["192.168.126.10 belongs on eno9, but this host has no such interface"]);
    }
}
