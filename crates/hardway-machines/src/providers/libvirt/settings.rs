//! `machines.libvirt` of the inventory.

use std::net::IpAddr;

use hardway_assets::Cluster;
use hardway_assets::inventory::{Provider, Role};
use hardway_assets::violation::Violation;
use hardway_base::redaction::HIDDEN;

use super::uri::LibvirtUri;
use crate::providers::fields::{Fields, SettingsFindings};

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
    /// The servers that the network's name server forwards other names to; where there are none, the host's own.
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

/// The kernel refuses longer interface names (IFNAMSIZ, which includes the terminating byte).
const LONGEST_BRIDGE: usize = 15;

impl Settings {
    /// Of a cluster.
    ///
    /// # Errors
    /// Every mistake, with the path of its field.
    pub fn of(cluster: &Cluster) -> Result<Self, Vec<Violation>> {
        let findings = SettingsFindings::default();
        let settings = Self::look(cluster, &findings);
        findings.or(settings)
    }

    pub(in crate::providers) fn look(cluster: &Cluster, findings: &SettingsFindings) -> Self {
        let fields = Fields::of(Provider::Libvirt, &cluster.inventory.machines.settings, findings);
        let text = |name: &str| fields.text(name).map(str::to_owned);
        let network = text("network").unwrap_or_else(|| cluster.config.metadata.name.clone());
        let pool = fields.text_or_default("pool").to_owned();
        let folder = if pool == "default" { String::new() } else { format!("/{pool}") };
        let settings = Self {
            uri: uri(&fields),
            pool_path: text("poolPath").unwrap_or_else(|| format!("/var/lib/libvirt/images{folder}")),
            bridge: text("bridge").unwrap_or_else(|| format!("virbr-{network}")),
            accelerator: match fields.word("accelerator") {
                "kvm" => Accelerator::Kvm,
                "tcg" => Accelerator::Tcg,
                _ => Accelerator::Auto,
            },
            haproxy: match fields.word("haproxy") {
                "systemd" => HaproxyBy::Systemd,
                "podman" => HaproxyBy::Podman,
                "daemon" => HaproxyBy::Daemon,
                _ => HaproxyBy::Auto,
            },
            haproxy_image: text("haproxyImage"),
            upstream_dns: fields.addresses("upstreamDNS"),
            resolver: match fields.word("resolver") {
                "systemd-resolved" => ResolverChoice::SystemdResolved,
                "network-manager" => ResolverChoice::NetworkManager,
                "none" => ResolverChoice::None,
                _ => ResolverChoice::Auto,
            },
            network,
            pool,
        };
        settings.check(&fields, findings);
        check_cluster(cluster, findings);
        settings
    }

    fn check(&self, fields: &Fields<'_>, findings: &SettingsFindings) {
        for (field, name) in [("network", &self.network), ("pool", &self.pool), ("bridge", &self.bridge)] {
            if !is_name(name) {
                let detail = "must consist of letters, digits, dots, dashes and underscores, and begin with a letter or digit";
                fields.wrong(field, name, detail);
            }
        }
        if self.bridge.len() > LONGEST_BRIDGE {
            let detail = format!("the name of an interface has at most {LONGEST_BRIDGE} characters");
            // A name derived from the network's is no mistake in a field that was left out.
            let field = if fields.has("bridge") { "bridge" } else { "network" };
            let violation = Violation::invalid(fields.path(field), &self.bridge, detail);
            findings.add(violation.fix("give the bridge a short name: machines.libvirt.bridge: virbr-ocp4"));
        }
        if !self.pool_path.starts_with('/') {
            fields.wrong("poolPath", &self.pool_path, "must be an absolute path");
        } else if self.pool_path.starts_with("/root/") || self.pool_path == "/root" {
            let detail = "QEMU runs as its own user, which cannot enter /root";
            let violation = Violation::invalid(fields.path("poolPath"), &self.pool_path, detail);
            findings.add(violation.fix("choose a folder below /var/lib/libvirt/images"));
        }
        if self.haproxy == HaproxyBy::Podman && self.haproxy_image.is_none() {
            let detail = "podman needs the pull spec of an image with haproxy in it";
            findings.add(Violation::required(fields.path("haproxyImage"), detail));
        }
    }
}

/// What libvirt cannot make machines of, whatever its settings are.
fn check_cluster(cluster: &Cluster, findings: &SettingsFindings) {
    let inventory = &cluster.inventory;
    for (index, gateway) in inventory.network.gateway.iter().enumerate() {
        if cluster.machine_network_of(*gateway).is_none() {
            let detail =
                "libvirt's bridge has this address: it must be in a network of networking.machineNetwork";
            findings.add(Violation::invalid(
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
            findings.add(Violation::invalid(format!("hosts[{index}].installDisk"), disk, detail));
        }
    }
    for architecture in architectures(cluster) {
        if !["amd64", "arm64"].contains(&architecture) {
            let detail = format!("hardway does not support libvirt machines of architecture {architecture}");
            findings.add(Violation::invalid("machines.provider", "libvirt", detail));
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

fn uri(fields: &Fields<'_>) -> LibvirtUri {
    let given = fields.text_or_default("uri");
    LibvirtUri::read(given).unwrap_or_else(|error| {
        // A password that somebody put there must not be shown.
        let has_login = given.split_once('@').is_some_and(|(before, _)| before.matches(':').count() > 1);
        fields.wrong("uri", if has_login { HIDDEN } else { given }, &error.to_string());
        LibvirtUri { text: given.to_owned(), ssh: None }
    })
}

/// One address may stand without a list around it.
fn item<T>(field: &str, list: &[T], index: usize) -> String {
    if list.len() == 1 { field.to_owned() } else { format!("{field}[{index}]") }
}

/// What libvirt, the kernel, systemd and nftables all take.
fn is_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric();
    name.starts_with(is_letter) && name.chars().all(|c| is_letter(c) || "._-".contains(c))
}
