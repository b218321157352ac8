//! The machine network must be nobody else's on this host.

use ipnet::IpNet;

use super::route::Route;
use crate::preflight::check_result::Judged;
use crate::preflight::scene::Scene;
use crate::providers::Ground;

pub(in crate::preflight) fn subnet(scene: &Scene<'_>) -> Judged {
    let cluster = scene.site.cluster;
    if scene.ground() == Ground::Elsewhere {
        return Judged::not_applicable("the machines are on another host");
    }
    if scene.owns(&cluster.inventory.network.gateway) {
        return Judged::passed("this host is the gateway already: build-infra made the network before");
    }
    let networks: Vec<IpNet> =
        cluster.config.networking.machine_network.iter().map(|network| network.cidr).collect();
    judge(&networks, &Route::all())
}

fn judge(networks: &[IpNet], routes: &[Route]) -> Judged {
    let mut wrong = Vec::new();
    for network in networks {
        for route in routes.iter().filter(|route| route.overlaps(network)) {
            wrong.push(format!("{network} overlaps {} of interface {}", route.network, route.interface));
        }
    }
    let shown: Vec<String> = networks.iter().map(ToString::to_string).collect();
    let fix = "choose another machineNetwork in install-config.yaml, and addresses in it in inventory.yaml";
    Judged::of(wrong, Vec::new(), fix, format!("no route of this host overlaps {}", shown.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preflight::PreflightVerdict;

    #[test]
    fn the_other_network_is_named() {
        let networks = ["192.168.126.0/24".parse().unwrap()];
        let route = |network: &str| Route {
            network: network.parse().unwrap(),
            interface: "virbr7".to_owned(),
            is_direct: true,
        };
        assert_eq!(judge(&networks, &[route("10.0.0.0/8")]).verdict, PreflightVerdict::Passed);
        let other = judge(&networks, &[route("192.168.126.128/25"), route("10.0.0.0/8")]);
        assert_eq!(other.seen, ["192.168.126.0/24 overlaps 192.168.126.128/25 of interface virbr7"]);
        assert_eq!(other.verdict, PreflightVerdict::Failed);
    }
}
