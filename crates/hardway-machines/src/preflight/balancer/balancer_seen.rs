//! All ports of the load balancer, each asked while stand-ins answer for members.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use hardway_assets::Cluster;
use hardway_assets::host_services::{BalancedPort, InstallStage};
use hardway_assets::inventory::Balancer;

use super::backend::Backend;
use super::backend::BackendIdentity;
use crate::check::Reachability;
use crate::preflight::scene::Scene;
use crate::providers::Ground;

/// Everything about the balancer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::preflight) struct BalancerSeen {
    pub(super) ports: Vec<PortSeen>,
    pub(super) bringer: Bringer,
}

/// Who brings the balancer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bringer {
    /// build-infra, wherever that is.
    Hardway,
    /// build-infra, on this host.
    HardwayHere,
    /// It must be there already.
    SomebodyElse,
}

/// One port at one address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PortSeen {
    /// As in [`BalancedPort`].
    pub(super) name: &'static str,
    pub(super) at: SocketAddr,
    /// Whether the balancer's address is one of this host.
    pub(super) is_here: bool,
    /// A host that has the balancer's address itself: then there is no balancer.
    pub(super) is_of_host: Option<String>,
    /// Members for which a stand-in answered, with their addresses.
    pub(super) stand_ins: Vec<(String, IpAddr)>,
    pub(super) members: usize,
    pub(super) reached: Reachability,
    /// Whether the answer was a stand-in's.
    pub(super) has_our_words: bool,
    /// Whether the certificate was a stand-in's; nothing where there was none.
    pub(super) has_our_certificate: Option<bool>,
    /// Names of which a member of a cluster that runs shows at least one.
    pub(super) names: Vec<String>,
}

const AGAIN: Duration = Duration::from_millis(250);

impl BalancerSeen {
    /// Starts stand-ins, asks all ports at once, and stops the stand-ins again.
    pub(in crate::preflight) fn of(scene: &Scene<'_>) -> Self {
        let cluster = scene.site.cluster;
        let bringer = Bringer::of(scene);
        let balanced = BalancedPort::all(cluster, InstallStage::Bootstrapping);
        let identity = BackendIdentity::new(scene.site.now).ok().map(Arc::new);
        let (backends, standing) = match &identity {
            Some(identity) => stand_in(scene, &balanced, identity),
            None => (Vec::new(), Vec::new()),
        };
        let look = |service: &BalancedPort, address: IpAddr| {
            let mut seen = PortSeen::before(scene, service, address, &standing);
            if seen.is_here || bringer != Bringer::HardwayHere {
                seen.look(scene, identity.as_deref());
            }
            seen
        };
        let ports = thread::scope(|scope| {
            let looking: Vec<_> = balanced
                .iter()
                .flat_map(|service| service.addresses.iter().map(move |address| (service, *address)))
                .map(|(service, address)| scope.spawn(move || look(service, address)))
                .collect();
            looking.into_iter().filter_map(|port| port.join().ok()).collect()
        });
        drop(backends);
        Self { ports, bringer }
    }
}

impl Bringer {
    fn of(scene: &Scene<'_>) -> Self {
        let is_haproxy = scene.site.cluster.inventory.network.load_balancer == Balancer::Haproxy;
        match scene.ground() {
            Ground::Namespace => Self::HardwayHere,
            _ if !is_haproxy => Self::SomebodyElse,
            Ground::Here => Self::HardwayHere,
            Ground::Elsewhere => Self::Hardway,
        }
    }
}

/// A member's address and port at which a stand-in listens.
type Standing = (IpAddr, u16);

/// At each member's address that this host has, unless somebody listens there: then that is asked.
fn stand_in(
    scene: &Scene<'_>,
    balanced: &[BalancedPort],
    identity: &Arc<BackendIdentity>,
) -> (Vec<Backend>, Vec<Standing>) {
    let (mut backends, mut standing) = (Vec::new(), Vec::new());
    for service in balanced {
        for member in service.members.iter().filter(|member| scene.owns(&[member.address])) {
            let own = (service.port, is_tls(service));
            let health = (service.health.port, service.health.is_tls);
            for (port, is_tls) in [own, health] {
                if standing.contains(&(member.address, port)) {
                    continue;
                }
                if let Ok(backend) = Backend::start(SocketAddr::new(member.address, port), is_tls, identity) {
                    backends.push(backend);
                    standing.push((member.address, port));
                }
            }
        }
    }
    (backends, standing)
}

/// What certificates of a service are for. An API server that is asked by its address shows the certificate of its service.
fn names(cluster: &Cluster, service: &str) -> Vec<String> {
    let (domain, own) = (cluster.domain(), |name: &str| name.to_owned());
    match service {
        "api" => vec![
            cluster.api_host(),
            cluster.api_int_host(),
            format!("*.{domain}"),
            own("kubernetes.default.svc"),
        ],
        "machine-config-server" => vec![cluster.api_int_host(), format!("*.{domain}")],
        _ => vec![format!("*.apps.{domain}")],
    }
}

fn is_tls(service: &BalancedPort) -> bool {
    service.name != "ingress-http"
}

impl PortSeen {
    fn before(scene: &Scene<'_>, service: &BalancedPort, address: IpAddr, standing: &[Standing]) -> Self {
        let hosts = &scene.site.cluster.inventory.hosts;
        let members = service.members.iter();
        let stand_ins = members.filter(|member| standing.contains(&(member.address, service.port)));
        Self {
            name: service.name,
            at: SocketAddr::new(address, service.port),
            is_here: scene.owns(&[address]),
            is_of_host: hosts.iter().find(|host| host.ip.contains(&address)).map(|host| host.name.clone()),
            stand_ins: stand_ins.map(|member| (member.name.clone(), member.address)).collect(),
            members: service.members.len(),
            reached: Reachability::Silent,
            has_our_words: false,
            has_our_certificate: None,
            names: names(scene.site.cluster, service.name),
        }
    }

    /// Until a stand-in's answer comes through, or patience ends. Without stand-ins, once.
    fn look(&mut self, scene: &Scene<'_>, identity: Option<&BackendIdentity>) {
        let patience = scene.site.patience;
        let began = Instant::now();
        loop {
            self.reached = Reachability::at(self.at, "/readyz", self.name != "ingress-http", patience.answer);
            if let (Reachability::Answered { certificate, text }, Some(identity)) = (&self.reached, identity)
            {
                self.has_our_words = text.contains(&identity.words);
                self.has_our_certificate = certificate.as_ref().map(|found| *found == identity.certificate);
            }
            let is_answered = matches!(self.reached, Reachability::Answered { .. });
            if is_answered || self.stand_ins.is_empty() || began.elapsed() > patience.balancer {
                return;
            }
            thread::sleep(AGAIN);
        }
    }
}
