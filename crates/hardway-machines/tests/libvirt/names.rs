//! The network answers every question of the documentation, and everything goes away again.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::Path;

use hardway_assets::host_services::{InstallStage, Names};
use hardway_assets::inventory::Provider;
use hardway_machines::load_balancer::servers;
use hardway_machines::providers::{advice, is_of_machine};
use jiff::Timestamp;

use hardway_testing::{inside_with_libvirt, until};

use super::site::{Work, run, state, virsh};

/// The answers, in order.
fn ask(question: &[&str]) -> (String, Vec<String>) {
    let options = ["@192.168.126.1", "+noall", "+comments", "+answer", "+tries=1", "+timeout=5"];
    let text = run("dig", &[&options, question].concat());
    let status = text.split("status: ").nth(1).unwrap_or_default().split(',').next().unwrap_or_default();
    let answers = text.lines().filter(|line| !line.starts_with(';') && !line.is_empty());
    let mut answers: Vec<String> =
        answers.filter_map(|line| line.split_whitespace().last().map(str::to_owned)).collect();
    answers.sort();
    (status.to_owned(), answers)
}

#[test]
fn up_answers_every_name_and_down_leaves_the_host_as_it_was() {
    if !inside_with_libvirt() {
        return;
    }
    let (mut work, before) = (Work::new(), state());
    let actions = work.actions();
    let all: BTreeSet<String> = actions.iter().map(|action| action.id.clone()).collect();
    assert_eq!(work.up(&actions).into_iter().collect::<BTreeSet<_>>(), all);
    let built = state();
    assert_eq!(work.up(&actions), [""; 0], "twice changes nothing");
    assert_eq!(state(), built);

    let names = Names::of(&work.cluster);
    for name in &names.names {
        let addresses: Vec<String> = name.addresses.iter().map(ToString::to_string).collect();
        assert_eq!(ask(&[&name.name, "A"]), ("NOERROR".to_owned(), addresses), "{}", name.name);
        for address in name.addresses.iter().filter(|_| name.is_reverse) {
            let (_, found) = ask(&["-x", &address.to_string()]);
            assert_eq!(found.first(), Some(&format!("{}.", name.name)), "{address}");
        }
    }
    let routes = format!("console-openshift-console.{}", names.wildcard.name);
    assert_eq!(ask(&[&routes, "A"]).1, ["192.168.126.11"]);
    assert_eq!(ask(&[&routes, "AAAA"]), ("NOERROR".to_owned(), vec![]));
    assert_eq!(ask(&[&format!("nothing.{}", names.domain), "A"]).0, "NXDOMAIN");

    assert!(
        built["addresses"].contains("192.168.126.10/32") && built["addresses"].contains("192.168.126.11/32")
    );
    assert!(built["rules"].contains("masquerade"), "{}", built["rules"]);
    let listens = run("ss", &["-Hltn"]);
    for port in [6443, 22623] {
        assert!(listens.contains(&format!("192.168.126.10:{port}")), "{listens}");
    }

    // What somebody else takes away is brought back.
    virsh(&["net-destroy", "ocp4"]);
    assert_eq!(work.up(&actions), ["network/active"]);
    until("the same as before", || state() == built);

    // The bootstrap host goes for good: nothing else is touched, and HAProxy takes its new configuration up as it runs.
    work.stage = InstallStage::Installed;
    let later = work.actions();
    assert_eq!(work.up(&later), ["balancer/haproxy"]);
    let socket = Path::new("/run/hardway/ocp4/haproxy.sock");
    until("HAProxy forgets it", || {
        servers(socket).is_ok_and(|servers| servers.iter().all(|server| server.name != "bootstrap"))
    });
    work.with(&|| Timestamp::UNIX_EPOCH, |executor| {
        executor.take_back(|action| is_of_machine(action, "bootstrap"), &mut ()).unwrap();
    });
    assert_eq!(ask(&["bootstrap.ocp4.example.com", "A"]).0, "NXDOMAIN");
    assert_eq!(ask(&["master-0.ocp4.example.com", "A"]).1, ["192.168.126.101"]);
    assert_eq!(work.up(&later), [""; 0]);

    work.down();
    assert_eq!(state(), before);
}

#[test]
fn both_families_at_once() {
    if !inside_with_libvirt() {
        return;
    }
    let (mut work, before) = (Work::new(), state());
    let address = |n: u16| IpAddr::from([0xfd02, 1, 0, 0, 0, 0, 0, n]);
    let cluster = &mut work.cluster;
    let network = hardway_assets::install_config::MachineNetwork { cidr: "fd02:1::/64".parse().unwrap() };
    cluster.config.networking.machine_network.push(network);
    cluster.inventory.network.gateway.push(address(1));
    cluster.inventory.network.api_vip.push(address(0x10));
    cluster.inventory.network.ingress_vip.push(address(0x11));
    for (n, host) in (0x100..).zip(&mut cluster.inventory.hosts) {
        host.ip.push(address(n));
    }
    let actions = work.actions();
    work.up(&actions);
    assert_eq!(work.up(&actions), [""; 0]);
    for (name, found) in [
        ("api.ocp4.example.com", "fd02:1::10"),
        ("a.b.apps.ocp4.example.com", "fd02:1::11"),
        ("master-0.ocp4.example.com", "fd02:1::101"),
    ] {
        assert_eq!(ask(&[name, "AAAA"]).1, [found], "{name}");
    }
    assert_eq!(ask(&["-x", "fd02:1::101"]).1, ["master-0.ocp4.example.com."]);
    assert!(state()["addresses"].contains("fd02:1::10/128"));
    assert!(run("ss", &["-Hltn"]).contains("[fd02:1::10]:6443"));
    assert!(state()["rules"].contains("ip6 saddr fd02:1::/64"), "{}", state()["rules"]);
    work.down();
    assert_eq!(state(), before);
}

#[test]
fn what_is_somebody_elses_is_left_alone() {
    if !inside_with_libvirt() {
        return;
    }
    let work = Work::new();
    fs_err::create_dir_all("/var/lib/libvirt/images/ocp4").unwrap();
    fs_err::write("/var/lib/libvirt/images/ocp4/precious.qcow2", "disk").unwrap();
    virsh(&["pool-define-as", "ocp4", "dir", "--target", "/var/lib/libvirt/images/ocp4"]);
    let network = work.path("network.xml");
    fs_err::write(&network, "<network><name>ocp4</name><bridge name='theirs'/></network>").unwrap();
    virsh(&["net-define", network.to_str().unwrap()]);
    let before = state();
    let error = work
        .with(&|| Timestamp::UNIX_EPOCH, |executor| executor.up(&work.actions(), &mut ()))
        .map_err(|error| std::error::Error::source(&error).unwrap().to_string())
        .unwrap_err();
    assert!(error.contains("already exists with uuid"), "{error}");
    assert!(advice(Some(Provider::Libvirt), &error).unwrap().contains("does not touch it"));
    work.down();
    assert_eq!(state(), before);
    virsh(&["net-undefine", "ocp4"]);
    let before = state();
    work.up(&work.actions());
    work.down();
    assert_eq!(state(), before, "the pool stays, and what is in it");
}

#[test]
fn another_folder_with_the_same_domain_does_not_take_the_machines() {
    if !inside_with_libvirt() {
        return;
    }
    let (first, mut second) = (Work::new(), Work::new());
    first.up(&first.actions());
    let uuid = virsh(&["net-uuid", "ocp4"]);
    let journal = fs_err::read_to_string(first.path(hardway_journal::FILE_NAME)).unwrap();
    assert!(journal.contains(uuid.trim()), "by this a folder knows again what it built");
    let before = state();
    second.cluster.identity.infra_id = "ocp4-zzzzz".to_owned();
    let error = second
        .with(&|| Timestamp::UNIX_EPOCH, |executor| executor.up(&second.actions(), &mut ()))
        .map_err(|error| std::error::Error::source(&error).unwrap().to_string())
        .unwrap_err();
    assert!(error.contains("already exists with uuid"), "{error}");
    assert!(advice(Some(Provider::Libvirt), &error).unwrap().contains("If it was made from another folder"));
    second.down();
    assert_eq!(state(), before, "nothing of the first is gone");
    first.down();
}
