//! Workers from nothing to Ready, and whatever happens to them.

use hardway_cluster::csr_policy::IgnitionEvidence;
use hardway_hosted::worker::{WantedState, WorkerStage};
use hardway_journal::HostedStep;
use hardway_testing::{succeed, until_found};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::{Api, Patch, PatchParams};
use serde_json::json;

use crate::site::{FIRST, SECOND, Site, name};

async fn all_ready(site: &Site, count: usize) {
    until_found(&format!("{count} workers that are Ready"), async || {
        let workers = site.workers().await;
        let is_ready = |stage: WorkerStage| stage == WorkerStage::Ready;
        let settled = workers.values().all(|worker| worker.history.settled.is_some());
        (workers.len() == count && workers.values().all(|worker| is_ready(worker.stage())) && settled)
            .then_some(())
    })
    .await;
}

/// Three from nothing, with the proof of their fetched configs; a token that rotates and an ignition server and a controller that
/// are restarted in the middle of it.
#[tokio::test(flavor = "multi_thread")]
async fn real_three_workers_whatever_restarts_meanwhile() {
    let mut site = Site::start(IgnitionEvidence::Required).await;
    let addresses: Vec<_> = (0..10).map(|n| site.address(n)).collect();
    site.kubelets.live(true, move |n| addresses[n]);
    site.want(0..3).await;
    let first = site.run("first", 3);
    until_found("machines that are on", async || (site.machine_log().len() >= 3).then_some(())).await;
    // Nobody serves yet: machines ask in vain. The token they have becomes the old one.
    site.rotate(FIRST).await;
    site.serve().await;
    until_found("a worker that is served", async || {
        site.workers().await.values().any(|worker| worker.history.fetched.is_some()).then_some(())
    })
    .await;
    site.stop_serving().await;
    first.kill().await;
    site.serve().await;
    let second = site.run("second", 3);
    all_ready(&site, 3).await;
    let mut log = site.machine_log();
    log.sort();
    assert_eq!(log, ["boot worker-0", "boot worker-1", "boot worker-2"], "each was booted once");
    let workers = site.workers().await;
    for worker in workers.values() {
        let history = &worker.history;
        assert!(history.fetched >= history.booted && history.asked >= history.fetched, "{history:?}");
        assert_eq!((worker.incarnation, history.config_hash.as_deref()), (1, Some(FIRST)));
        assert!(
            !site.folder.path().join(format!("hosted/{}.ign", worker.name)).exists(),
            "its pointer is scrubbed"
        );
    }
    let node = site.nodes().get("worker-0").await.unwrap();
    let labels = node.metadata.labels.unwrap();
    assert_eq!((labels["hypershift.openshift.io/nodePool"].as_str(), labels["zone"].as_str()), ("demo", "a"));
    assert!(node.spec.unwrap().taints.unwrap().iter().any(|taint| taint.key == "only"));
    let line = "hardway_hosted_workers{pool=\"demo\",stage=\"ready\"} 3";
    until_found("metrics", async || second.metrics.text().contains(line).then_some(())).await;
    second.stop().await;
    no_token_is_left(&site);
}

/// Neither records nor journal nor anything else in the folder holds a token.
fn no_token_is_left(site: &Site) {
    let found = hardway_testing::run(
        std::process::Command::new("grep")
            .args(["-rlE", "dG9rZW4tdHdv|token-two"])
            .arg(site.folder.path())
            .arg("--exclude-dir=machines"),
    );
    assert!(!found.0, "{}", found.1);
}

/// One is replaced, one is upgraded in place, one is scaled away.
#[tokio::test(flavor = "multi_thread")]
async fn real_one_replaced_all_upgraded_one_scaled_away() {
    let mut site = Site::start(IgnitionEvidence::Ignored).await;
    let addresses: Vec<_> = (0..10).map(|n| site.address(n)).collect();
    site.kubelets.live(false, move |n| addresses[n]);
    site.want(0..3).await;
    let running = site.run("one", 3);
    all_ready(&site, 3).await;

    let before = site.nodes().get(&name(1)).await.unwrap().metadata.uid;
    site.change(&name(1), WantedState::Replaced).await;
    until_found("the second machine under the name", async || {
        let workers = site.workers().await;
        (workers[&name(1)].incarnation == 2 && workers[&name(1)].stage() == WorkerStage::Ready).then_some(())
    })
    .await;
    assert_ne!(site.nodes().get(&name(1)).await.unwrap().metadata.uid, before);

    site.publish(SECOND).await;
    upgrade_in_place(&site, 3).await;

    site.change(&name(2), WantedState::Absent).await;
    until_found("the third worker to be gone", async || (site.workers().await.len() == 2).then_some(()))
        .await;
    assert!(site.nodes().get_opt(&name(2)).await.unwrap().is_none());
    assert_eq!(
        site.machine_log()[3..],
        ["remove worker-1", "boot worker-1", "remove worker-2"].map(str::to_owned)
    );
    running.stop().await;
    let steps: Vec<HostedStep> = hardway_journal::read(&site.folder.path().join(hardway_journal::FILE_NAME))
        .unwrap()
        .iter()
        .filter_map(hardway_journal::Record::fact::<HostedStep>)
        .map(Result::unwrap)
        .collect();
    let of = |worker: &str, step: &str| {
        steps.iter().filter(|one| one.worker == worker && one.step.name() == step).count()
    };
    assert_eq!(
        (of("worker-2", "delete-node"), of("worker-2", "forget"), of("worker-0", "boot")),
        (1, 1, 1),
        "it is all written down"
    );
}

/// Plays the machine-config-daemon and the drainer: both answer to annotations of the node.
pub(crate) async fn upgrade_in_place(site: &Site, count: usize) {
    let pods: Api<Pod> = Api::namespaced(site.hosted.clone(), "demo-upgrade");
    let maps: Api<ConfigMap> = Api::namespaced(site.hosted.clone(), "demo-upgrade");
    let mut upgraded: Vec<String> = Vec::new();
    while upgraded.len() < count {
        let pod = until_found("a daemon", async || {
            let all = pods.list(&Default::default()).await.ok()?.items;
            let names: Vec<String> = all.into_iter().filter_map(|pod| pod.metadata.name).collect();
            assert!(names.len() <= 1, "one at a time: {names:?}");
            names.into_iter().next().filter(|name| !upgraded.contains(name))
        })
        .await;
        let node = pod.strip_prefix("machine-config-daemon-").unwrap();
        let map = maps.get("demo-upgrade").await.unwrap().data.unwrap();
        assert_eq!(map["hash"], SECOND);
        let key = |word: &str| format!("machineconfiguration.openshift.io/{word}");
        until_found("the wish for another config", async || {
            let annotations = site.nodes().get(node).await.unwrap().metadata.annotations?;
            (annotations.get(&key("desiredConfig"))? == SECOND).then_some(())
        })
        .await;
        let annotate = async |annotations: serde_json::Value| {
            let patch = Patch::Merge(json!({"metadata": {"annotations": annotations}}));
            site.nodes().patch(node, &PatchParams::default(), &patch).await.unwrap();
        };
        annotate(json!({key("state"): "Working", key("desiredDrain"): format!("drain-{SECOND}")})).await;
        annotate(json!({key("lastAppliedDrain"): format!("drain-{SECOND}")})).await;
        annotate(json!({key("currentConfig"): SECOND, key("state"): "Done", key("desiredDrain"): format!("uncordon-{SECOND}")})).await;
        annotate(json!({key("lastAppliedDrain"): format!("uncordon-{SECOND}")})).await;
        // Nobody but a kubelet takes a pod's place on a node away.
        until_found("the daemon to be told to go", async || {
            let found = pods.get_opt(&pod).await.unwrap()?;
            found.metadata.deletion_timestamp.map(|_| ())
        })
        .await_or_gone(site, &pod)
        .await;
        upgraded.push(pod);
    }
    until_found("all to have the new config", async || {
        let workers = site.workers().await;
        workers.values().all(|worker| worker.history.config_hash.as_deref() == Some(SECOND)).then_some(())
    })
    .await;
}

/// A pod that is not on a node yet goes at once; one that is waits for its kubelet.
trait AwaitOrGone {
    async fn await_or_gone(self, site: &Site, pod: &str);
}

impl<F: Future<Output = ()>> AwaitOrGone for F {
    async fn await_or_gone(self, site: &Site, pod: &str) {
        let pods: Api<Pod> = Api::namespaced(site.hosted.clone(), "demo-upgrade");
        tokio::select! {
            () = self => {
                let mut kubectl = site.hosted_plane.kubectl();
                kubectl.args(["delete", "pod", "-n", "demo-upgrade", pod, "--force", "--grace-period=0", "--ignore-not-found"]);
                tokio::task::block_in_place(|| succeed(&mut kubectl));
            }
            () = until_found("the daemon to be gone", async || pods.get_opt(pod).await.unwrap().is_none().then_some(())) => {}
        }
    }
}
