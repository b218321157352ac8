//! What providers are told about hosted workers: a cluster without a control plane.

use std::net::IpAddr;

use jiff::Timestamp;

use super::HostedInventory;
use crate::Cluster;
use crate::day_two_settings::DayTwoSettings;
use crate::install_config::{InstallConfig, Rules, examine};
use crate::inventory::{
    Balancer, HostedPlaces, IgnitionServer, Inventory, KeyAlgorithm, Network, Options, Pki, Release,
};
use crate::node_name::is_label;
use crate::release_payload::{SAMPLE, SAMPLE_VERSION};
use crate::secrets::{SecretBundle, SecretsError};

/// Names of machines in their own network end with it. Nobody outside looks for one.
const DOMAIN: &str = "hosted.internal";

impl HostedInventory {
    /// As providers know it. What things are named after was drawn once, or is drawn into the secrets. Nothing is computed from it but
    /// machines: [`Inventory::is_hosted`] keeps names, load balancers and the API out of what providers plan.
    ///
    /// # Errors
    /// When what was drawn cannot be read.
    pub fn cluster(&self, secrets: &mut SecretBundle, now: Timestamp) -> Result<Cluster, SecretsError> {
        Cluster::of(self.config(), self.inventory(), secrets, now)
    }

    /// The path in this file of what a provider says about `hosts[i]`.
    pub fn place(&self, path: &str) -> String {
        let of_host = || {
            let (index, rest) = path.strip_prefix("hosts[")?.split_once(']')?;
            let host = self.hosts().nth(index.parse().ok()?)?;
            let rest = match host.path.contains(".hosts[") {
                true => rest,
                // Of a range, names and addresses are said otherwise.
                false => match rest {
                    ".name" => ".names",
                    ".ip" => ".addresses",
                    ".mac" => ".macPrefix",
                    rest => rest,
                },
            };
            Some(format!("{}{rest}", host.path))
        };
        of_host().unwrap_or_else(|| path.to_owned())
    }

    fn inventory(&self) -> Inventory {
        let is_v6_first = self.is_v6_first();
        let zones = self.hosts().filter_map(|one| Some((one.host.name.clone(), one.zone.clone()?)));
        let hosts = self.hosts().map(|one| {
            let mut host = one.host.clone();
            host.ip.sort_by_key(|ip| ip.is_ipv6() != is_v6_first);
            host
        });
        Inventory {
            release: Release { image: SAMPLE.to_owned(), graph: None, repository: None },
            machines: self.machines.clone(),
            network: Network {
                gateway: self.network.gateway.clone(),
                dns: self.network.dns.clone(),
                api_vip: Vec::new(),
                ingress_vip: Vec::new(),
                load_balancer: Balancer::External,
            },
            ignition_server: IgnitionServer { url: None },
            pki: Pki { key_algorithm: KeyAlgorithm::Rsa2048, short_lived_hours: 24 },
            options: Options::default(),
            hosts: hosts.collect(),
            day_two: DayTwoSettings::default(),
            hosted: Some(HostedPlaces { zones: zones.collect() }),
        }
    }

    /// Of its fields, providers look at the name, the machine networks and the architecture; the pods' networks are the hosted
    /// clusters' own, and whether these overlap with them is not looked at.
    fn config(&self) -> InstallConfig {
        let nets = self.network.machine_network.iter().map(|net| format!("{{cidr: '{net}'}}"));
        let nets = nets.collect::<Vec<_>>().join(", ");
        let (pods, services) = match self.is_v6_first() {
            true => ("{cidr: 'fd01::/48', hostPrefix: 64}", "fd02::/112"),
            false => ("{cidr: 10.132.0.0/14, hostPrefix: 23}", "172.31.0.0/16"),
        };
        // A file with mistakes is looked at too: what is wrong with these has been said.
        let name = if is_label(&self.name) { &self.name } else { "site" };
        let architecture = if self.architecture == "arm64" { "arm64" } else { "amd64" };
        let text = format!(
            "apiVersion: v1
baseDomain: {DOMAIN}
metadata: {{name: '{name}'}}
networking:
  networkType: OVNKubernetes
  machineNetwork: [{nets}]
  clusterNetwork: [{pods}]
  serviceNetwork: ['{services}']
platform: {{none: {{}}}}
controlPlane: {{name: master, replicas: 3, architecture: {architecture}}}
compute: [{{name: worker, replicas: 1, architecture: {architecture}}}]
pullSecret: '{{\"auths\":{{\"registry.example.com\":{{\"auth\":\"bm9ib2R5Om5vdGhpbmc=\"}}}}}}'
"
        );
        examine(&text, Rules::for_version(SAMPLE_VERSION), &|_| false)
            .config
            .expect("nothing but a name, networks and an architecture differs, and these were read before")
    }

    fn is_v6_first(&self) -> bool {
        let first = self.hosts().find_map(|one| one.host.ip.first());
        first.is_some_and(IpAddr::is_ipv6)
    }
}
