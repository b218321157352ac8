//! The NodePool says how many workers there are, and is told what has become of it.

use hardway_cluster::csr_policy::IgnitionEvidence;
use hardway_hosted::pool_size::CONDITION;
use hardway_hosted::worker::{TroubleReason, WorkerStage};
use hardway_hosted::{PlacedHost, PoolHosts};
use hardway_testing::{succeed, until_found};
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::running::Running;
use crate::site::{Site, name};

/// Six hosts, in turn in two zones.
fn hosts(site: &Site) -> PoolHosts {
    let host = |n: usize| PlacedHost {
        name: name(n),
        addresses: vec![site.address(n)],
        zone: Some(["rack-a", "rack-b"][n % 2].to_owned()),
        region: Some("here".to_owned()),
    };
    PoolHosts::ByPool([("demo".to_owned(), (0..6).map(host).collect())].into())
}

fn run(site: &Site) -> Running {
    let (mut controller, told) = site.controller("one", 6);
    controller.hosts = hosts(site);
    Running::start(controller, told)
}

/// Exactly these, and all of them Ready.
async fn has(site: &Site, names: &[usize]) {
    let wanted: Vec<String> = names.iter().copied().map(name).collect();
    until_found(&format!("workers {wanted:?}"), async || {
        let workers = site.workers().await;
        let is_settled =
            workers.values().all(|one| one.stage() == WorkerStage::Ready && one.history.settled.is_some());
        (is_settled && workers.keys().eq(&wanted)).then_some(())
    })
    .await;
}

/// The pool's condition, once it has this reason.
async fn condition(site: &Site, reason: &str) -> Value {
    until_found(&format!("condition {reason}"), async || {
        let pool = tokio::task::block_in_place(|| {
            site.management_plane.get(&["nodepool", "demo", "-n", "clusters"])
        });
        let all = pool["status"]["conditions"].as_array()?.clone();
        assert!(all.iter().any(|one| one["type"] == "ValidMachineConfig"), "HyperShift's stay: {all:?}");
        all.into_iter().find(|one| one["type"] == CONDITION && one["reason"] == reason)
    })
    .await
}

fn kubectl(site: &Site, args: &[&str]) {
    tokio::task::block_in_place(|| succeed(site.hosted_plane.kubectl().args(args)));
}

/// A pod on that node, of a ReplicaSet; and a budget that never lets it go, since nobody counts for it.
fn a_pod_that_stays(site: &Site, node: &str) {
    let labels = json!({"app": "kept"});
    let owner = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "kept", "controller": true,
        "uid": "8b1c2f9e-6a57-4d0c-9f0e-3c6f1f6a1c11"});
    let objects = [
        json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "kept", "namespace": "default", "labels": labels, "ownerReferences": [owner]},
            "spec": {"nodeName": node, "containers": [{"name": "x", "image": "registry.example.com/x:1"}]}}),
        json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "kept", "namespace": "default"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": labels}}}),
    ];
    tokio::task::block_in_place(|| objects.iter().for_each(|object| site.hosted_plane.apply(object)));
}

async fn pods_on(site: &Site, node: &str) -> usize {
    let found = tokio::task::block_in_place(|| site.hosted_plane.get(&["pods", "-n", "default"]));
    let is_there = |pod: &&Value| pod["spec"]["nodeName"] == node;
    found["items"].as_array().map_or(0, |pods| pods.iter().filter(is_there).count())
}

#[tokio::test(flavor = "multi_thread")]
async fn real_a_pool_has_as_many_workers_as_it_says() {
    let mut site = Site::start(IgnitionEvidence::Ignored).await;
    site.settings.drain = SignedDuration::from_secs(5);
    let addresses: Vec<_> = (0..10).map(|n| site.address(n)).collect();
    site.kubelets.live(false, move |n| addresses[n]);
    site.patch_pool(json!({"spec": {"replicas": 1}})).await;
    let running = run(&site);
    has(&site, &[0]).await;
    let told = condition(&site, "AsExpected").await;
    assert_eq!(
        (told["status"].as_str(), told["message"].as_str()),
        (Some("True"), Some("1 of 1 workers are ready"))
    );

    site.patch_pool(json!({"spec": {"replicas": 4}})).await;
    has(&site, &[0, 1, 2, 3]).await;
    let labels = site.nodes().get(&name(3)).await.unwrap().metadata.labels.unwrap();
    let place =
        ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"].map(|label| labels[label].as_str());
    assert_eq!(place, ["rack-b", "here"]);

    // A pause holds whatever the number says.
    site.patch_pool(json!({"spec": {"replicas": 1, "pausedUntil": "true"}})).await;
    condition(&site, "Paused").await;
    assert_eq!(site.workers().await.len(), 4);

    // One is cordoned, and the newest has a pod: it is cheaper to do without another.
    kubectl(&site, &["cordon", &name(1)]);
    a_pod_that_stays(&site, &name(3));
    until_found("the pod", async || (pods_on(&site, &name(3)).await == 1).then_some(())).await;
    site.patch_pool(json!({"spec": {"replicas": 2, "pausedUntil": null}})).await;
    has(&site, &[0, 3]).await;
    condition(&site, "AsExpected").await;

    // The budget keeps the last one, for longer than pods may usually take.
    site.patch_pool(json!({"spec": {"replicas": 0}})).await;
    until_found("the budget to be told of", async || {
        let worker = site.workers().await.remove(&name(3))?;
        (worker.history.trouble?.reason == TroubleReason::DrainHeld).then_some(())
    })
    .await;
    assert!(site.nodes().get_opt(&name(3)).await.unwrap().is_some(), "its machine is not taken away");
    condition(&site, "ScalingDown").await;
    kubectl(&site, &["delete", "pdb", "kept", "-n", "default"]);
    kubectl(&site, &["delete", "pods", "-n", "default", "--all", "--force", "--grace-period=0"]);
    until_found("nobody", async || site.workers().await.is_empty().then_some(())).await;

    // More than there are machines for: as many as there are, and it is said.
    site.patch_pool(json!({"spec": {"replicas": 9}})).await;
    let told = condition(&site, "TooFewMachines").await;
    assert!(
        told["message"]
            .as_str()
            .unwrap()
            .contains("9 workers are wanted, but hosted-inventory.yaml has machines for 6")
    );
    until_found("six", async || (site.workers().await.len() == 6).then_some(())).await;

    // Bounds only bound.
    site.patch_pool(json!({"spec": {"replicas": null, "autoScaling": {"min": 1, "max": 3}}})).await;
    until_found("three", async || (site.workers().await.len() == 3).then_some(())).await;
    running.stop().await;
    let journal = std::fs::read_to_string(site.folder.path().join(hardway_journal::FILE_NAME)).unwrap();
    for step in ["\"step\":\"request\"", "\"step\":\"retire\""] {
        assert!(journal.contains(step), "{step}");
    }
}

/// A controller that is killed between any two writes is followed by one that goes on, and none is asked for twice.
#[tokio::test(flavor = "multi_thread")]
async fn real_a_controller_that_is_killed_while_it_scales_is_followed_by_another() {
    let mut site = Site::start(IgnitionEvidence::Ignored).await;
    site.patch_pool(json!({"spec": {"replicas": 4}})).await;
    for seen in [1, 3] {
        let running = run(&site);
        until_found("one more machine", async || (site.machine_log().len() >= seen).then_some(())).await;
        running.kill().await;
    }
    let running = run(&site);
    // Machines take minutes to ask for a certificate: by then somebody has written down when they were switched on.
    until_found("everybody to be on", async || {
        let workers = site.workers().await;
        let is_on = workers.values().all(|worker| worker.history.booted.is_some());
        (workers.len() == 4 && is_on).then_some(())
    })
    .await;
    let addresses: Vec<_> = (0..10).map(|n| site.address(n)).collect();
    site.kubelets.live(false, move |n| addresses[n]);
    has(&site, &[0, 1, 2, 3]).await;
    let mut log = site.machine_log();
    log.sort();
    assert_eq!(log, [0, 1, 2, 3].map(|n| format!("boot {}", name(n))), "each was booted once");
    running.stop().await;
}
