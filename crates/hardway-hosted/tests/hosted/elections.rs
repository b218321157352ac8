//! Several controllers, strangers, and troubles.

use hardway_cluster::csr_policy::IgnitionEvidence;
use hardway_hosted::controller::{ControllerEvent, Duty};
use hardway_hosted::worker::{WantedState, WorkerStage};
use hardway_testing::until_found;

use crate::kubelet::set_ready;
use crate::running::Running;
use crate::site::{Site, name};

/// Two controllers at once: one acts, and when it is killed the other goes on.
#[tokio::test(flavor = "multi_thread")]
async fn real_of_two_controllers_one_acts() {
    let mut site = Site::start(IgnitionEvidence::Ignored).await;
    let addresses: Vec<_> = (0..10).map(|n| site.address(n)).collect();
    site.kubelets.live(false, move |n| addresses[n]);
    let (one, two) = (site.run("one", 4), site.run("two", 4));
    site.want(0..2).await;
    let ready = async |count: usize| {
        until_found(&format!("{count} Ready"), async || {
            let workers = site.workers().await;
            (workers.values().filter(|worker| worker.stage() == WorkerStage::Ready).count() == count)
                .then_some(())
        })
        .await;
    };
    ready(2).await;
    let took = |told: &[ControllerEvent]| {
        told.iter().filter(|one| matches!(one, ControllerEvent::Took { .. })).count()
    };
    let acts = [took(&one.told.lock().unwrap()), took(&two.told.lock().unwrap())];
    let leads = |told: &[ControllerEvent]| {
        told.iter().filter(|one| matches!(one, ControllerEvent::Leading(_))).count()
    };
    let leading = [leads(&one.told.lock().unwrap()), leads(&two.told.lock().unwrap())];
    // The two leases may be in different hands; whoever holds none does nothing.
    assert_eq!(leading.iter().sum::<usize>(), 2, "{leading:?}");
    assert!(leading.iter().zip(acts).all(|(leads, acts)| *leads > 0 || acts == 0), "{leading:?} {acts:?}");
    one.kill().await;
    site.want(2..4).await;
    ready(4).await;
    assert_eq!(site.machine_log().len(), 4, "nothing was booted twice: {:?}", site.machine_log());
    two.stop().await;
}

/// The two leases in different hands, on different hosts: one has the cluster and no machines, the other has the machines and the journal
/// of the ignition server, which only it sees. Neither waits for the other for ever, and no pointer stays behind.
#[tokio::test(flavor = "multi_thread")]
async fn real_cluster_and_machines_in_different_hands() {
    let mut site = Site::start(IgnitionEvidence::Required).await;
    let addresses: Vec<_> = (0..10).map(|n| site.address(n)).collect();
    site.kubelets.live(true, move |n| addresses[n]);
    site.serve().await;
    let elsewhere = tempfile::tempdir().unwrap();
    let (mut cluster, told) = site.controller("cluster", 1);
    (cluster.machines, cluster.folder) = (None, elsewhere.path().to_owned());
    cluster.policy.ignition = IgnitionEvidence::Ignored;
    let cluster = Running::start(cluster, told);
    let leads = |running: &Running, of| running.told.lock().unwrap().contains(&ControllerEvent::Leading(of));
    until_found("the cluster's lease", async || leads(&cluster, Duty::Cluster).then_some(())).await;
    let machines = site.run("machines", 1);
    site.want(0..1).await;
    until_found("a worker whose first boot is over", async || {
        site.workers().await.get(&name(0))?.history.settled
    })
    .await;
    assert!(leads(&machines, Duty::Machines) && !leads(&machines, Duty::Cluster));
    let history = site.workers().await.remove(&name(0)).unwrap().history;
    assert!(history.fetched.is_some(), "only whoever has the machines saw it: {history:?}");
    assert!(!site.folder.path().join("hosted/worker-0.ign").exists(), "its pointer is gone");
    site.change(&name(0), WantedState::Absent).await;
    until_found("the worker to be gone", async || site.workers().await.is_empty().then_some(())).await;
    assert_eq!(site.machine_log(), ["boot worker-0", "remove worker-0"].map(str::to_owned));
    machines.stop().await;
    cluster.stop().await;
}

/// An approver that cannot write down what it decides ends; while its controller leads, nobody else approves. So another one follows.
#[tokio::test(flavor = "multi_thread")]
async fn real_an_approver_that_gave_up_is_followed_by_another() {
    let mut site = Site::start(IgnitionEvidence::Ignored).await;
    let addresses: Vec<_> = (0..10).map(|n| site.address(n)).collect();
    site.kubelets.live(false, move |n| addresses[n]);
    let own = site.folder.path().join("hosted/clusters/clusters.demo");
    let log = own.join(hardway_assets::work_paths::APPROVAL_LOG);
    std::fs::create_dir_all(&log).unwrap();
    let running = site.run("one", 1);
    site.want(0..1).await;
    until_found("an approver that gives up", async || {
        let told = running.told.lock().unwrap();
        told.iter().any(|one| matches!(one, ControllerEvent::Trouble(_))).then_some(())
    })
    .await;
    std::fs::remove_dir(&log).unwrap();
    until_found("the worker", async || {
        (site.workers().await.get(&name(0))?.stage() == WorkerStage::Ready).then_some(())
    })
    .await;
    running.stop().await;
}

/// A node nobody asked for gets nothing, and a worker that breaks is told and replaced.
#[tokio::test(flavor = "multi_thread")]
async fn real_strangers_stay_out_and_the_unwell_are_replaced() {
    let mut site = Site::start(IgnitionEvidence::Ignored).await;
    site.settings.unready = jiff::SignedDuration::from_secs(3);
    site.settings.unreachable = jiff::SignedDuration::from_secs(1);
    site.patch_pool(serde_json::json!({"spec": {"management": {"autoRepair": true}}})).await;
    let addresses: Vec<_> = (0..10).map(|n| site.address(n)).collect();
    site.kubelets.live(false, move |n| addresses[n]);
    site.want(0..1).await;
    let running = site.run("one", 1);
    // A machine that nobody asked for boots, too.
    std::fs::write(site.folder.path().join("machines").join(name(7)), "{}").unwrap();
    until_found("a decision about the stranger", async || {
        let told = running.told.lock().unwrap();
        told.iter().any(|one| matches!(one, ControllerEvent::Decided { node, what } if *node == name(7) && what.starts_with("hold"))).then_some(())
    })
    .await;
    until_found("the worker", async || {
        (site.workers().await.get(&name(0))?.stage() == WorkerStage::Ready).then_some(())
    })
    .await;
    assert!(site.nodes().get_opt(&name(7)).await.unwrap().is_none());
    set_ready(&site.hosted, &name(0), "Unknown").await;
    until_found("a new machine", async || {
        let worker = site.workers().await.remove(&name(0))?;
        (worker.incarnation == 2 && worker.stage() == WorkerStage::Ready && worker.repairs.len() == 1)
            .then_some(())
    })
    .await;
    assert_eq!(site.machine_log(), ["boot worker-0", "remove worker-0", "boot worker-0"].map(str::to_owned));
    running.stop().await;
}
