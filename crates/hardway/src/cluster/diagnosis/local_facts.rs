//! What can be wrong before a cluster is asked: in the working folder, and on this host where it carries the machines itself.

use std::net::{IpAddr, UdpSocket};
use std::time::Duration;

use fs_err as fs;
use hardway_assets::host_services::Stage;
use hardway_assets::inventory::{Balancer, Host, Role};
use hardway_assets::secrets::is_kubeadmin_password;
use hardway_assets::{Cluster, pki};
use hardway_cluster::diagnosis::{ConfigFacts, Evidence, FolderFacts, HostFacts};
use hardway_machines::providers::{Power, descriptor};
use jiff::Timestamp;

use crate::inputs::Workdir;
use crate::journal::history;
use crate::machines;
use crate::report::Report;

/// For a hypervisor or a controller to say whether a machine is on.
const PATIENCE: Duration = Duration::from_secs(10);

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
        switched_off: Vec::new(),
    }
}

/// Machines of nodes that are not well, as far as whoever made them says that they are off. One that was never made is not off.
pub(super) fn switched_off(workdir: &Workdir, cluster: &Cluster, evidence: &Evidence) -> Vec<String> {
    let is_well = |host: &&Host| {
        let node = evidence.state.nodes.get(&cluster.node_name(host));
        node.is_some_and(hardway_cluster::objects::Node::is_ready)
    };
    let Ok(history) = history(workdir) else { return Vec::new() };
    let stage = machines::stage(cluster, &history);
    let made = |host: &&Host| {
        let (hosts, name) = (&history.hosts, &host.name);
        hosts.redeemed(name).is_some() || hosts.installed().contains(name) || hosts.joined(name).is_some()
    };
    let Ok(dir) = std::path::absolute(workdir.path("")) else { return Vec::new() };
    let Some(provider) = machines::provider_if_any(cluster, &dir, stage) else { return Vec::new() };
    let is_wanted = |host: &&Host| stage == Stage::Bootstrapping || host.role != Role::Bootstrap;
    let is_off = |host: &&Host| {
        let asked = provider.power(host).within(PATIENCE).ask(&machines::outside());
        matches!(asked, Ok(Some(Power::Off)))
    };
    let hosts = cluster.inventory.hosts.iter().filter(is_wanted).filter(made).filter(|host| !is_well(host));
    hosts.filter(is_off).map(|host| host.name.clone()).collect()
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
    if let Ok(entries) = fs::read_dir(workdir.path("ignition")) {
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
        .text("auth/kubeadmin-password")?
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
