//! `hardway node add` to its end, and `remove`: a real API server, a real kubelet with a real container runtime. Nobody writes a
//! disk: the machine's first boot is played.

use std::net::IpAddr;

use hardway_testing::{ControlPlane, Machine, inside};
use serde_json::Value;

use super::first_boot::{fetches_its_config, on_machine_network};
use super::node::{identity_in, keeps_user_data, site};

#[test]
fn real_node_is_added_to_its_end_and_removed() {
    if !inside() {
        return;
    }
    on_machine_network(&["192.168.126.2", "192.168.126.110"]);
    let (node, address) = ("worker-0.ocp4.example.com", IpAddr::from([192, 168, 126, 110]));
    let mut plane = ControlPlane::start();
    plane.start_controller_manager();
    keeps_user_data(&plane, "worker");
    let site = site(&plane);

    let mut adding = site.start(&["node", "add", "worker-0"]);
    adding.until_said("worker-0, by hand:");
    // Names and load balancer are there before the machine is.
    assert!(site.read("bare-metal/dnsmasq.conf").contains("worker-0.ocp4"));
    assert!(site.read("bare-metal/load-balancer.txt").contains("worker-0"));
    fetches_its_config(&site, "worker-0", address);
    adding.until_said("worker-0 fetched its config from 192.168.126.110");
    let disk = tempfile::tempdir().unwrap();
    // What it fetched last is an identity of its own; the cluster's pointer brings everybody's.
    assert_eq!(identity_in(&site, "worker-0"), "hardway:host:worker-0:1");
    let who = plane.host_identity("worker-0", 1);
    let mut machine = Machine::new(&plane, disk.path(), node, address, &who);
    machine.boot();
    let said = adding.end().expect(0).stderr;
    assert!(said.contains("worker-0.ocp4.example.com is Ready"), "{said}");
    assert_eq!(
        said.matches("certificate request of worker-0.ocp4.example.com: approve").count(),
        2,
        "{said}"
    );
    let ready = |condition: &&Value| condition["type"] == "Ready";
    let status = plane.get(&["node", node])["status"]["conditions"].clone();
    assert_eq!(status.as_array().unwrap().iter().find(ready).unwrap()["status"], "True");

    site.ok(&["node", "remove", "worker-0", "--yes"]);
    assert!(
        site.read("secrets/identity.json").contains(r#""number": 2"#),
        "what it had is worth nothing now"
    );
    machine.cut_power();
    assert_eq!(plane.get(&["node", node]), Value::Null);
    assert!(!site.path("media/worker-0.iso").exists(), "the machine's medium holds its token");
    assert!(!site.read("bare-metal/dnsmasq.conf").contains("worker-0."));
    assert!(!site.read("bare-metal/load-balancer.txt").contains("worker-0"));
    let status = site.ok(&["infra", "status"]).stdout;
    assert!(!status.contains("machine/worker-0/"), "{status}");
}
