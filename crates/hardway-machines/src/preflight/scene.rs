//! A site, and what several checks want to know of it: asked once.

use std::net::IpAddr;
use std::sync::OnceLock;

use hardway_assets::inventory::Provider;

use super::balancer::BalancerSeen;
use super::names::NamesSeen;
use super::registry::RegistrySeen;
use super::site::Site;
use crate::check::CheckedSite;
use crate::providers::{Ground, ProviderSurroundings, descriptor};

/// What checks look at.
pub(super) struct Scene<'a> {
    pub(super) site: Site<'a>,
    /// The part of it that providers' own checks look at.
    pub(super) checked: CheckedSite<'a>,
    balancer: OnceLock<BalancerSeen>,
    names: OnceLock<NamesSeen>,
    registry: OnceLock<Option<RegistrySeen>>,
}

impl<'a> Scene<'a> {
    pub(super) fn new(site: Site<'a>) -> Self {
        Self {
            checked: CheckedSite::new(site.cluster, site.folder, site.patience),
            site,
            balancer: OnceLock::new(),
            names: OnceLock::new(),
            registry: OnceLock::new(),
        }
    }

    pub(super) fn provider(&self) -> Provider {
        self.site.cluster.inventory.machines.provider
    }

    pub(super) fn surroundings(&self) -> &'static ProviderSurroundings {
        &descriptor(self.provider()).surroundings
    }

    /// Where the machines' network is.
    pub(super) fn ground(&self) -> Ground {
        (self.surroundings().ground)(self.site.cluster)
    }

    /// A text among the provider's settings.
    pub(super) fn setting(&self, name: &str) -> Option<&str> {
        self.checked.setting(name)
    }

    /// Whether one of these addresses is this host's.
    pub(super) fn owns(&self, addresses: &[IpAddr]) -> bool {
        self.checked.owns(addresses)
    }

    /// Why the names cannot be asked yet: phase build-infra brings the name server, and it is not there.
    pub(super) fn names_to_come(&self) -> Option<String> {
        let servers = &self.site.cluster.inventory.network.dns;
        let (cluster, surroundings) = (self.site.cluster, self.surroundings());
        let is_there = self.owns(servers) && (surroundings.has_brought_names)(cluster);
        ((surroundings.brings_names)(cluster) && !is_there).then(|| {
            let servers: Vec<String> = servers.iter().map(ToString::to_string).collect();
            format!("{} is not on this host yet: build-infra creates it", servers.join(", "))
        })
    }

    pub(super) fn balancer(&self) -> &BalancerSeen {
        self.balancer.get_or_init(|| BalancerSeen::of(self))
    }

    pub(super) fn names(&self) -> &NamesSeen {
        self.names.get_or_init(|| NamesSeen::of(self))
    }

    /// Nothing where nobody knows how to ask.
    pub(super) fn registry(&self) -> Option<&RegistrySeen> {
        self.registry.get_or_init(|| self.site.registry.map(|ask| ask())).as_ref()
    }
}
