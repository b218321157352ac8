//! One change each to what is around a good cluster: the host that looks, the load balancer, machines that boot.

use std::net::IpAddr;

use serde_json::json;

use super::faults::{Fault, fault};
use super::good::{booting, settled, vip};
use crate::diagnosis::diagnose::first_broken;
use crate::diagnosis::evidence::{Api, Evidence, LogSource, LogTail, Port};
use crate::diagnosis::evidence::{DeadMachine, Share};
use crate::handshake::NoAnswer;
use crate::objects::ClusterVersion;
use crate::testing::{at, operator};
use crate::watch::Observed;

pub(super) fn surroundings() -> Vec<Fault> {
    [host(), balancer(), machines(), at_rest()].concat()
}

fn silent() -> Evidence {
    Evidence { api: Api::Silent("no answer".to_owned()), ..settled() }
}

/// Nobody says that bootstrapping is complete, but the journal does.
fn silent_for_long() -> Evidence {
    let mut evidence = Evidence { api: Api::Silent("no answer".to_owned()), ..booting() };
    evidence.install.is_bootstrap_removed = true;
    evidence.folder.expired.push(("kubelet-signer".to_owned(), at(-60)));
    evidence
}

fn host() -> Vec<Fault> {
    vec![
        fault("H7", silent(), |e| {
            e.install.api_came_up = true;
            e.host.lost_addresses = vec![vip()];
        }),
        // Before it answered for the first time, a silent API is all that is known.
        fault("C15", silent(), |e| e.host.lost_addresses = vec![vip()]),
        fault("H19", booting(), |e| e.host.dead_machines = vec![dead("worker-0", true)]),
        fault("H19", booting(), |e| e.host.dead_machines = vec![dead("worker-0", false)]),
        // All masters of an old cluster are off: that its first certificates are history is no fault.
        fault("H19", silent_for_long(), |e| e.host.dead_machines = vec![dead("m0", true)]),
        fault("H12", booting(), |e| e.host.loose_interfaces = vec!["vnet3".to_owned()]),
    ]
}

fn dead(host: &str, exists: bool) -> DeadMachine {
    DeadMachine {
        host: host.to_owned(),
        exists,
        by: "virsh".to_owned(),
        state: Some("shut off (destroyed)".to_owned()),
        console: vec!["worker-0 login:".to_owned()],
        disk: Some(3_000_000_000),
    }
}

#[test]
fn what_is_known_of_a_machine_from_outside_is_told() {
    let told = |machine: DeadMachine| {
        let mut evidence = booting();
        evidence.host.dead_machines = vec![machine];
        first_broken(&evidence).unwrap().evidence
    };
    let off = [
        "the machine of worker-0 is off (virsh: shut off (destroyed))",
        "disk of worker-0: 3000 MB in use",
        "console of worker-0: worker-0 login:",
    ];
    assert_eq!(told(dead("worker-0", true)), off);
    let empty = told(DeadMachine { disk: Some(200_000), ..dead("worker-0", true) });
    assert_eq!(empty[1], "disk of worker-0: 0 MB in use, so no system is installed");
    assert_eq!(told(dead("worker-0", false)), ["the machine of worker-0 does not exist any more (virsh)"]);
}

fn balancer() -> Vec<Fault> {
    let share = |failed: usize| Share {
        endpoint: "api.ocp4.example.com:6443".to_owned(),
        tried: 8,
        failed: vec!["unexpected end of file".to_owned(); failed],
    };
    let masters = |open: usize| -> Vec<Port> {
        let port = |n: usize| Port {
            host: format!("192.168.126.10{n}"),
            port: 6443,
            open: if n < open { Ok(()) } else { Err(NoAnswer::Late) },
        };
        (0..3).map(port).collect()
    };
    let closed = Port { host: "x.apps.ocp4.example.com".to_owned(), port: 443, open: Err(NoAnswer::Late) };
    let kubelet = |line: &str| LogTail {
        source: LogSource::Node("m9".to_owned()),
        name: "kubelet".to_owned(),
        lines: vec![line.to_owned()],
    };
    let line = "Get \"https://api-int.ocp4.example.com:6443/api/v1/nodes/m9\": dial tcp 192.168.126.10:6443: i/o timeout";
    vec![
        fault("L6", settled(), |e| e.shares.push(share(2))),
        // All of them: that is another fault.
        fault("C15", silent(), |e| e.shares.push(share(8))),
        fault("L7", silent(), |e| {
            e.install.is_bootstrap_removed = true;
            e.masters = masters(1);
        }),
        fault("C15", silent(), |e| {
            e.install.is_bootstrap_removed = true;
            e.masters = masters(2);
        }),
        fault("L10", settled(), |e| {
            e.routers = vec!["w0".to_owned()];
            e.routes = Some(closed);
        }),
        fault("L11", booting(), |e| e.logs.push(kubelet(line))),
    ]
}

fn machines() -> Vec<Fault> {
    let console = |line: &str| LogTail {
        source: LogSource::Given,
        name: "console.log".to_owned(),
        lines: vec![line.to_owned(), "master-1 login:".to_owned()],
    };
    let elsewhere: IpAddr = "192.168.126.207".parse().unwrap();
    vec![
        fault("R6", booting(), |e| {
            e.install.begun = Some(at(0));
            e.logs.push(console("Ignition: ran on 2019/03/14 14:48:33 UTC (at least 2 boots ago)"));
        }),
        fault("R11", settled(), |e| {
            e.state.nodes.remove("w1");
            e.declared.nodes[4].addresses = vec!["192.168.126.111".parse().unwrap()];
            e.install.fetched_from = [("w1".to_owned(), [elsewhere].into())].into();
        }),
    ]
}

fn at_rest() -> Vec<Fault> {
    let version = json!({"metadata": {"name": "version"}, "status": {"conditions": [
        {"type": "Available", "status": "True", "lastTransitionTime": at(-300)},
        {"type": "Progressing", "status": "False"}]}});
    let version = Observed::Version(serde_json::from_value::<ClusterVersion>(version).unwrap());
    vec![fault("C9", settled(), |e| {
        e.state.apply(&version.into());
        e.state.apply(&operator("kube-apiserver", "TTF").into());
    })]
}
