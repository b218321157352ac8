//! A host's life, with everybody at its door.

use std::sync::Arc;
use std::time::Duration;

use hardway_testing::{Running, inside};

use super::attacker::Loot;
use super::cluster::{BAIT, COMPROMISED, Cluster, HOST, Host, headers, node_name};
use super::report::Report;
use super::siege::{Moment, Siege, Size};

/// Long enough that a host joins in the middle of it.
const BESIDE_A_JOIN: Duration = Duration::from_secs(8);

fn size() -> Size {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    Size {
        attempts: number("HARDWAY_ATTACKS").unwrap_or(12) as usize,
        seed: number("HARDWAY_SEED").unwrap_or(1),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn real_nobody_gets_in_and_every_host_does() {
    if !inside() {
        return;
    }
    let size = size();
    let cluster = Arc::new(tokio::task::block_in_place(Cluster::start));
    let mut report = Report::default();
    let (serving, approving) = (cluster.serve(), cluster.approve());
    cluster.serves_hosted_workers().await;

    let (worker, quiet) = joins(&cluster, COMPROMISED).await;
    report.joined("in quiet", quiet);
    let mut loot = tokio::task::block_in_place(|| Loot::new(&cluster, &worker));
    report.add(besieged(&cluster, Moment::BeforeConfig, &loot, size).await);

    let siege = Siege::new(&cluster, Moment::BeforeJoin, &loot, size);
    let mut host = cluster.install(HOST).await;
    let siege = tokio::spawn(siege.run(BESIDE_A_JOIN));
    tokio::time::sleep(Duration::from_secs(1)).await;
    let took = boots(&cluster, &mut host).await;
    report.joined(Moment::BeforeJoin.name(), took);
    report.add(siege.await.unwrap());
    loot.old_identities.push(host.kubeconfig());
    report.add(besieged(&cluster, Moment::AfterJoin, &loot, size).await);
    ends(serving);
    ends(approving);

    report.add(replaced(&cluster, &mut host, &mut loot, size).await);
    report.add(recovered(&cluster, &mut host, &mut loot, size).await);
    report.settle(&cluster.requests());
    report.write(size.seed);
    report.judge();
    nobody_else_is_in(&cluster);
}

/// The machine is another one: what the old one had is worth nothing, and the new one joins.
async fn replaced(cluster: &Arc<Cluster>, host: &mut Host, loot: &mut Loot, size: Size) -> Report {
    host.cut_power();
    let mut replacing = cluster.site.start(&["node", "replace", HOST, "--apply"]);
    replacing.until_said(&format!("{HOST}, by hand:"));
    loot.pointers.push(headers(&cluster.pointer(HOST)));
    let siege = tokio::spawn(Siege::new(cluster, Moment::Replacing, loot, size).run(BESIDE_A_JOIN));
    *host = cluster.install(HOST).await;
    let took = boots(cluster, host).await;
    tokio::task::block_in_place(|| replacing.end().expect(0));
    // Whoever asked last is decided about by those who approve from now on.
    let (serving, approving) = (cluster.serve(), cluster.approve());
    let mut report = siege.await.unwrap();
    ends(serving);
    ends(approving);
    report.joined(Moment::Replacing.name(), took);
    report
}

/// The machine was off until its certificates had ended: its next identity is brought to it, and it comes back.
async fn recovered(cluster: &Arc<Cluster>, host: &mut Host, loot: &mut Loot, size: Size) -> Report {
    host.cut_power();
    loot.old_identities.push(host.kubeconfig());
    let before = cluster.kubeconfig_of(HOST);
    let serving = cluster.serve();
    let mut recovering = cluster.site.start(&["recover", "certs", "--silence", "5s"]);
    let brought = || cluster.kubeconfig_of(HOST) != before;
    tokio::task::block_in_place(|| recovering.until_so("the host's next identity", brought));
    let siege = tokio::spawn(Siege::new(cluster, Moment::Recovering, loot, size).run(BESIDE_A_JOIN));
    host.is_given(&cluster.kubeconfig_of(HOST));
    let took = boots(cluster, host).await;
    // It would wait for what strangers have asked, too.
    tokio::task::block_in_place(|| recovering.interrupt());
    let approving = cluster.approve();
    let mut report = siege.await.unwrap();
    ends(serving);
    ends(approving);
    report.joined(Moment::Recovering.name(), took);
    report
}

async fn besieged(cluster: &Arc<Cluster>, moment: Moment, loot: &Loot, size: Size) -> Report {
    Siege::new(cluster, moment, loot, size).run(Duration::ZERO).await
}

/// In good order: an approver that is killed keeps the next one waiting for its lease.
fn ends(run: Running) {
    run.signal("TERM");
    tokio::task::block_in_place(|| run.end());
}

/// A host is installed and joins.
async fn joins(cluster: &Cluster, name: &'static str) -> (Host, Duration) {
    let mut host = cluster.install(name).await;
    let took = boots(cluster, &mut host).await;
    (host, took)
}

async fn boots(cluster: &Cluster, host: &mut Host) -> Duration {
    let since = host.boot();
    tokio::task::block_in_place(|| cluster.until_joined(host.name, since))
}

/// What the cluster and the journal say at the end, whatever was said before.
fn nobody_else_is_in(cluster: &Cluster) {
    let nodes = cluster.plane.get(&["nodes"]);
    let mut names: Vec<&str> = nodes["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| node["metadata"]["name"].as_str().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(names, [HOST, COMPROMISED].map(node_name));
    for request in cluster.requests() {
        let name = request["metadata"]["name"].as_str().unwrap();
        let is_attack = name.starts_with("attack-") || name == BAIT;
        let conditions = request["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let is_approved = conditions.iter().any(|condition| condition["type"] == "Approved");
        let is_issued = request["status"]["certificate"].is_string();
        assert!(!is_attack || !is_approved && !is_issued, "{request}");
    }
    for (host, source, right) in cluster.redemptions() {
        assert_eq!(source, right, "the config of {host} went elsewhere");
    }
    assert!(cluster.has_joined(HOST) && cluster.has_joined(COMPROMISED));
}
