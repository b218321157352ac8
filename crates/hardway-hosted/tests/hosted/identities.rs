//! Every worker is itself: who asks with another's identity, with everybody's, or with one that is over, gets nothing.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_base::Secret;
use hardway_cluster::csr_policy::IgnitionEvidence;
use hardway_hosted::pointer::{OwnConfig, Pointer, SMALLEST_LIMIT};
use hardway_hosted::worker::{WantedState, WorkerStage};
use hardway_testing::{FirstBoot, own_kubeconfig, succeed, until_found};
use k8s_openapi::api::authorization::v1::SelfSubjectRulesReview;
use k8s_openapi::api::certificates::v1::CertificateSigningRequest;
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::Client;
use kube::api::{Api, ListParams, PostParams};
use serde_json::{Value, json};

use crate::kubelet::{ask_in_the_name_of, ask_with, client_of};
use crate::running::decision;
use crate::site::{Site, name};

const NAMESPACE: &str = "openshift-hardway-hosts";

/// With HyperShift's own ignition server, which tells nobody who fetched: the machine's own identity is all the proof there is. Both
/// machines are on and have not asked yet when the attackers do.
#[tokio::test(flavor = "multi_thread")]
async fn real_a_worker_is_let_in_as_itself_and_nobody_else_is() {
    let mut site = Site::start(IgnitionEvidence::Ignored).await;
    let addresses: Vec<_> = (0..10).map(|n| site.address(n)).collect();
    site.kubelets.broken.lock().unwrap().extend([name(0), name(1)]);
    site.kubelets.live(false, move |n| addresses[n]);
    let running = site.run("one", 2);
    let early = ask_in_the_name_of(&site.hosted, &name(0)).await;
    until_found("a first look", async || decision(&running, &name(0), "hold node-not-declared")).await;
    site.want(0..2).await;
    for n in [0, 1] {
        until_found("a machine", async || site.workers().await.get(&name(n))?.history.booted).await;
    }
    let own = [0, 1].map(|n| pointer_of(&site, n));
    let generation = site.workers().await[&name(0)].history.generation.unwrap();

    // Everybody's identity, before and after power-on; another worker's; and an earlier generation's, whose account was left behind.
    let late = ask_in_the_name_of(&site.hosted, &name(0)).await;
    let others = ask_with(&own[1], &name(0)).await.unwrap();
    let old = left_behind(&site, generation - 1);
    let old = ask_with(&old, &name(0)).await.unwrap();
    for reason in ["deny shared-identity", "deny identity-of-another-host", "deny identity-replaced"] {
        until_found(reason, async || decision(&running, &name(0), reason)).await;
    }
    for request in [&early, &late, &others, &old] {
        until_found("a refusal", async || denied(&site.hosted, request).await).await;
    }
    let mut rights = rules(&client_of(&own[0]).await).await;
    let everybodys = rules(&client_of(&anybody(&site)).await).await;
    rights.retain(|rule| !everybodys.contains(rule));
    assert_eq!(rights, ["create,get,list,watch certificates.k8s.io certificatesigningrequests"]);

    // The machines wake up, and nobody has held them up.
    site.kubelets.broken.lock().unwrap().clear();
    for n in [0, 1] {
        until_found("a worker that is settled", async || site.workers().await.get(&name(n))?.history.settled)
            .await;
    }
    assert!(accounts(&site).await.iter().all(|account| !account.starts_with(&name(1))));
    until_found("the end of its identity", async || is_over(&own[0]).await).await;

    // Another machine under the name is somebody else, also after the record was removed and made again.
    site.change(&name(0), WantedState::Replaced).await;
    until_found("another machine", async || {
        let worker = site.workers().await.remove(&name(0))?;
        (worker.incarnation == 2 && worker.stage() == WorkerStage::Ready).then_some(())
    })
    .await;
    assert!(site.workers().await[&name(0)].history.generation.unwrap() > generation);
    site.change(&name(1), WantedState::Absent).await;
    until_found("it to be gone", async || (site.workers().await.len() == 1).then_some(())).await;
    site.want(1..2).await;
    until_found("it to be back", async || {
        (site.workers().await.get(&name(1))?.stage() == WorkerStage::Ready).then_some(())
    })
    .await;
    running.stop().await;
    let tokens = own.map(|own| token(&own));
    let machines = site.folder.path().join("machines");
    nowhere(site.folder.path(), &machines, &tokens);
}

/// A machine that never became a node: its identity lets one key in, and ends with it.
#[tokio::test(flavor = "multi_thread")]
async fn real_an_identity_ends_with_its_machine() {
    let mut site = Site::start(IgnitionEvidence::Ignored).await;
    let addresses: Vec<_> = (0..10).map(|n| site.address(n)).collect();
    site.kubelets.broken.lock().unwrap().push(name(0));
    site.kubelets.live(false, move |n| addresses[n]);
    let running = site.run("one", 1);
    site.want(0..1).await;
    until_found("a machine", async || site.workers().await.get(&name(0))?.history.booted).await;
    let own = pointer_of(&site, 0);
    // Whoever has it is the machine, once.
    let first = ask_with(&own, &name(0)).await.unwrap();
    until_found("its certificate", async || issued(&site.hosted, &first).await).await;
    let second = ask_with(&own, &name(0)).await.unwrap();
    until_found("a decision", async || decision(&running, &name(0), "hold already-approved")).await;
    // Nobody who makes machines answers: that keeps the machine, and not its identity.
    let away = site.folder.path().join("machines/.away");
    std::fs::write(&away, "").unwrap();
    site.change(&name(0), WantedState::Absent).await;
    until_found("the end of its identity", async || is_over(&own).await).await;
    assert!(!site.workers().await.is_empty());
    std::fs::remove_file(&away).unwrap();
    until_found("it to be gone", async || site.workers().await.is_empty().then_some(())).await;
    assert!(accounts(&site).await.iter().all(|account| !account.starts_with(&name(0))));
    assert!(issued(&site.hosted, &second).await.is_none());
    running.stop().await;
}

/// The machine-config-server's file and ours have one path: the real Ignition takes ours, with its mode, however the other is written.
#[test]
fn the_real_ignition_takes_the_machines_own_kubeconfig() {
    for contents in [
        json!({"source": "data:,everybody%27s"}),
        json!({"source": "data:,everybody%27s", "compression": ""}),
        json!({"source": "data:;base64,H4sIAAAAAAAC/0stSy2qTMpPqVQvBgASVtGSCwAAAA==", "compression": "gzip"}),
    ] {
        let Some(machine) = FirstBoot::new() else { return };
        let theirs = json!({"ignition": {"version": "3.2.0"}, "storage": {"files": [
            {"path": "/etc/kubernetes/kubeconfig", "mode": 0o644, "overwrite": true, "contents": contents},
            {"path": "/etc/kubernetes/kubelet.conf", "mode": 0o644, "contents": {"source": "data:,theirs"}}]}});
        let theirs = format!("data:;base64,{}", STANDARD.encode(theirs.to_string()));
        let pointer = json!({"ignition": {"version": "3.2.0", "config": {"merge": [{"source": theirs}]}}});
        let pointer = Pointer::read(pointer.to_string().as_bytes()).unwrap();
        let kubeconfig = Secret::new("the machine's own");
        let own = OwnConfig { hostname: "worker-0", kubeconfig: &kubeconfig, server: None };
        let own = pointer.for_machine(&own, SMALLEST_LIMIT).unwrap();
        let stage = machine.fetch(&serde_json::from_slice(own.expose()).unwrap());
        assert!(stage.succeeded, "{}", stage.log);
        let stage = machine.files();
        assert!(stage.succeeded, "{}", stage.log);
        let read = |path: &str| std::fs::read_to_string(machine.path(path)).unwrap();
        assert_eq!(read("/etc/kubernetes/kubeconfig"), "the machine's own");
        let mode = std::fs::metadata(machine.path("/etc/kubernetes/kubeconfig")).unwrap().permissions();
        assert_eq!(mode.mode() & 0o7777, 0o600);
        assert_eq!(
            (read("/etc/kubernetes/kubelet.conf"), read("/etc/hostname")),
            ("theirs".into(), "worker-0\n".into())
        );
    }
}

/// What a machine that is on was booted with.
fn pointer_of(site: &Site, n: usize) -> String {
    let path = site.folder.path().join("hosted").join(format!("{}.ign", name(n)));
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    own_kubeconfig(&std::fs::read(path).unwrap()).unwrap()
}

/// An account of an earlier generation of the first worker that somebody forgot to delete.
fn left_behind(site: &Site, generation: u32) -> String {
    holder(site, (NAMESPACE, &format!("{}.{generation}", name(0))))
}

/// An account that was given no right.
fn anybody(site: &Site) -> String {
    holder(site, ("default", "anybody"))
}

/// A kubeconfig with a token of a new account.
fn holder(site: &Site, (namespace, account): (&str, &str)) -> String {
    let plane = &site.hosted_plane;
    tokio::task::block_in_place(|| {
        succeed(plane.kubectl().args(["create", "serviceaccount", account, "-n", namespace]));
        let token = succeed(plane.kubectl().args(["create", "token", account, "-n", namespace]));
        let holder = plane.token_holder(account, token.trim());
        let flat = ["config", "view", "--raw", "--flatten"];
        succeed(plane.kubectl_with(holder.kubeconfig()).args(flat))
    })
}

async fn accounts(site: &Site) -> Vec<String> {
    let accounts: Api<ServiceAccount> = Api::namespaced(site.hosted.clone(), NAMESPACE);
    let all = accounts.list(&ListParams::default()).await.unwrap().items;
    all.into_iter().filter_map(|account| account.metadata.name).collect()
}

async fn denied(client: &Client, request: &str) -> Option<()> {
    let requests: Api<CertificateSigningRequest> = Api::all(client.clone());
    let status = requests.get(request).await.unwrap().status?;
    assert!(status.certificate.is_none(), "{request} got in");
    status.conditions?.iter().any(|condition| condition.type_ == "Denied").then_some(())
}

/// Whether the API server knows nobody with it any more. It remembers for ten seconds whom it knew.
async fn is_over(kubeconfig: &str) -> Option<()> {
    match ask_with(kubeconfig, &name(0)).await {
        Err(kube::Error::Api(status)) if status.code == 401 => Some(()),
        answer => answer.map(|_| None).unwrap(),
    }
}

async fn issued(client: &Client, request: &str) -> Option<()> {
    let requests: Api<CertificateSigningRequest> = Api::all(client.clone());
    requests.get(request).await.unwrap().status?.certificate.map(drop)
}

/// All that somebody may, a line for each rule.
async fn rules(client: &Client) -> Vec<String> {
    let review = json!({"spec": {"namespace": NAMESPACE}});
    let review: SelfSubjectRulesReview = serde_json::from_value(review).unwrap();
    let made = Api::all(client.clone()).create(&PostParams::default(), &review).await.unwrap();
    let rules = made.status.unwrap().resource_rules.into_iter().map(|rule| {
        let mut verbs = rule.verbs;
        verbs.sort();
        let words = |list: Option<Vec<String>>| list.unwrap_or_default().join(",");
        format!("{} {} {}", verbs.join(","), words(rule.api_groups), words(rule.resources))
    });
    rules.collect()
}

fn token(kubeconfig: &str) -> String {
    let config: Value = serde_json::from_str(kubeconfig).unwrap();
    config["users"][0]["user"]["token"].as_str().unwrap().to_owned()
}

/// In no file of the working folder, but for what plays the machines.
fn nowhere(folder: &Path, machines: &Path, tokens: &[String]) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path == machines {
            continue;
        }
        if path.is_dir() {
            nowhere(&path, machines, tokens);
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        for token in tokens {
            let inside = STANDARD.encode(token);
            assert!(!text.contains(token) && !text.contains(&inside), "{}", path.display());
        }
    }
}
