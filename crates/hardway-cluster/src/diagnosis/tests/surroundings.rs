//! One change each to what is around a good cluster: the host that looks, the load balancer, machines that boot.

use std::net::IpAddr;

use serde_json::json;

use super::faults::{Fault, fault};
use super::good::{booting, settled, vip};
use crate::diagnosis::evidence::Share;
use crate::diagnosis::evidence::{Api, Evidence, Log, LogSource, Port};
use crate::no_answer::NoAnswer;
use crate::objects::ClusterVersion;
use crate::testing::{at, operator};
use crate::watch::Observed;

pub(super) fn surroundings() -> Vec<Fault> {
    [host(), balancer(), machines(), at_rest()].concat()
}

fn silent() -> Evidence {
    Evidence { api: Api::Silent("no answer".to_owned()), ..settled() }
}

fn host() -> Vec<Fault> {
    vec![
        fault("H7", silent(), |e| {
            e.install.api_came_up = true;
            e.host.lost_addresses = vec![vip()];
        }),
        // Before it answered for the first time, a silent API is all that is known.
        fault("C15", silent(), |e| e.host.lost_addresses = vec![vip()]),
        fault("H19", booting(), |e| e.host.switched_off = vec!["worker-0".to_owned()]),
        fault("H12", booting(), |e| e.host.loose_interfaces = vec!["vnet3".to_owned()]),
    ]
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
    let kubelet = |line: &str| Log {
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
    let console = |line: &str| Log {
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
