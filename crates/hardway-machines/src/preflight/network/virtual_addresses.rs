//! The balancer's addresses, where HAProxy is to run on this host.

use std::net::IpAddr;
use std::path::Path;

use crate::preflight::check_result::Judged;
use crate::preflight::scene::Scene;

pub(in crate::preflight) fn virtual_addresses(scene: &Scene<'_>) -> Judged {
    let network = &scene.site.cluster.inventory.network;
    if network.load_balancer != "haproxy" {
        return Judged::not_applicable("the load balancer is somebody else's");
    }
    let all = network.api_vip.iter().chain(&network.ingress_vip).copied();
    let missing: Vec<IpAddr> = all.filter(|address| !scene.owns(&[*address])).collect();
    let card = scene.setting("interface").map(|card| (card, Path::new("/sys/class/net").join(card).exists()));
    judge(&missing, card)
}

/// HAProxy cannot bind an address that this host does not have.
fn judge(missing: &[IpAddr], card: Option<(&str, bool)>) -> Judged {
    let shown = missing.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match card {
        _ if missing.is_empty() => Judged::passed("this host has them"),
        Some((card, true)) => Judged::passed(format!("build-infra puts {shown} on {card}")),
        Some((card, false)) => Judged::refused(
            format!("{shown} shall be put on {card}, and this host has no such card"),
            "correct machines.bare-metal.interface; `ip link` lists the cards of this host",
        ),
        None => Judged::refused(
            match missing {
                [_] => format!("{shown} is not an address of this host, where HAProxy shall listen at it"),
                _ => format!("{shown} are not addresses of this host, where HAProxy shall listen at them"),
            },
            "name the card that gets them as machines.bare-metal.interface, or set network.loadBalancer to external",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preflight::Verdict;

    #[test]
    fn an_address_that_nobody_can_bind_is_named() {
        let missing: [IpAddr; 1] = [[192, 168, 126, 10].into()];
        assert_eq!(judge(&[], None).verdict, Verdict::Passed);
        assert_eq!(judge(&missing, Some(("eno1", true))).verdict, Verdict::Passed);
        let without = judge(&missing, None);
        assert_eq!(without.verdict, Verdict::Failed);
        assert!(without.seen[0].starts_with("192.168.126.10 is not an address of this host"), "{without:?}");
        let wrong = judge(&missing, Some(("eno9", false)));
        assert_eq!(wrong.seen, ["192.168.126.10 shall be put on eno9, and this host has no such card"]);
    }
}
