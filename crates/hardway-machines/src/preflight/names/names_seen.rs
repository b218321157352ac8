//! Every name a cluster needs, as asked of the name servers that its hosts will use.

use std::net::IpAddr;
use std::thread;

use hardway_assets::Cluster;
use hardway_assets::host_services::{Name, Names};
use hardway_assets::release_payload::{ReleaseWord, SAMPLE};

use super::message::Question;
use super::server_seen::ServerSeen;
use crate::preflight::scene::Scene;

/// What was asked, and what was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::preflight) struct NamesSeen {
    pub(super) wanted: WantedNames,
    pub(super) servers: Vec<ServerSeen>,
}

/// What should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WantedNames {
    pub(super) names: Names,
    /// Some name below the wildcard.
    pub(super) route: Name,
    /// Names of hosts, as opposed to those of the API.
    pub(super) hosts: Vec<String>,
    /// Names that nobody has, each below a domain that resolvers append.
    pub(super) nobody: Vec<Nobody>,
    /// Names that are not the cluster's: the registries.
    pub(super) outside: Vec<String>,
}

/// A name that must not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Nobody {
    pub(super) name: String,
    pub(super) below: String,
    /// Whether nodes are sure to append the domain.
    pub(super) is_searched: bool,
}

impl NamesSeen {
    pub(in crate::preflight) fn of(scene: &Scene<'_>) -> Self {
        let cluster = scene.site.cluster;
        let wanted = WantedNames::of(cluster, &search_domains());
        let questions = wanted.questions();
        let ask = |address: &IpAddr| ServerSeen::ask(*address, &questions, scene.site.patience.answer);
        let servers = thread::scope(|scope| {
            let asked: Vec<_> =
                cluster.inventory.network.dns.iter().map(|server| scope.spawn(move || ask(server))).collect();
            asked.into_iter().filter_map(|server| server.join().ok()).collect()
        });
        Self { wanted, servers }
    }

    /// Servers that can be judged.
    pub(super) fn talking(&self) -> impl Iterator<Item = &ServerSeen> {
        self.servers.iter().filter(|server| server.answers_at_all())
    }
}

impl WantedNames {
    pub(super) fn of(cluster: &Cluster, searched: &[String]) -> Self {
        let names = Names::of(cluster);
        let route = Name { name: format!("hardway-check.{}", names.wildcard.name), ..names.wildcard.clone() };
        let mut nobody: Vec<Nobody> = Vec::new();
        let domain = cluster.domain();
        let base = cluster.config.base_domain.clone();
        let of_host = searched.iter().map(|domain| (domain.clone(), true));
        for (below, is_searched) in [(domain, true)].into_iter().chain(of_host).chain([(base, false)]) {
            if !nobody.iter().any(|other| other.below == below) {
                nobody.push(Nobody { name: format!("hardway-check-nobody.{below}"), below, is_searched });
            }
        }
        let hosts = cluster.inventory.hosts.iter().map(|host| cluster.node_name(host)).collect();
        Self { names, route, hosts, nobody, outside: registries(cluster) }
    }

    fn questions(&self) -> Vec<Question> {
        let mut questions = Vec::new();
        let families: [IpAddr; 2] = [[0, 0, 0, 0].into(), [0u16; 8].into()];
        for name in self.names.names.iter().chain([&self.route]) {
            questions.extend(name.addresses.iter().map(|address| Question::address(&name.name, *address)));
        }
        for name in self.names.names.iter().filter(|name| name.is_reverse) {
            questions.extend(name.addresses.iter().map(|address| Question::reverse(*address)));
        }
        let strangers = self.nobody.iter().map(|nobody| &nobody.name).chain(&self.outside);
        questions.extend(strangers.flat_map(|name| families.map(|family| Question::address(name, family))));
        questions.sort();
        questions.dedup();
        questions
    }
}

/// Hosts of the release image and of its mirrors that are names. Through a proxy nobody needs their addresses.
fn registries(cluster: &Cluster) -> Vec<String> {
    let config = &cluster.config;
    if config.proxy.is_some() || cluster.inventory.release.image == SAMPLE {
        return Vec::new();
    }
    let sources = config.image_digest_sources.iter().chain(&config.image_content_sources);
    let mirrors = sources.flat_map(|source| &source.mirrors);
    let mut hosts: Vec<String> = [&cluster.inventory.release.image]
        .into_iter()
        .chain(mirrors)
        .filter(|image| ReleaseWord::read(image).is_none())
        .filter_map(|image| host(image))
        .collect();
    hosts.sort();
    hosts.dedup();
    hosts
}

/// The host of a pull spec, if it is a name that a name server can know.
fn host(image: &str) -> Option<String> {
    let host = image.split('/').next()?.split(':').next()?;
    let is_name = host.contains('.') && host.parse::<IpAddr>().is_err();
    is_name.then(|| host.to_owned())
}

/// Domains that this host appends; machines that get their resolver from the same place append them too.
fn search_domains() -> Vec<String> {
    let text = fs_err::read_to_string("/etc/resolv.conf").unwrap_or_default();
    searched_in(&text)
}

/// The last such line counts (resolv.conf(5)).
pub(super) fn searched_in(text: &str) -> Vec<String> {
    let mut lines = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        matches!(words.next(), Some("search" | "domain")).then(|| words.collect::<Vec<_>>())
    });
    let domains = lines.next_back().unwrap_or_default();
    domains
        .iter()
        .map(|domain| domain.trim_end_matches('.').to_owned())
        .filter(|domain| !domain.is_empty())
        .collect()
}
