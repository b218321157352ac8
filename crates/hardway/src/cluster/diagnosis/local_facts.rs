//! What can be wrong before a cluster is asked: in the working folder, and on this host where it carries the machines itself.

use std::net::{IpAddr, UdpSocket};

use fs_err as fs;
use hardway_assets::inventory::Balancer;
use hardway_assets::secrets::is_kubeadmin_password;
use hardway_assets::work_paths;
use hardway_assets::{Cluster, pki};
use hardway_cluster::diagnosis::{ConfigFacts, FolderFacts, HostFacts};
use hardway_machines::providers::descriptor;
use jiff::Timestamp;

use crate::inputs::Workdir;
use crate::report::Report;

/// Nothing where machines are elsewhere.
pub(super) fn host_facts(cluster: &Cluster) -> HostFacts {
    let descriptor = descriptor(cluster.inventory.machines.provider);
    let Some(loose_interfaces) = (descriptor.loose_interfaces)(cluster) else { return HostFacts::default() };
    let network = &cluster.inventory.network;
    let addresses = network.api_vip.iter().chain(&network.ingress_vip).copied();
    let is_ours = network.load_balancer == Balancer::Haproxy;
    HostFacts {
        lost_addresses: addresses.filter(|address| is_ours && !is_own(*address)).collect(),
        loose_interfaces,
        dead_machines: Vec::new(),
    }
}

/// Only an address of an interface can be bound.
fn is_own(address: IpAddr) -> bool {
    match UdpSocket::bind((address, 0)) {
        Ok(_) => true,
        Err(error) => error.kind() != std::io::ErrorKind::AddrNotAvailable,
    }
}

/// Looks at configs, certificates and the password. Files that are not there are not made yet, and not wrong.
pub(super) fn folder_facts(
    workdir: &Workdir,
    cluster: &Cluster,
    now: Timestamp,
) -> Result<FolderFacts, Report> {
    let mut names: Vec<String> = ["bootstrap.ign", "master.ign", "worker.ign"].map(str::to_owned).into();
    if let Ok(entries) = fs::read_dir(workdir.path(work_paths::IGNITION)) {
        let files = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        names.extend(files.filter(|name| name.ends_with(".ign")).map(|name| format!("ignition/{name}")));
    }
    let mut facts = FolderFacts::default();
    for name in names {
        if let Some(bytes) = workdir.bytes(&name)? {
            facts.configs.insert(name, ConfigFacts::of(&bytes));
        }
    }
    let over = pki::ended(cluster, &workdir.tree()?, now).into_iter();
    facts.expired = over.map(|end| (end.certificate, end.not_after)).collect();
    facts.password_fits = workdir
        .text(work_paths::KUBEADMIN_PASSWORD)?
        .map(|text| is_kubeadmin_password(text.trim_end().as_bytes()));
    let largest = descriptor(cluster.inventory.machines.provider).largest_config();
    facts.largest_config = largest.and_then(|bytes| usize::try_from(bytes).ok());
    Ok(facts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_own_when_it_can_be_bound() {
        assert!(is_own("127.0.0.1".parse().unwrap()));
        // For documentation: nobody has it (RFC 5737).
        assert!(!is_own("192.0.2.77".parse().unwrap()));
    }
}
