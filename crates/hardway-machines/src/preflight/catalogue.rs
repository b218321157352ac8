//! The checks, group by group. What each asks and why stands in `explanations/checks.md`, and only there.

use hardway_assets::inventory::Provider::{self, BareMetal, Gce, Lab, Libvirt};

use super::check_result::Group::{self, Balancer, Capacity, Certificates, Host, Names, Network, Registry};
use super::check_result::Judged;
use super::scene::Scene;
use super::{balancer, capacity, certificates, host, names, network, registry};

/// One row.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// On the command line, in output and in the explanations. Never changes.
    pub name: &'static str,
    /// What it is about.
    pub group: Group,
    /// Whose machines it is about.
    pub providers: &'static [Provider],
    pub(super) is_slow: bool,
    look: fn(&Scene<'_>) -> Judged,
}

impl Check {
    pub(super) fn look(&self, scene: &Scene<'_>) -> Judged {
        (self.look)(scene)
    }

    const fn slow(self) -> Self {
        Self { is_slow: true, ..self }
    }
}

const ALL: &[Provider] = &[BareMetal, Gce, Lab, Libvirt];
/// Those whose names can be asked for from here. On GCE, build-infra makes them, and only instances can ask.
const NAMED: &[Provider] = &[BareMetal, Lab, Libvirt];
/// Those that make machines on this host.
const LOCAL: &[Provider] = &[Lab, Libvirt];

const fn row(
    name: &'static str,
    group: Group,
    providers: &'static [Provider],
    look: fn(&Scene<'_>) -> Judged,
) -> Check {
    Check { name, group, providers, is_slow: false, look }
}

/// Every check, in the order in which they are shown.
pub const CHECKS: &[Check] = &[
    row("inventory-complete", Host, ALL, host::inventory_complete),
    row("root", Host, &[Lab], host::root),
    row("programs", Host, ALL, host::programs),
    row("container-runtime", Host, &[Lab], host::container_runtime),
    row("inotify", Host, &[Lab], host::inotify),
    row("kernel", Host, &[Lab], host::kernel),
    row("lab-files", Host, &[Lab], host::lab_files),
    row("libvirt", Host, &[Libvirt], host::libvirt),
    row("kvm", Host, &[Libvirt], host::kvm),
    row("processor", Host, &[Libvirt], host::processor),
    row("libvirt-pool", Host, &[Libvirt], host::libvirt_pool),
    row("gcloud", Host, &[Gce], host::gcloud),
    row("clock", Host, ALL, host::clock),
    row("names-server", Names, NAMED, names::server).slow(),
    row("names-records", Names, NAMED, names::records),
    row("names-apps", Names, NAMED, names::apps),
    row("names-reverse", Names, NAMED, names::reverse),
    row("names-search", Names, NAMED, names::search),
    row("names-outside", Names, NAMED, names::outside),
    row("names-host", Names, NAMED, names::host),
    row("balancer-api", Balancer, ALL, balancer::api).slow(),
    row("balancer-machine-config-server", Balancer, ALL, balancer::machine_config_server),
    row("balancer-ingress-https", Balancer, ALL, balancer::ingress_https),
    row("balancer-ingress-http", Balancer, ALL, balancer::ingress_http),
    row("ports", Network, ALL, network::ports),
    row("virtual-addresses", Network, &[BareMetal], network::virtual_addresses),
    row("subnet", Network, &[Libvirt], network::subnet),
    row("addresses", Network, &[BareMetal, Libvirt], network::addresses),
    row("bmc", Network, &[BareMetal], network::bmc),
    row("release-image", Registry, ALL, registry::release_image).slow(),
    row("mirrors", Registry, ALL, registry::mirrors),
    row("clock-skew", Registry, ALL, registry::clock_skew),
    row("memory", Capacity, LOCAL, capacity::memory),
    row("processors", Capacity, LOCAL, capacity::processors),
    row("disk-space", Capacity, LOCAL, capacity::disk_space),
    row("disk-latency", Capacity, LOCAL, capacity::disk_latency).slow(),
    row("machine-sizes", Capacity, &[BareMetal, Gce, Libvirt], capacity::machine_sizes),
    row("certificates", Certificates, ALL, certificates::certificates),
];
