//! `hardway node replace --apply` of a master: three real etcd members at the masters' addresses, a real API server, and a real
//! kubelet as the new machine.

use std::net::IpAddr;
use std::path::Path;
use std::process::Command;

use hardway_journal::{Entry, Face, IgnitionRedeemed, Journal, NodeJoined};
use hardway_testing::{ControlPlane, EtcdMembers, Machine, Ran, Server, inside, succeed, until};
use serde_json::{Value, json};

use super::first_boot::{fetches_its_config, on_machine_network};
use super::node::{create, first_request, identity_in, keeps_user_data, node, site};
use super::site::Site;
use crate::work;

fn name(number: usize) -> String {
    format!("master-{number}.ocp4.example.com")
}

fn address(number: usize) -> String {
    format!("192.168.126.{}", 101 + number)
}

/// A certificate that the folder's etcd authority has signed, for all three.
const MAKE_CERTIFICATE: &str = "openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=etcd -keyout tls.key -out tls.csr
printf 'subjectAltName=IP:192.168.126.101,IP:192.168.126.102,IP:192.168.126.103,IP:192.168.126.104\n' >tls.ext
openssl x509 -req -in tls.csr -CA \"$1/pki/etcd-signer.crt\" -CAkey \"$1/secrets/etcd-signer.key\" -CAcreateserial -CAserial serial -days 2 -extfile tls.ext -out tls.crt";

/// Names of the members, as one of them tells.
fn members(folder: &Path) -> Vec<String> {
    let url = format!("https://{}:2379/v3/cluster/member/list", address(0));
    let list = succeed(
        Command::new("curl")
            .args(["-fsS", "--noproxy", "*", "-d", "{}", "--cacert"])
            .arg(folder.join("ca.crt"))
            .arg(url),
    );
    let list: Value = serde_json::from_str(&list).unwrap();
    let mut names: Vec<String> = list["members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|member| member["name"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

/// What the etcd operator has: its config, and certificates of each member.
fn operator(plane: &ControlPlane, number: usize) {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    create(
        plane,
        &json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "etcds.operator.openshift.io"}, "spec": {"group": "operator.openshift.io", "scope": "Cluster",
            "names": {"plural": "etcds", "singular": "etcd", "kind": "Etcd", "listKind": "EtcdList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]}}),
    );
    succeed(plane.kubectl().args([
        "wait",
        "--for=condition=Established",
        "crd/etcds.operator.openshift.io",
        "--timeout=120s",
    ]));
    create(
        plane,
        &json!({"apiVersion": "operator.openshift.io/v1", "kind": "Etcd", "metadata": {"name": "cluster"}, "spec": {}}),
    );
    succeed(plane.kubectl().args(["create", "namespace", "openshift-etcd"]));
    for kind in ["peer", "serving", "serving-metrics"] {
        let secret = format!("etcd-{kind}-{}", name(number));
        create(
            plane,
            &json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": secret, "namespace": "openshift-etcd"}}),
        );
    }
}

fn overrides(plane: &ControlPlane) -> Value {
    plane.get(&["etcd", "cluster"])["spec"]["unsupportedConfigOverrides"].clone()
}

fn certificates(plane: &ControlPlane) -> usize {
    plane.get(&["secrets", "-n", "openshift-etcd"])["items"].as_array().unwrap().len()
}

/// What the journal has of a machine that was booted by a person and joined: nothing of it was hardway's to take back.
fn was_installed(site: &Site, host: &str, source: &str) {
    let redeemed = IgnitionRedeemed {
        host: host.to_owned(),
        digest: "0123456789ab".to_owned(),
        source: source.parse().unwrap(),
        face: Face::Host,
    };
    let joined = NodeJoined { host: host.to_owned() };
    let journal = Journal::open(&site.path(hardway_journal::FILE_NAME)).unwrap();
    let then = jiff::Timestamp::UNIX_EPOCH;
    journal.append(&[Entry::of(then, &redeemed), Entry::of(then, &joined)]).unwrap();
}

#[test]
fn real_master_is_replaced_unless_etcd_would_stop() {
    if !inside() {
        return;
    }
    on_machine_network(&["192.168.126.2", "192.168.126.101", "192.168.126.102", "192.168.126.103"]);
    let mut plane = ControlPlane::start();
    plane.start_controller_manager();
    keeps_user_data(&plane, "master");
    let (site, folder) = (site(&plane), tempfile::tempdir().unwrap());
    succeed(
        Command::new("bash")
            .args(["-ec", MAKE_CERTIFICATE, "bash"])
            .arg(site.path(""))
            .current_dir(folder.path()),
    );
    fs_err::copy(site.path("pki/etcd-signer.crt"), folder.path().join("ca.crt")).unwrap();
    let all: Vec<(String, String)> = (0..3).map(|number| (name(number), address(number))).collect();
    let etcd = EtcdMembers { folder: folder.path(), members: &all, client_port: 2379, peer_port: 2380 };
    let mut etcds: Vec<Option<Server>> = (0..3).map(|number| Some(etcd.start(number))).collect();
    (0..3).for_each(|number| create(&plane, &node(&name(number))));
    operator(&plane, 1);
    was_installed(&site, "master-1", &address(1));
    let plan = || -> Option<Value> {
        let Ran { code, stdout, .. } = site.run(&["node", "replace", "master-1", "-o", "json"]);
        (code == Some(0)).then(|| serde_json::from_str(&stdout).unwrap())
    };
    until("three members are well", || plan().is_some_and(|plan| plan["hasSpare"] == false));

    // One is broken: any other would take the quorum with it.
    etcds[1] = None;
    until("its health is asked for anew", || site.run(&["node", "replace", "master-0"]).code != Some(0));
    let Ran { code, stdout, stderr } = site.run(&["node", "replace", "master-0", "--apply"]);
    assert!(code == Some(6) && stdout.is_empty() && stderr.contains("error[node-kept]"), "{stderr}");
    assert!(!plane.get(&["node", &name(0)]).is_null() && overrides(&plane).is_null(), "nothing was changed");
    assert_eq!(members(folder.path()).len(), 3);

    let mut replacing = site.start(&["node", "replace", "master-1", "--apply"]);
    replacing.until_said("master-1, by hand:");
    assert_eq!(members(folder.path()), [name(0), name(2)]);
    assert_eq!(plane.get(&["node", &name(1)]), Value::Null);
    assert_eq!(overrides(&plane)["useUnsupportedUnsafeNonHANonProductionUnstableEtcd"], true);
    assert_eq!(certificates(&plane), 0, "a new machine gets its own");
    let own: IpAddr = address(1).parse().unwrap();
    fetches_its_config(&site, "master-1", own);
    let disk = tempfile::tempdir().unwrap();
    // The machine that was there asks once more, with what it was installed with.
    let old = plane.host_identity("master-1", 1);
    let request = first_request(&plane, &name(1), old.kubeconfig());
    assert_eq!(identity_in(&site, "master-1"), "hardway:host:master-1:2");
    let who = plane.host_identity("master-1", 2);
    let mut machine = Machine::new(&plane, disk.path(), &name(1), own, &who);
    machine.boot();
    let said = replacing.end().expect(0).stderr;
    assert!(said.contains("master-1 was replaced"), "{said}");
    let denied = &plane.get(&["csr", &request])["status"]["conditions"][0];
    assert_eq!(
        (&denied["type"], &denied["reason"]),
        (&json!("Denied"), &json!("IdentityReplaced")),
        "{said}"
    );
    assert!(overrides(&plane).is_null(), "three are insisted on again");
    assert!(!plane.get(&["node", &name(1)]).is_null());
}

/// Three masters stay three; of four, one may go: its member first, unless that would be the end of the quorum.
#[test]
fn real_fourth_master_is_removed_after_its_member() {
    if !inside() {
        return;
    }
    let addresses: Vec<String> = (0..4).map(address).collect();
    let mut on: Vec<&str> = addresses.iter().map(String::as_str).collect();
    on.push("192.168.126.2");
    on_machine_network(&on);
    let plane = ControlPlane::start();
    let (site, folder) = (Site::with_four_masters(), tempfile::tempdir().unwrap());
    work::lead_to(&site, &plane);
    let made = ["-ec", MAKE_CERTIFICATE, "bash"];
    succeed(Command::new("bash").args(made).arg(site.path("")).current_dir(folder.path()));
    fs_err::copy(site.path("pki/etcd-signer.crt"), folder.path().join("ca.crt")).unwrap();
    let all: Vec<(String, String)> = (0..4).map(|number| (name(number), address(number))).collect();
    let etcd = EtcdMembers { folder: folder.path(), members: &all, client_port: 2379, peer_port: 2380 };
    let mut etcds: Vec<Option<Server>> = (0..4).map(|number| Some(etcd.start(number))).collect();
    (0..4).for_each(|number| create(&plane, &node(&name(number))));
    operator(&plane, 3);
    let is_planned = |host: &str| site.run(&["node", "replace", host]).code == Some(0);
    until("four members are well", || is_planned("master-3"));

    // Without two others that are well, four members are three that cannot agree.
    etcds[1] = None;
    etcds[2] = None;
    until("two are lost", || !is_planned("master-3"));
    let Ran { code, stderr, .. } = site.run(&["node", "remove", "master-3", "--yes"]);
    assert!(code != Some(0) && stderr.contains("error[node-kept]"), "{stderr}");
    assert!(!plane.get(&["node", &name(3)]).is_null() && certificates(&plane) == 3, "nothing was changed");
    etcds[1] = Some(etcd.start(1));
    etcds[2] = Some(etcd.start(2));
    until("four members are well again", || is_planned("master-3"));

    // etcd itself lets nobody go before its members have seen each other for a while.
    until("it is removed", || {
        let Ran { code, stderr, .. } = site.run(&["node", "remove", "master-3", "--yes"]);
        assert!(code == Some(0) || stderr.contains("unhealthy cluster"), "{stderr}");
        code == Some(0) && stderr.contains("lower controlPlane.replicas")
    });
    assert_eq!(members(folder.path()), [name(0), name(1), name(2)]);
    assert_eq!((plane.get(&["node", &name(3)]), certificates(&plane)), (Value::Null, 0));
    assert!(overrides(&plane).is_null(), "three are enough: nothing has to be allowed");
    assert!(!site.read("bare-metal/load-balancer.txt").contains("master-3"));
}
