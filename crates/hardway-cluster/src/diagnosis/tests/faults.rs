//! One change to a good cluster each.

use jiff::SignedDuration;
use serde_json::json;

use super::good::{booting, report, settled, vip};
use super::{seeds, surroundings};
use crate::diagnosis::evidence::{Api, ConfigFacts, Evidence, LogSource, LogTail};
use crate::handshake::NoAnswer;
use crate::objects::{ClusterOperator, ConfigMap, Node, SigningRequest};
use crate::testing::{at, node, operator, request, version};
use crate::verify::ResolvedName;
use crate::watch::{ClusterEvent, Observed, WatchedKind};

pub(super) type Fault = (&'static str, Evidence);

pub(super) fn faults() -> Vec<Fault> {
    [
        folder(),
        surroundings(),
        surroundings::surroundings(),
        bootstrap(),
        seeds::seeds(),
        nodes(),
        requests(),
        control_plane(),
        operators(),
    ]
    .concat()
}

pub(super) fn fault(id: &'static str, mut evidence: Evidence, change: impl FnOnce(&mut Evidence)) -> Fault {
    change(&mut evidence);
    (id, evidence)
}

fn folder() -> Vec<Fault> {
    let config = |id, text: &[u8]| {
        let facts = ConfigFacts::of(text);
        fault(id, booting(), |e| _ = e.folder.configs.insert("worker.ign".to_owned(), facts))
    };
    let twice = br#"{"storage":{"files":[{"path":"/a"},{"path":"/b"},{"path":"/a"}]}}"#;
    let unit = br#"{"systemd":{"units":[{"name":"a.service","enabled":true,"contents":"[Service]\n"}]}}"#;
    vec![
        config("I1", b"{"),
        config("I3", twice),
        config("I9", unit),
        fault("I12", booting(), |e| e.folder.largest_config = Some(10)),
        fault("D9", booting(), |e| e.domain = Some("ocp4.lab.1".to_owned())),
        fault("I6", booting(), |e| e.folder.expired.push(("kubelet-signer".to_owned(), at(-60)))),
        fault("C7", settled(), |e| e.folder.password_fits = Some(false)),
    ]
}

fn surroundings() -> Vec<Fault> {
    fn lost(name: &mut Option<ResolvedName>) {
        name.as_mut().unwrap().found = Err(NoAnswer::Late);
    }
    let foreign = |name: &mut Option<ResolvedName>| {
        name.as_mut().unwrap().found = Ok(vec!["10.0.0.1".parse().unwrap()])
    };
    let early = || Evidence { state: Default::default(), api: Api::NotAsked, ..booting() };
    vec![
        fault("D1", early(), |e| lost(&mut e.names.api_int)),
        fault("D1", settled(), |e| foreign(&mut e.names.api)),
        fault("D1", early(), |e| {
            e.bootstrap =
                Some(report(r#"{"phase":"stage end","stage":"resolve-api-url","result":"failure"}"#))
        }),
        fault("D6", settled(), |e| lost(&mut e.names.api)),
        fault("D7", settled(), |e| e.names.stray.as_mut().unwrap().found = Ok(vec![vip()])),
        fault("D2", settled(), |e| lost(&mut e.names.apps)),
        fault("L9", booting(), |e| e.ports[1].open = Err(NoAnswer::Late)),
        fault("H10", booting(), |e| e.fetched = Some([("w0".to_owned(), 7), ("m0".to_owned(), 1)].into())),
        fault("I13", settled(), |e| {
            e.state.nodes.remove("w1");
            e.fetched = Some([("w0".to_owned(), 1)].into());
        }),
        fault("C13", booting(), |e| {
            e.api = Api::Silent("invalid peer certificate: UnknownIssuer".to_owned())
        }),
        fault("C15", booting(), |e| e.api = Api::Silent("connection refused".to_owned())),
    ]
}

fn bootstrap() -> Vec<Fault> {
    let failed =
        r#"{"phase":"stage end","stage":"wait-for-etcd","result":"failure","errorMessage":"never healthy"}"#;
    let pull = r#"{"phase":"service end","result":"failure","errorMessage":"manifest unknown"}"#;
    let slow = vec!["apply request took too long".to_owned(); 12];
    vec![
        fault("B23", booting(), |e| {
            e.bootstrap.as_mut().unwrap().clock = Some(at(0) + SignedDuration::from_hours(2))
        }),
        fault("B25", booting(), |e| e.bootstrap = Some(report(failed))),
        fault("B26", booting(), |e| {
            let entries = crate::bootstrap_progress::entries(pull);
            e.bootstrap.as_mut().unwrap().records.insert("release-image".to_owned(), entries);
        }),
        fault("B4", booting(), |e| {
            e.logs.push(LogTail { source: LogSource::Bootstrap, name: "etcd".to_owned(), lines: slow })
        }),
    ]
}

fn nodes() -> Vec<Fault> {
    let because = |reason: &str| {
        let object = json!({"metadata": {"name": "w1"}, "status": {"conditions": [
            {"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": reason}]}});
        Observed::Node(serde_json::from_value::<Node>(object).unwrap())
    };
    let with_ip = |ip: &str| {
        let object = json!({"metadata": {"name": "w0"}, "status": {"conditions": [{"type": "Ready", "status": "True"}],
            "addresses": [{"type": "InternalIP", "address": ip}]}});
        Observed::Node(serde_json::from_value::<Node>(object).unwrap())
    };
    let addressed = || {
        let mut evidence = settled();
        for (place, ip) in [(3, "192.168.126.110"), (4, "192.168.126.111")] {
            evidence.declared.nodes[place].addresses = vec![ip.parse().unwrap()];
        }
        evidence.state.apply(&ClusterEvent::Changed(with_ip("192.168.126.110")));
        evidence.declared.nodes[4].addresses.clear();
        evidence
    };
    let no_service = |address: &str| LogTail {
        source: LogSource::Given,
        name: "etcd-operator".to_owned(),
        lines: vec![format!("Get \"https://{address}/api\": dial tcp {address}: i/o timeout")],
    };
    vec![
        fault("D3", settled(), |e| e.state.apply(&node("localhost.localdomain", "worker", true).into())),
        fault("D4", settled(), |e| e.state.apply(&node("etcd-0.ocp4.example.com", "master", true).into())),
        fault("D5", addressed(), |e| {
            e.declared.nodes[4].addresses = vec!["192.168.126.111".parse().unwrap()];
            e.state.nodes.remove("w1");
            e.state.apply(&with_ip("192.168.126.111").into());
        }),
        fault("R13", addressed(), |e| e.state.apply(&with_ip("192.168.126.200").into())),
        fault("N17", settled(), |e| _ = e.state.nodes.remove("w1")),
        fault("N14", settled(), |e| {
            e.state.apply(&because("container runtime network not ready: no CNI configuration file").into())
        }),
        fault("N18", settled(), |e| e.state.apply(&because("PLEG is not healthy").into())),
        fault("N7", settled(), |e| e.pools = vec![json!({"metadata": {"name": "worker"}})]),
        fault("B11", settled(), |e| e.logs = vec![no_service("172.30.0.1:443")]),
        fault("B11", settled(), |e| {
            e.service_address = Some("10.96.0.1".parse().unwrap());
            e.logs = vec![no_service("10.96.0.1:443")];
        }),
        fault("B11", settled(), |e| {
            e.service_address = Some("fd02::1".parse().unwrap());
            e.logs = vec![no_service("[fd02::1]:443")];
        }),
    ]
}

fn requests() -> Vec<Fault> {
    let of_node = |name: String, second: i64| {
        let object = json!({"metadata": {"name": name, "creationTimestamp": at(second).to_string()},
            "spec": {"signerName": "kubernetes.io/kubelet-serving", "username": "system:node:w0"},
            "status": {"conditions": [{"type": "Approved", "status": "True"}]}});
        Observed::Request(serde_json::from_value::<SigningRequest>(object).unwrap())
    };
    let serving = || {
        let Observed::Request(mut object) = of_node("csr-2".to_owned(), 0) else { unreachable!() };
        object.status.conditions = None;
        Observed::Request(object)
    };
    vec![
        fault("N4", settled(), |e| {
            (0..7).for_each(|n| e.state.apply(&of_node(format!("csr-{n}"), n * 30).into()))
        }),
        fault("N1", settled(), |e| {
            e.state.nodes.remove("w1");
            e.state.apply(&request("csr-1").into());
        }),
        fault("N2", settled(), |e| e.state.apply(&serving().into())),
    ]
}

fn control_plane() -> Vec<Fault> {
    let degraded = |message: &str| {
        json!({"metadata": {"name": "master"}, "status": {"conditions": [
            {"type": "RenderDegraded", "status": "True", "message": message}]}})
    };
    // Nodes carry what the machine-config-daemon writes, so that the pool is all that is wrong.
    let annotated = || {
        let mut evidence = settled();
        for node in evidence.state.nodes.values_mut() {
            let annotation =
                ("machineconfiguration.openshift.io/currentConfig".to_owned(), "rendered".to_owned());
            node.metadata.annotations = Some([annotation].into());
        }
        evidence
    };
    let endpoints = json!({"metadata": {"name": "etcd-endpoints"}, "data": {"a": "192.168.126.100"}});
    vec![
        fault("B13", settled(), |e| {
            e.infrastructure = Some(json!({"status": {"apiServerInternalURI": "https://api-int:6443"}}))
        }),
        fault("B16", booting(), |e| {
            e.state
                .apply(&Observed::Endpoints(serde_json::from_value::<ConfigMap>(endpoints).unwrap()).into())
        }),
        fault("B20", settled(), |e| {
            e.state.control_plane.get_mut(&WatchedKind::Etcd).unwrap().conditions.as_mut().unwrap().pop();
        }),
        fault("N5", annotated(), |e| {
            e.pools = vec![degraded("machineconfig \"rendered-master-1\" not found")]
        }),
        fault("N6", annotated(), |e| {
            e.pools = vec![degraded(
                "unexpected on-disk state validating against rendered-master-1: content mismatch for file \"/etc/motd\"",
            )]
        }),
    ]
}

fn operators() -> Vec<Fault> {
    let says = |name: &str, kind: &str, message: &str| {
        let object = json!({"metadata": {"name": name}, "status": {"conditions": [
            {"type": "Available", "status": "True"}, {"type": "Progressing", "status": "False"},
            {"type": "Degraded", "status": "True", "reason": kind, "message": message}]}});
        Observed::Operator(serde_json::from_value::<ClusterOperator>(object).unwrap())
    };
    let mut compact = settled();
    compact.declared.nodes = compact.declared.nodes[..3].to_vec().into();
    compact.state.nodes.retain(|name, _| name.starts_with('m'));
    let cluster = "No networks.operator.openshift.io cluster found";
    vec![
        fault("B24", settled(), |e| {
            let message = "3 of 4 members are available, etcd-bootstrap is unhealthy";
            e.state.apply(&says("etcd", "EtcdMembers_UnhealthyMembers", message).into())
        }),
        fault("C8", settled(), |e| {
            e.state.apply(&version("TFF", "").into());
            e.state.apply(&ClusterEvent::Listed(WatchedKind::Operators, Vec::new()));
        }),
        fault("N8", settled(), |e| {
            let node = |name: &str, system: &str| {
                let object = json!({"metadata": {"name": name, "labels": {"node-role.kubernetes.io/worker": ""}},
                    "status": {"conditions": [{"type": "Ready", "status": "True"}],
                        "nodeInfo": {"kubeletVersion": "v1.31.5", "osImage": system}}});
                Observed::Node(serde_json::from_value::<Node>(object).unwrap())
            };
            e.pools = vec![
                json!({"metadata": {"name": "worker"}, "status": {"machineCount": 2, "updatedMachineCount": 2}}),
            ];
            e.state.apply(&node("w0", "CoreOS 418.94").into());
            e.state.apply(&node("w1", "CoreOS 417.94").into());
            for node in e.state.nodes.values_mut() {
                let current =
                    ("machineconfiguration.openshift.io/currentConfig".to_owned(), "rendered".to_owned());
                node.metadata.annotations = Some([current].into());
            }
        }),
        fault("C1", compact, |e| e.state.apply(&operator("ingress", "FTT").into())),
        fault("C2", settled(), |e| {
            e.state.apply(&says("ingress", "IngressDegraded", "CanaryChecksRepetitiveFailures: Canary route checks for the default ingress controller are failing").into())
        }),
        fault("C3", settled(), |e| {
            e.state.apply(
                &says(
                    "authentication",
                    "OAuthServerRouteEndpointAccessibleController_SyncError",
                    "dial tcp: lookup oauth",
                )
                .into(),
            )
        }),
        fault("C4", settled(), |e| {
            e.state.apply(&says("console", "RouteHealth_FailedGet", "failed to GET route").into())
        }),
        fault("C6", settled(), |e| e.state.apply(&operator("monitoring", "FTF").into())),
        fault("C14", settled(), |e| e.state.apply(&operator("network", "FTF").into())),
        fault("C16", settled(), |e| e.state.apply(&version("TFT", "cannot apply").into())),
        fault("B14", settled(), |e| e.state.apply(&says("network", "Config", cluster).into())),
    ]
}
