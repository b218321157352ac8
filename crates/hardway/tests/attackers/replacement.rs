//! A host is replaced while somebody else approves: an `approve --watch` that began before and knows nothing of it.

use hardway_assets::host_identity::user;
use hardway_journal::{CsrDecided, CsrVerdict};
use hardway_testing::{inside, until};
use serde_json::Value;

use super::cluster::{Cluster, HOST, node_name};
use super::credential::Credential;
use crate::certificate_requests::key::TestKey;
use crate::certificate_requests::pkcs10::Pkcs10Draft;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn real_an_approver_beside_it_lets_in_the_new_generation_and_never_the_old() {
    if !inside() {
        return;
    }
    let cluster = tokio::task::block_in_place(Cluster::start);
    let (serving, approving) = (cluster.serve(), cluster.approve());
    let mut old = cluster.install(HOST).await;
    let since = old.boot();
    tokio::task::block_in_place(|| cluster.until_joined(HOST, since));
    let identity = old.kubeconfig();
    old.cut_power();
    // Who replaces serves by itself; who approves goes on.
    serving.signal("TERM");
    tokio::task::block_in_place(|| serving.end());

    let mut replacing = cluster.site.start(&["node", "replace", HOST, "--apply"]);
    tokio::task::block_in_place(|| replacing.until_said(&format!("{HOST}, by hand:")));
    // The old machine is switched on once more, with a disk that lost its node's certificate.
    old.is_given(&identity);
    old.boot();
    tokio::task::block_in_place(|| until("the old machine is refused", || decided(&cluster, 1).len() > 1));
    old.cut_power();
    asks_with(&cluster, &identity, "old-before").await;

    let mut new = cluster.install(HOST).await;
    let since = new.boot();
    tokio::task::block_in_place(|| cluster.until_joined(HOST, since));
    tokio::task::block_in_place(|| replacing.end().expect(0));
    asks_with(&cluster, &identity, "old-after").await;
    tokio::task::block_in_place(|| {
        until("both are decided", || {
            let all = decided(&cluster, 1);
            ["old-before", "old-after"].iter().all(|name| all.iter().any(|(one, _)| one == name))
        })
    });

    let approved = |generation: u32| {
        let all = decided(&cluster, generation).into_iter();
        all.filter(|(_, verdict)| *verdict == CsrVerdict::Approve).count()
    };
    assert_eq!(
        (approved(1), approved(2)),
        (1, 1),
        "each generation got in once, and the first before it ended"
    );
    assert!(decided(&cluster, 1).len() >= 4, "{:?}", decided(&cluster, 1));
    let approver = {
        approving.signal("TERM");
        tokio::task::block_in_place(|| approving.end())
    };
    let (name, _) = decided(&cluster, 2).remove(0);
    assert!(approver.stdout.contains(&name), "it was approved by another: {}", approver.stdout);
}

/// Requests for a node's certificate by a generation of the host's identity, and what was decided about them in the end.
fn decided(cluster: &Cluster, generation: u32) -> Vec<(String, CsrVerdict)> {
    let user = user(HOST, generation);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let asked: Vec<String> = cluster
        .requests()
        .iter()
        .filter(|request| text(&request["spec"]["username"]) == user)
        .map(|request| text(&request["metadata"]["name"]))
        .collect();
    let facts = cluster.facts::<CsrDecided>();
    let verdict = |name: &String| {
        facts.iter().rev().find(|(_, fact)| fact.request == *name).map(|(_, fact)| fact.verdict)
    };
    asked.iter().filter_map(|name| Some((name.clone(), verdict(name)?))).collect()
}

/// Somebody has the old identity and asks with it, from anywhere.
async fn asks_with(cluster: &Cluster, identity: &str, name: &str) {
    let key = TestKey::p256();
    let pem = Pkcs10Draft::of_node(&node_name(HOST), Vec::new()).to_pem(&key, &key);
    let mut object = super::ask::object(
        pem.as_bytes(),
        hardway_cluster::csr_policy::CLIENT_SIGNER,
        &["digital signature", "client auth"].map(str::to_owned),
        None,
    );
    object["metadata"] = serde_json::json!({"name": name});
    let thief =
        Credential::kubeconfig("the old identity", super::cluster::address(66), &cluster.trusted(), identity);
    let json = [("Content-Type".to_owned(), "application/json".to_owned())];
    let path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    let reply = thief.send(&cluster.api(), "POST", path, &json, &object.to_string()).await;
    assert_eq!(reply.status, 201, "{}", String::from_utf8_lossy(&reply.body));
}
