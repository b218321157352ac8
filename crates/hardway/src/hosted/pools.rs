//! Which machines of the working folder are whose.

use std::path::Path;

use hardway_assets::input_tables::{HOSTED_INVENTORY, INVENTORY};
use hardway_assets::inventory::{self, Host, Role};
use hardway_hosted::PoolHosts;

use super::{ManagementAccess, read};
use crate::inputs::{HostedFile, Workdir};
use crate::machines::HostedSite;
use crate::report::{Code, Report};

/// The machines of a folder, or why there are none.
pub(crate) fn site(workdir: &Workdir) -> Result<HostedSite, Report> {
    HostedSite::open(workdir)?.ok_or_else(|| no_inventory(workdir))
}

/// The hosts that can become workers of this hosted cluster.
pub(super) fn hosts(dir: &Path, access: &ManagementAccess, cluster: &str) -> Result<PoolHosts, Report> {
    let workdir = Workdir::open(dir)?;
    match HostedFile::open(&workdir)? {
        Some(file) => pool_hosts(&file, access, cluster),
        None => Ok(PoolHosts::of_any_pool(&own_hosts(&workdir)?)),
    }
}

pub(crate) fn pool_hosts(
    file: &HostedFile,
    access: &ManagementAccess,
    cluster: &str,
) -> Result<PoolHosts, Report> {
    let hosts = PoolHosts::of_cluster(&file.inventory, &access.namespace, cluster);
    match &hosts {
        PoolHosts::ByPool(pools) if pools.is_empty() => {
            let what = format!(
                "{} has no pool for HostedCluster {cluster} in namespace {}",
                file.file.path, access.namespace
            );
            let mut known: Vec<String> = file
                .inventory
                .pools
                .iter()
                .map(|pool| format!("{}/{}", pool.namespace, pool.cluster))
                .collect();
            known.dedup();
            Err(Report::new(Code::HostedRequest, what).fix(format!(
                "add one, or name another with --cluster and --namespace: {}",
                known.join(", ")
            )))
        }
        _ => Ok(hosts),
    }
}

/// The hosts of `inventory.yaml` that can become workers. It need not fit an install-config: a hosted cluster has none.
pub(super) fn own_hosts(workdir: &Workdir) -> Result<Vec<Host>, Report> {
    if !workdir.path(INVENTORY.file).exists() {
        return Err(no_inventory(workdir));
    }
    let text = read(&workdir.path(INVENTORY.file))?;
    let inventory = inventory::read(&text, None).map_err(|violations| {
        Report::new(Code::InventoryInvalid, format!("{} mistakes in inventory.yaml", violations.len()))
            .evidence(violations.iter().map(ToString::to_string))
    })?;
    Ok(inventory.value.with_role(Role::Worker).cloned().collect())
}

fn no_inventory(workdir: &Workdir) -> Report {
    let what = format!("{} does not exist", workdir.shown(HOSTED_INVENTORY.file));
    Report::new(Code::ConfigMissing, what)
        .fix("run `hardway hosted init` to write a sample; it says which machines workers are made of")
}
