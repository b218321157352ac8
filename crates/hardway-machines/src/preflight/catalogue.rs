//! The checks, each with the function that looks. Which of them are asked of whom stands in the providers' descriptors.

use std::sync::LazyLock;

use hardway_assets::inventory::Provider;
use hardway_base::Judged;

use super::scene::Scene;
use super::{balancer, capacity, certificates, host, names, network, registry};
use crate::check::{CheckName, Group, OwnLook};
use crate::providers::descriptor;

/// One check.
#[derive(Clone, Debug)]
pub struct Check {
    /// Its name.
    pub name: CheckName,
    /// What it is about.
    pub group: Group,
    /// Whose machines it is about.
    pub providers: Vec<Provider>,
    look: Look,
}

/// Collects evidence and judges it.
#[derive(Clone, Copy, Debug)]
enum Look {
    /// A check of this room.
    Shared(SharedLook),
    /// A check in the folder of a provider.
    Own(OwnLook),
}

type SharedLook = fn(&Scene<'_>) -> Judged;

/// Every check, in the order in which they are shown.
pub static CHECKS: LazyLock<Vec<Check>> = LazyLock::new(|| {
    let own = Provider::ALL.iter().flat_map(|provider| descriptor(*provider).own_checks);
    let own = own.map(|(name, look)| (*name, Look::Own(*look)));
    let shared = FOR_ALL.iter().chain(BY_CHOICE).map(|(name, look)| (*name, Look::Shared(*look)));
    let mut rows: Vec<(CheckName, Look)> = shared.chain(own).collect();
    rows.sort_by_key(|(name, _)| *name);
    rows.into_iter()
        .map(|(name, look)| {
            let is_asked = |provider: &Provider| {
                FOR_ALL.iter().any(|(other, _)| *other == name) || descriptor(*provider).asks(name)
            };
            let providers = Provider::ALL.iter().copied().filter(is_asked).collect();
            Check { name, group: name.group(), providers, look }
        })
        .collect()
});

/// Asked of every provider.
const FOR_ALL: &[(CheckName, SharedLook)] = &[
    (CheckName::InventoryComplete, host::inventory_complete),
    (CheckName::Programs, host::programs),
    (CheckName::Clock, host::clock),
    (CheckName::BalancerApi, balancer::api),
    (CheckName::BalancerMachineConfigServer, balancer::machine_config_server),
    (CheckName::BalancerIngressHttps, balancer::ingress_https),
    (CheckName::BalancerIngressHttp, balancer::ingress_http),
    (CheckName::Ports, network::ports),
    (CheckName::ReleaseImage, registry::release_image),
    (CheckName::Mirrors, registry::mirrors),
    (CheckName::Images, registry::images),
    (CheckName::ClockSkew, registry::clock_skew),
    (CheckName::Certificates, certificates::certificates),
];

/// Asked of providers whose descriptor names them.
const BY_CHOICE: &[(CheckName, SharedLook)] = &[
    (CheckName::NamesServer, names::server),
    (CheckName::NamesRecords, names::records),
    (CheckName::NamesApps, names::apps),
    (CheckName::NamesReverse, names::reverse),
    (CheckName::NamesSearch, names::search),
    (CheckName::NamesOutside, names::outside),
    (CheckName::NamesHost, names::host),
    (CheckName::Subnet, network::subnet),
    (CheckName::Addresses, network::addresses),
    (CheckName::Memory, capacity::memory),
    (CheckName::Processors, capacity::processors),
    (CheckName::DiskSpace, capacity::disk_space),
    (CheckName::DiskLatency, capacity::disk_latency),
    (CheckName::MachineSizes, capacity::machine_sizes),
];

impl Check {
    pub(super) fn look(&self, scene: &Scene<'_>) -> Judged {
        match self.look {
            Look::Shared(look) => look(scene),
            Look::Own(look) => look(&scene.checked),
        }
    }
}
