//! A site, and what several checks want to know of it: asked once.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::OnceLock;

use hardway_assets::inventory::Provider;

use super::balancer::BalancerSeen;
use super::names::NamesSeen;
use super::network::own_addresses;
use super::registry::RegistrySeen;
use super::site::Site;
use crate::providers::{Ground, Surroundings, descriptor};

/// What checks look at.
pub(crate) struct Scene<'a> {
    pub(crate) site: Site<'a>,
    own_addresses: OnceLock<BTreeSet<IpAddr>>,
    balancer: OnceLock<BalancerSeen>,
    names: OnceLock<NamesSeen>,
    registry: OnceLock<Option<RegistrySeen>>,
}

impl<'a> Scene<'a> {
    pub(crate) fn new(site: Site<'a>) -> Self {
        Self {
            site,
            own_addresses: OnceLock::new(),
            balancer: OnceLock::new(),
            names: OnceLock::new(),
            registry: OnceLock::new(),
        }
    }

    pub(crate) fn provider(&self) -> Provider {
        self.site.cluster.inventory.machines.provider
    }

    pub(crate) fn surroundings(&self) -> &'static Surroundings {
        &descriptor(self.provider()).surroundings
    }

    /// Where the machines' network is.
    pub(crate) fn ground(&self) -> Ground {
        (self.surroundings().ground)(self.site.cluster)
    }

    /// A text among the provider's settings.
    pub(crate) fn setting(&self, name: &str) -> Option<&str> {
        self.site.cluster.inventory.machines.settings[name].as_str()
    }

    /// Addresses of this host.
    pub(crate) fn own_addresses(&self) -> &BTreeSet<IpAddr> {
        self.own_addresses.get_or_init(own_addresses)
    }

    /// Whether one of these addresses is this host's.
    pub(crate) fn owns(&self, addresses: &[IpAddr]) -> bool {
        addresses.iter().any(|address| self.own_addresses().contains(address))
    }

    /// Why the names cannot be asked yet: phase build-infra brings the name server, and it is not there.
    pub(crate) fn names_to_come(&self) -> Option<String> {
        let servers = &self.site.cluster.inventory.network.dns;
        (self.surroundings().brings_names && !self.owns(servers)).then(|| {
            let servers: Vec<String> = servers.iter().map(ToString::to_string).collect();
            format!("{} is not on this host yet: build-infra brings it and its names", servers.join(", "))
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
