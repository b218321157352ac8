//! What would be made for a pool.

use std::collections::BTreeMap;

use hardway_assets::hosted_inventory::{HostedHost, HostedPool};
use hardway_hosted::PoolHosts;
use hardway_hosted::scaling::{present, scaling};

use super::{ManagementAccess, connect, failed};
use crate::machines::HostedSite;
use crate::report::Report;

/// What would be made for one pool.
pub(crate) struct PoolPlan<'p> {
    pub(crate) pool: &'p HostedPool,
    pub(crate) present: usize,
    pub(crate) wanted: usize,
    pub(crate) add: Vec<&'p HostedHost>,
    /// Which of them is chosen when the time comes, by what it costs.
    pub(crate) remove: usize,
    /// Machines that are wanted and that nobody has.
    pub(crate) missing: usize,
}

impl<'p> PoolPlan<'p> {
    /// As the NodePool says, and with what is there.
    pub(crate) async fn asked(
        site: &HostedSite,
        access: &ManagementAccess,
        pool: &'p HostedPool,
    ) -> Result<Self, Report> {
        let access = ManagementAccess { namespace: pool.namespace.clone(), ..access.clone() };
        let management = connect(&access, &pool.cluster).await?;
        let object = management.node_pool(&pool.node_pool).await.map_err(|error| failed(&error))?;
        let (workers, _) = management.workers().await.map_err(|error| failed(&error))?;
        let there = present(&workers, &pool.node_pool).len();
        let wanted = object.wanted_workers(there).unwrap_or(there);
        let hosts = PoolHosts::of_cluster(&site.file.inventory, &pool.namespace, &pool.cluster);
        let hosts = hosts.of(&pool.node_pool).unwrap_or_default();
        let free = scaling(&workers, &pool.node_pool, hosts, wanted.min(hosts.len()), &BTreeMap::new());
        let names: Vec<String> =
            free.map(|free| free.add).unwrap_or_default().into_iter().map(|host| host.name).collect();
        let free = pool.hosts.iter().filter(|one| names.contains(&one.host.name)).collect();
        Ok(Self::of(pool, there, wanted, free))
    }

    /// With so many that are there, and these that are free.
    pub(crate) fn of(pool: &'p HostedPool, there: usize, wanted: usize, free: Vec<&'p HostedHost>) -> Self {
        let add: Vec<&HostedHost> = free.into_iter().take(wanted.saturating_sub(there)).collect();
        Self {
            missing: wanted.saturating_sub(there + add.len()),
            remove: there.saturating_sub(wanted),
            pool,
            present: there,
            wanted,
            add,
        }
    }
}
