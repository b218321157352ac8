//! Plans, without a host.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::Path;

use hardway_assets::Cluster;
use hardway_assets::host_services::InstallStage;
use hardway_machines::actions::{Action, Step, shell};
use hardway_machines::providers::libvirt::{HostFacts, Libvirt, Resolver, Settings};
use hardway_machines::providers::{LoadBalancer, Provider as _};
use serde_json::json;

use super::site::cluster;
use crate::systemd;

/// A host of a distribution for servers.
const FACTS: HostFacts = HostFacts {
    has_kvm: true,
    has_systemd: true,
    has_firewalld: true,
    has_selinux: true,
    resolver: Resolver::SystemdResolved,
};

fn planned(cluster: &Cluster, facts: HostFacts) -> Libvirt {
    Libvirt::planned(
        cluster,
        Path::new("/work"),
        InstallStage::Bootstrapping,
        Settings::of(cluster).unwrap(),
        facts,
    )
}

fn find<'a>(actions: &'a [Action], id: &str) -> &'a Action {
    actions.iter().find(|action| action.id == id).unwrap_or_else(|| panic!("{id}"))
}

/// The units that a plan writes.
fn units(actions: &[Action]) -> Vec<(String, String)> {
    let files = actions.iter().flat_map(|action| &action.does).filter_map(|step| match step {
        Step::WriteFile { path, content, .. } if path.starts_with("/etc/systemd") => {
            Some((path.file_name()?.to_str()?.to_owned(), content.clone()))
        }
        _ => None,
    });
    files.collect()
}

#[test]
fn real_systemd_takes_the_units() {
    let actions = planned(&cluster(), FACTS).infrastructure();
    let folder = tempfile::tempdir().unwrap();
    let units = units(&actions);
    assert_eq!(units.len(), 3);
    for (name, text) in units {
        // Only what is on this host can be verified: programs of others are taken to be there.
        let text = text
            .replace("/usr/sbin/haproxy", "/bin/true")
            .replace("/usr/bin/resolvectl", "/bin/true")
            .replace("/usr/sbin/nft", "/bin/true");
        assert_eq!(systemd::complaints(folder.path(), &name, &text), [""; 0]);
    }
}

#[test]
fn what_the_host_has_is_what_is_used() {
    let actions = planned(&cluster(), FACTS).infrastructure();
    let text = shell(&actions);
    for port in [6443, 22623, 22624, 443, 80] {
        let kept = find(&actions, &format!("network/port-{port}-kept"));
        assert!(kept.does[0].to_string().contains("--permanent --zone=libvirt"), "{kept:?}");
        find(&actions, &format!("network/port-{port}-now"));
    }
    find(&actions, "balancer/selinux");
    assert!(text.contains("resolvectl domain virbr-ocp4 ~ocp4.example.com"), "{text}");
    assert!(!text.contains("<graphics"), "a screen is a way in");

    let plain = HostFacts {
        has_kvm: false,
        has_systemd: false,
        has_firewalld: false,
        has_selinux: false,
        resolver: Resolver::Other,
    };
    let actions = planned(&cluster(), plain).infrastructure();
    assert!(actions.iter().all(|action| {
        !action.id.starts_with("network/port")
            && !action.id.starts_with("dns/")
            && action.id != "balancer/selinux"
    }));
    let network_manager = HostFacts { resolver: Resolver::NetworkManager, ..FACTS };
    let actions = planned(&cluster(), network_manager).infrastructure();
    let resolver = find(&actions, "dns/resolver");
    assert!(resolver.does[1].to_string().contains("server=/ocp4.example.com/192.168.126.1"), "{resolver:?}");
}

#[test]
fn another_host_is_worked_on_over_ssh() {
    let mut cluster = cluster();
    cluster.inventory.machines.settings = json!({"uri": "qemu+ssh://root@big/system"});
    let libvirt = planned(&cluster, FACTS);
    for action in libvirt.infrastructure() {
        for step in action.does.iter().chain(&action.undo) {
            let text = step.to_string();
            // The folder of the tunnel's own end is here.
            let is_here = text.starts_with("install -d -m 0700 ");
            let is_there = ["qemu+ssh://root@big/system", "root@big"].iter().any(|word| text.contains(word));
            let is_there = is_there || (is_here && action.id == "balancer/tunnel");
            assert!(is_there, "{}: {text}", action.id);
        }
    }
    let LoadBalancer::Haproxy { admin_socket } = libvirt.load_balancer() else { panic!("not ours") };
    assert!(!admin_socket.starts_with("/tmp") && admin_socket.as_os_str().len() < 100, "{admin_socket:?}");
}

#[test]
fn kvm_is_used_where_it_works_and_wanted_where_it_is_asked_for() {
    for (asked, has_kvm, kind) in [
        ("auto", true, "type='kvm'"),
        ("auto", false, "type='qemu'"),
        ("tcg", true, "type='qemu'"),
        ("kvm", false, "type='kvm'"),
    ] {
        let mut cluster = cluster();
        cluster.inventory.machines.settings = json!({"accelerator": asked});
        let actions = planned(&cluster, HostFacts { has_kvm, ..FACTS }).infrastructure();
        let text = format!("{:?}", find(&actions, "machine/master-0/definition").does).replace("'\\''", "'");
        assert!(text.contains(&format!("<domain {kind}>")), "{asked} {has_kvm}: {text}");
    }
}

#[test]
fn a_node_that_answers_for_the_api_keeps_its_own_name_first() {
    let mut cluster = cluster();
    let ip = IpAddr::from([192, 168, 126, 101]);
    cluster.inventory.network.api_vip = vec![ip];
    let actions = planned(&cluster, FACTS).infrastructure();
    let name = find(&actions, "machine/master-0/name").does[0].to_string();
    let places = ["master-0.ocp4", "<hostname>api.ocp4", "<hostname>api-int.ocp4"]
        .map(|word| name.find(word).unwrap());
    assert!(places.is_sorted(), "{name}");
    let network = find(&actions, "network/definition").does[0].to_string();
    assert!(!network.contains("192.168.126.101"), "{network}");
}

#[test]
fn two_folders_with_one_domain_have_nothing_in_common() {
    let texts = |cluster: &Cluster| {
        let actions = planned(cluster, FACTS).infrastructure();
        actions.iter().flat_map(|action| action.does.iter().map(ToString::to_string)).collect::<String>()
    };
    let uuids = |text: &str| {
        let words = text.split(|c: char| !(c.is_ascii_hexdigit() || c == '-')).map(str::to_owned);
        words.filter(|word| word.len() == 36 && word.matches('-').count() == 4).collect::<BTreeSet<_>>()
    };
    let (one, mut other) = (cluster(), cluster());
    other.identity.infra_id = "ocp4-zzzzz".to_owned();
    let (one, other) = (uuids(&texts(&one)), uuids(&texts(&other)));
    // A network, and each machine.
    assert_eq!((one.len(), other.len()), (cluster().inventory.hosts.len() + 1, one.len()), "{one:?}");
    assert!(one.is_disjoint(&other));
}
