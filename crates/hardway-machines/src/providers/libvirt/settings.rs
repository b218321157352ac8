//! `machines.libvirt` of the inventory.

use std::net::IpAddr;

use hardway_assets::Cluster;
use hardway_assets::inventory::Role;
use hardway_assets::violation::Violation;
use serde_json::Value;

use super::uri::LibvirtUri;

/// The settings, whole and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where libvirt is.
    pub(super) uri: LibvirtUri,
    /// The storage pool; made if there is none of that name.
    pub pool: String,
    /// Where a pool that is made keeps its files.
    pub pool_path: String,
    /// The libvirt network.
    pub network: String,
    /// Its bridge on the host.
    pub bridge: String,
    /// What runs the machines' processors.
    pub accelerator: Accelerator,
    /// What runs HAProxy.
    pub haproxy: HaproxyBy,
    /// The image, where podman runs it.
    pub haproxy_image: Option<String>,
    /// Whom the network's name server asks about other names; none: whom the host asks.
    pub upstream_dns: Vec<IpAddr>,
    /// How the host itself gets to know the cluster's names.
    pub resolver: ResolverChoice,
}

/// `machines.libvirt.accelerator`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accelerator {
    /// KVM where libvirt offers it.
    Auto,
    /// The processor itself.
    Kvm,
    /// QEMU's own emulation: slow, and works everywhere.
    Tcg,
}

/// `machines.libvirt.haproxy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HaproxyBy {
    /// A systemd unit where there is systemd, else a process of its own.
    Auto,
    /// A systemd unit.
    Systemd,
    /// A container.
    Podman,
    /// A process of its own; gone when the host restarts.
    Daemon,
}

/// `machines.libvirt.resolver`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResolverChoice {
    /// Whichever the host has.
    Auto,
    /// systemd-resolved.
    SystemdResolved,
    /// NetworkManager's dnsmasq.
    NetworkManager,
    /// The host's resolver is left alone.
    None,
}

/// Longer names of interfaces are refused by the kernel (IFNAMSIZ with its last byte).
const LONGEST_BRIDGE: usize = 15;

impl Settings {
    /// Of a cluster.
    ///
    /// # Errors
    /// Every mistake, with the path of its field.
    pub fn of(cluster: &Cluster) -> Result<Self, Vec<Violation>> {
        let given = &cluster.inventory.machines.settings;
        let mut wrong = Vec::new();
        let network = text(given, "network").unwrap_or(&cluster.config.metadata.name).to_owned();
        let pool = text(given, "pool").unwrap_or("default").to_owned();
        let folder = if pool == "default" { String::new() } else { format!("/{pool}") };
        let settings = Self {
            uri: uri(given, &mut wrong),
            pool_path: text(given, "poolPath")
                .map_or_else(|| format!("/var/lib/libvirt/images{folder}"), str::to_owned),
            bridge: text(given, "bridge").map_or_else(|| format!("virbr-{network}"), str::to_owned),
            accelerator: match text(given, "accelerator") {
                Some("kvm") => Accelerator::Kvm,
                Some("tcg") => Accelerator::Tcg,
                _ => Accelerator::Auto,
            },
            haproxy: match text(given, "haproxy") {
                Some("systemd") => HaproxyBy::Systemd,
                Some("podman") => HaproxyBy::Podman,
                Some("daemon") => HaproxyBy::Daemon,
                _ => HaproxyBy::Auto,
            },
            haproxy_image: text(given, "haproxyImage").map(str::to_owned),
            upstream_dns: addresses(&given["upstreamDNS"]),
            resolver: match text(given, "resolver") {
                Some("systemd-resolved") => ResolverChoice::SystemdResolved,
                Some("network-manager") => ResolverChoice::NetworkManager,
                Some("none") => ResolverChoice::None,
                _ => ResolverChoice::Auto,
            },
            network,
            pool,
        };
        settings.check(given, &mut wrong);
        check_cluster(cluster, &mut wrong);
        if wrong.is_empty() { Ok(settings) } else { Err(wrong) }
    }

    fn check(&self, given: &Value, wrong: &mut Vec<Violation>) {
        for (field, name) in [("network", &self.network), ("pool", &self.pool), ("bridge", &self.bridge)] {
            if !is_name(name) {
                let detail = "letters, digits, dots, dashes and underscores, the first a letter or digit";
                wrong.push(Violation::invalid(path(field), name, detail));
            }
        }
        if self.bridge.len() > LONGEST_BRIDGE {
            let detail = format!("the name of an interface has at most {LONGEST_BRIDGE} characters");
            // A name that was made from the network's is no mistake in a field that is not there.
            let field = if text(given, "bridge").is_some() { "bridge" } else { "network" };
            wrong.push(
                Violation::invalid(path(field), &self.bridge, detail)
                    .fix("give the bridge a short name: machines.libvirt.bridge: virbr-ocp4"),
            );
        }
        if !self.pool_path.starts_with('/') {
            wrong.push(Violation::invalid(path("poolPath"), &self.pool_path, "must be an absolute path"));
        } else if self.pool_path.starts_with("/root/") || self.pool_path == "/root" {
            let detail = "QEMU runs as a user of its own and may not enter /root";
            let violation = Violation::invalid(path("poolPath"), &self.pool_path, detail);
            wrong.push(violation.fix("choose a folder below /var/lib/libvirt/images"));
        }
        if self.haproxy == HaproxyBy::Podman && self.haproxy_image.is_none() {
            let detail = "podman needs the pull spec of an image with haproxy in it";
            wrong.push(Violation::required(path("haproxyImage"), detail));
        }
    }
}

/// What libvirt cannot make machines of, whatever its settings are.
fn check_cluster(cluster: &Cluster, wrong: &mut Vec<Violation>) {
    let inventory = &cluster.inventory;
    for (index, gateway) in inventory.network.gateway.iter().enumerate() {
        if cluster.machine_network_of(*gateway).is_none() {
            let detail =
                "libvirt's bridge has this address: it must be in a network of networking.machineNetwork";
            wrong.push(Violation::invalid(
                item("network.gateway", &inventory.network.gateway, index),
                gateway.to_string(),
                detail,
            ));
        }
    }
    for (index, host) in inventory.hosts.iter().enumerate() {
        let is_other = |disk: &String| {
            ["/dev/sd", "/dev/hd", "/dev/nvme", "/dev/xvd"].iter().any(|start| disk.starts_with(start))
        };
        if let Some(disk) = host.install_disk.as_ref().filter(|disk| is_other(disk)) {
            let detail = "the disk of a libvirt machine is /dev/vda";
            wrong.push(Violation::invalid(format!("hosts[{index}].installDisk"), disk, detail));
        }
    }
    for architecture in architectures(cluster) {
        if !["amd64", "arm64"].contains(&architecture) {
            let detail = format!("libvirt machines of architecture {architecture} are not known to hardway");
            wrong.push(Violation::invalid("machines.provider", "libvirt", detail));
        }
    }
}

fn architectures(cluster: &Cluster) -> Vec<&str> {
    let workers = cluster.inventory.with_role(Role::Worker).next().is_some();
    let compute = cluster.config.compute.iter().filter(|_| workers);
    let all = std::iter::once(&cluster.config.control_plane).chain(compute);
    let mut found: Vec<&str> = all.map(|pool| pool.architecture.as_str()).collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn uri(given: &Value, wrong: &mut Vec<Violation>) -> LibvirtUri {
    let given = text(given, "uri").unwrap_or("qemu:///system");
    LibvirtUri::read(given).unwrap_or_else(|detail| {
        wrong.push(Violation::invalid(path("uri"), given, detail));
        LibvirtUri { text: given.to_owned(), ssh: None }
    })
}

fn path(field: &str) -> String {
    format!("machines.libvirt.{field}")
}

/// One address may stand without a list around it.
fn item<T>(field: &str, list: &[T], index: usize) -> String {
    if list.len() == 1 { field.to_owned() } else { format!("{field}[{index}]") }
}

fn text<'v>(given: &'v Value, field: &str) -> Option<&'v str> {
    given[field].as_str().filter(|text| !text.is_empty())
}

fn addresses(given: &Value) -> Vec<IpAddr> {
    let one = |value: &Value| value.as_str().and_then(|text| text.parse().ok());
    match given {
        Value::Array(values) => values.iter().filter_map(one).collect(),
        value => one(value).into_iter().collect(),
    }
}

/// What libvirt, the kernel, systemd and nftables all take.
fn is_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric();
    name.starts_with(is_letter) && name.chars().all(|c| is_letter(c) || "._-".contains(c))
}
