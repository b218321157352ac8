//! A test pod on a real kubelet: scheduled, its log read, a command run in it, and gone again.

use std::collections::BTreeSet;
use std::time::Duration;

use hardway_base::Verdict;
use hardway_cluster::declared::Declared;
use hardway_cluster::verify::{Check, Surroundings, Verifier};
use hardway_testing::{Machine, SHELL_IMAGE, own_address, run, succeed, until_found};
use jiff::Timestamp;

use super::lab::{Lab, name};

#[tokio::test(flavor = "multi_thread")]
async fn real_a_pod_runs_and_its_log_and_a_command_in_it_are_there() {
    let mut lab = Lab::start(1).await;
    let address = own_address();
    lab.declared.nodes[0].addresses = vec![address];
    let mut machine = tokio::task::block_in_place(|| {
        let mut plane = lab.plane.lock().unwrap();
        plane.start_scheduler();
        let who = plane.host_identity(&name(0), 1);
        Machine::new(&plane, lab.folder.path(), &name(0), address, &who)
    });
    let approver = lab.run("one");
    machine.boot();
    approver.until_told(&format!("joined {}", name(0))).await;
    until_found("a node that is Ready", async || {
        let node = tokio::task::block_in_place(|| lab.plane.lock().unwrap().get(&["node", &name(0)]));
        let conditions = node["status"]["conditions"].as_array()?.clone();
        conditions.iter().any(|one| one["type"] == "Ready" && one["status"] == "True").then_some(())
    })
    .await;
    // Nobody here takes away the taint that every node begins with.
    tokio::task::block_in_place(|| {
        let plane = lab.plane.lock().unwrap();
        run(plane.kubectl().args(["taint", "node", &name(0), "node.kubernetes.io/not-ready-"]));
    });

    let outcomes = verifier(&lab).await.run().await;
    let of = |check: &str| {
        outcomes.iter().find(|one| one.check.name() == check).unwrap_or_else(|| panic!("{outcomes:?}"))
    };
    let passed: Vec<(&str, Verdict)> =
        ["workload", "logs", "exec"].map(|check| (check, of(check).judged.verdict)).into();
    let expected = ["workload", "logs", "exec"].map(|check| (check, Verdict::Passed));
    assert_eq!(passed, expected, "{outcomes:#?}");
    assert!(of("workload").judged.seen[0].contains(&name(0)), "{outcomes:#?}");

    // Nobody here empties namespaces that are going; and the machine must not be cut off from its pods.
    tokio::task::block_in_place(|| {
        let plane = lab.plane.lock().unwrap();
        succeed(plane.kubectl().args(["delete", "pods", "--all", "--all-namespaces", "--timeout=120s"]));
    });
    let checks: Vec<Check> = outcomes.iter().map(|one| one.check).collect();
    assert_eq!(checks, Check::ALL, "each once, in order, whatever came of it");
    approver.stop().await;
}

async fn verifier(lab: &Lab) -> Verifier {
    let kubeconfig = lab.plane.lock().unwrap().kubeconfig();
    let config = hardway_cluster::kubeconfig::read(Some(&kubeconfig)).await.unwrap();
    let wanted = [Check::Api, Check::Workload, Check::Logs, Check::Exec];
    let skip: BTreeSet<Check> = Check::ALL.into_iter().filter(|check| !wanted.contains(check)).collect();
    Verifier {
        config,
        declared: Declared::default(),
        surroundings: Surroundings::default(),
        etcd: None,
        image: Some(SHELL_IMAGE.to_owned()),
        now: Timestamp::now(),
        skip,
        patience: Duration::from_secs(60),
        pod_patience: Duration::from_secs(170),
    }
}
