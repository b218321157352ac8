//! Whoever can write into the HostedCluster's namespace, and wants more.

use hardway_cluster::csr_policy::IgnitionEvidence;
use hardway_hosted::HostedError;
use hardway_hosted::controller::{ControllerEvent, Duty};
use hardway_hosted::expected::Witness;
use hardway_hosted::worker::{WantedState, Worker, WorkerStage};
use hardway_journal::{
    ActionFinished, ActionStarted, CsrDecided, CsrIntended, Entry, Face, Fact, HostedMachine,
    IgnitionRedeemed, Journal, NodeJoined, Program, Step,
};
use hardway_testing::{succeed, until_found};
use jiff::Timestamp;
use k8s_openapi::api::certificates::v1::CertificateSigningRequest;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::kubelet::ask_in_the_name_of;
use crate::running::{Running, decision};
use crate::site::{Site, name};

/// The Secret that HyperShift's kubeconfig lies in, written by somebody else.
#[tokio::test(flavor = "multi_thread")]
async fn real_a_kubeconfig_from_a_secret_runs_nothing_and_reads_nothing() {
    let site = Site::start(IgnitionEvidence::Ignored).await;
    let secrets = site.management.api::<Secret>();
    let good = site.management.admin_kubeconfig().await.unwrap();
    let good: Value = hardway_assets::yaml::read(good.expose_text()).unwrap().to_json();
    let put = async |config: &Value| {
        let patch = json!({"stringData": {"kubeconfig": config.to_string()}});
        let patch = Patch::Merge(patch);
        secrets.patch("demo-admin-kubeconfig", &PatchParams::default(), &patch).await.unwrap();
    };
    put(&good).await;
    site.management.hosted_client(None).await.unwrap();
    // What a person is given to use with kubectl is what was looked at, not the text: here with a comment, which has no place in it.
    let text = format!("# not looked at\n{good}\n");
    let patch = Patch::Merge(json!({"stringData": {"kubeconfig": text}}));
    secrets.patch("demo-admin-kubeconfig", &PatchParams::default(), &patch).await.unwrap();
    let printed = site.management.admin_kubeconfig().await.unwrap();
    assert!(!printed.expose_text().contains("not looked at"), "the Secret's own text");
    let printed: Value = serde_json::from_str(printed.expose_text()).unwrap();
    assert_eq!(printed["current-context"], "own");
    assert_eq!(printed["clusters"][0]["cluster"]["server"], good["clusters"][0]["cluster"]["server"]);
    let file = site.folder.path().join("printed");
    std::fs::write(&file, printed.to_string()).unwrap();
    let nodes = ["get", "nodes", "-o", "name"];
    tokio::task::block_in_place(|| succeed(site.hosted_plane.kubectl_with(&file).args(nodes)));

    let marker = site.folder.path().join("was-here");
    let script = format!("touch {}", marker.display());
    let mut hostile = good.clone();
    let user = hostile["users"][0]["user"].as_object_mut().unwrap();
    user.clear();
    let exec =
        json!({"apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "args": ["-c", script]});
    user.insert("exec".to_owned(), exec);
    user.insert("tokenFile".to_owned(), json!("/etc/hostname"));
    user.insert("as".to_owned(), json!("system:admin"));
    hostile["clusters"][0]["cluster"]["proxy-url"] = json!("http://127.0.0.1:9");
    hostile["clusters"][0]["cluster"]["insecure-skip-tls-verify"] = json!(true);
    put(&hostile).await;
    let refused = site.management.hosted_client(None).await.map(drop).unwrap_err();
    let HostedError::KubeconfigRefused { secret, flaws } = &refused else { panic!("{refused}") };
    assert_eq!((secret.as_str(), flaws.len()), ("demo-admin-kubeconfig", 5), "{flaws:#?}");
    for field in ["exec", "tokenFile", "as", "proxy-url", "insecure-skip-tls-verify"] {
        assert!(flaws.iter().any(|flaw| flaw.contains(&format!(".{field}: "))), "{field}: {flaws:#?}");
    }
    // Beside one that is good, and not used.
    let mut beside = good.clone();
    beside["users"]
        .as_array_mut()
        .unwrap()
        .push(json!({"name": "other", "user": {"exec": {"command": "sh"}}}));
    put(&beside).await;
    let refused = site.management.hosted_client(None).await.map(drop).unwrap_err().to_string();
    assert!(refused.contains("users[1].user.exec: it would run a program on this host"), "{refused}");
    assert!(!marker.exists());
}

/// Records under the names of the folder's own machines, of another pool's and another cluster's, and of nodes that nobody here made.
#[tokio::test(flavor = "multi_thread")]
async fn real_a_record_touches_no_machine_of_anybody_else() {
    let mut site = Site::start(IgnitionEvidence::Ignored).await;
    let addresses: Vec<_> = (0..10).map(|n| site.address(n)).collect();
    site.kubelets.live(false, move |n| addresses[n]);
    let removal = |machine: &str| {
        let program = site.folder.path().join("machine");
        Step::Run(Program::new(program.display().to_string(), ["remove", machine]))
    };
    // The folder's own master and a worker of it; a machine of another pool, and one of another cluster.
    for machine in ["master-0", "worker-1", "worker-2", "worker-3"] {
        let action = format!("machine/{machine}/first-boot");
        let (why, does, undo) = (String::new(), Vec::new(), vec![removal(machine)]);
        match machine {
            "worker-2" => write(&site, &of(machine, "clusters/demo", "other")),
            "worker-3" => write(&site, &of(machine, "clusters/elsewhere", "demo")),
            _ => {}
        }
        write(&site, &ActionStarted { action: action.clone(), why, does, undo });
        write(&site, &ActionFinished { action });
    }
    // A node that came without a machine of ours.
    let node = serde_json::from_value(json!({"metadata": {"name": "worker-4"}})).unwrap();
    site.nodes().create(&PostParams::default(), &node).await.unwrap();
    let records = site.management.api::<ConfigMap>();
    for machine in ["master-0", "worker-1", "worker-2", "worker-3", "worker-4"] {
        let mut worker = Worker::planned(machine, "demo", &[], Timestamp::now());
        worker.wanted = WantedState::Absent;
        records.create(&PostParams::default(), &worker.to_config_map("clusters", "demo")).await.unwrap();
    }
    // Under a name that is a path: not as an object's name, so in the text.
    let mut strange =
        Worker::planned("worker-5", "demo", &[], Timestamp::now()).to_config_map("clusters", "demo");
    let text = strange.data.as_mut().unwrap().get_mut("worker").unwrap();
    *text = text.replace("worker-5", "../worker-5");
    records.create(&PostParams::default(), &strange).await.unwrap();
    site.want(0..1).await;
    let running = site.run("one", 6);
    for machine in ["master-0", "worker-1", "worker-2", "worker-3"] {
        let trouble = until_found(&format!("a refusal for {machine}"), async || {
            let map = records.get(&format!("hardway-worker-{machine}")).await.unwrap();
            Worker::from_config_map(&map).unwrap().history.trouble
        })
        .await;
        assert_eq!(trouble.reason.to_string(), "remove-machine-failed");
        assert!(
            trouble.message.starts_with(&format!("not touching machine {machine}: ")),
            "{}",
            trouble.message
        );
    }
    until_found("the record of a node that came by itself to be gone", async || {
        records.get_opt("hardway-worker-worker-4").await.unwrap().is_none().then_some(())
    })
    .await;
    assert!(site.nodes().get_opt("worker-4").await.unwrap().is_some(), "the node is whoever's made it");
    until_found("the worker that is meant", async || {
        let map = records.get("hardway-worker-worker-0").await.unwrap();
        (Worker::from_config_map(&map).unwrap().stage() == WorkerStage::Ready).then_some(())
    })
    .await;
    assert_eq!(site.machine_log(), ["boot worker-0"].map(str::to_owned), "nothing else was touched");
    running.stop().await;
}

/// Whoever administers the hosted cluster makes nodes and requests there under the names of the folder's own hosts, and writes verdicts
/// into them in our name. The folder's journal hears of none: there a host that has joined gets no config any more.
#[tokio::test(flavor = "multi_thread")]
async fn real_what_is_decided_in_a_hosted_cluster_is_not_the_folders() {
    let mut site = Site::start(IgnitionEvidence::Ignored).await;
    let addresses: Vec<_> = (0..10).map(|n| site.address(n)).collect();
    site.kubelets.live(false, move |n| addresses[n]);
    let forged = ask_in_the_name_of(&site.hosted, "master-0").await;
    let requests: Api<CertificateSigningRequest> = Api::all(site.hosted.clone());
    let now = Timestamp::now().to_string();
    let condition = json!({"type": "Approved", "status": "True", "reason": "FirstClient",
        "message": "hardway: first-client: x", "lastUpdateTime": now});
    let patch = Patch::Merge(json!({"status": {"conditions": [condition]}}));
    requests.patch_approval(&forged, &PatchParams::default(), &patch).await.unwrap();
    site.want(0..1).await;
    let running = site.run("one", 1);
    let own = site.folder.path().join("hosted/clusters/clusters.demo").join(hardway_journal::FILE_NAME);
    let facts = |path: &std::path::Path| {
        let records = if path.exists() { hardway_journal::read(path).unwrap() } else { Vec::new() };
        let decided = records.iter().filter_map(|record| record.fact::<CsrDecided>()?.ok());
        let nodes: Vec<String> = decided.map(|decided| decided.node).collect();
        let joined = records.iter().filter_map(|record| record.fact::<NodeJoined>()?.ok());
        (nodes, joined.map(|joined| joined.host).collect::<Vec<_>>())
    };
    until_found("the worker, and all that is decided in the hosted cluster's journal", async || {
        let (decided, joined) = facts(&own);
        let has = |name: &str| decided.iter().any(|node| node == name);
        (has("master-0") && has(&name(0)) && joined == [name(0)]).then_some(())
    })
    .await;
    running.stop().await;
    let folders = site.folder.path().join(hardway_journal::FILE_NAME);
    assert_eq!(facts(&folders), (Vec::new(), Vec::new()), "and nothing in the folder's");
    assert!(
        hardway_journal::read(&folders).unwrap().iter().all(|record| record.fact::<CsrIntended>().is_none())
    );
}

/// A token of one pool lets nobody in as a worker of another, from whatever address.
#[tokio::test(flavor = "multi_thread")]
async fn real_a_config_of_another_pool_lets_nobody_in() {
    let mut site = Site::start(IgnitionEvidence::Required).await;
    let addresses: Vec<_> = (0..10).map(|n| site.address(n)).collect();
    site.kubelets.live(false, move |n| addresses[n]);
    let fetched = |pool: &str| IgnitionRedeemed {
        host: pool.to_owned(),
        digest: "1".to_owned(),
        source: site.address(0),
        face: Face::Hosted,
    };
    site.want(0..1).await;
    let running = site.run("one", 1);
    until_found("the machine", async || site.workers().await.get(&name(0))?.history.booted).await;
    write(&site, &fetched("clusters/other"));
    write(&site, &fetched("elsewhere/demo"));
    until_found("a decision", async || decision(&running, &name(0), "hold ignition-not-redeemed")).await;
    tokio::time::sleep(std::time::Duration::from_secs(7)).await;
    let history = site.workers().await.remove(&name(0)).unwrap().history;
    assert!(history.joined.is_none() && history.fetched.is_none(), "{history:?}");
    write(&site, &fetched("clusters/demo"));
    until_found("the worker", async || {
        (site.workers().await.get(&name(0))?.stage() == WorkerStage::Ready).then_some(())
    })
    .await;
    running.stop().await;
}

/// The controller in the cluster has no journal of the server's. What the one beside the server saw is in the records, and counts
/// only where a person says so.
#[tokio::test(flavor = "multi_thread")]
async fn real_a_record_is_proof_where_a_person_says_so() {
    for witness in [Witness::Journal, Witness::Records] {
        let mut site = Site::start(IgnitionEvidence::Required).await;
        let addresses: Vec<_> = (0..10).map(|n| site.address(n)).collect();
        site.serve().await;
        site.kubelets.live(true, move |n| addresses[n]);
        let elsewhere = tempfile::tempdir().unwrap();
        let (mut cluster, told) = site.controller("cluster", 1);
        (cluster.machines, cluster.folder) = (None, elsewhere.path().to_owned());
        cluster.witness = witness;
        let cluster = Running::start(cluster, told);
        let leads = ControllerEvent::Leading(Duty::Cluster);
        until_found("its lease", async || cluster.told.lock().unwrap().contains(&leads).then_some(())).await;
        let machines = site.run("machines", 1);
        site.want(0..1).await;
        match witness {
            Witness::Records => {
                until_found("the worker", async || {
                    (site.workers().await.get(&name(0))?.stage() == WorkerStage::Ready).then_some(())
                })
                .await;
            }
            Witness::Journal => {
                until_found("what was fetched", async || site.workers().await.get(&name(0))?.history.fetched)
                    .await;
                until_found("a decision", async || {
                    decision(&cluster, &name(0), "hold ignition-not-redeemed")
                })
                .await;
                tokio::time::sleep(std::time::Duration::from_secs(6)).await;
                assert!(site.nodes().get_opt(&name(0)).await.unwrap().is_none());
            }
        }
        machines.stop().await;
        cluster.stop().await;
    }
}

fn of(machine: &str, cluster: &str, node_pool: &str) -> HostedMachine {
    HostedMachine {
        machine: machine.to_owned(),
        cluster: cluster.to_owned(),
        node_pool: node_pool.to_owned(),
    }
}

fn write<F: Fact>(site: &Site, fact: &F) {
    let journal = Journal::open(&site.folder.path().join(hardway_journal::FILE_NAME)).unwrap();
    journal.append(&[Entry::of(Timestamp::now(), fact)]).unwrap();
}
