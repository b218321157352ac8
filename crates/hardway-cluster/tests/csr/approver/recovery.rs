//! Nodes that were off until their certificates had ended.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use hardway_cluster::csr_policy::{CsrVerdict, ReasonCode};
use hardway_cluster::declared::HostIdentity;
use hardway_cluster::recovery::{Recovery, Standing};
use hardway_journal::CsrDecided;
use hardway_testing::{Machine, own_address, succeed, until_found};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::{Api, DeleteParams, ObjectMeta, Patch, PatchParams, PostParams};
use serde_json::json;

use super::lab::{Lab, name, user};
use crate::csr::support::key::TestKey;

/// With times that suit a test, except the pause: kubelets renew their leases every ten seconds.
fn recovery(lab: &Lab, identity: &str) -> (Recovery, Arc<std::sync::Mutex<Vec<String>>>) {
    let (approver, told) = lab.approver(identity);
    let silence = SignedDuration::from_secs(5);
    (Recovery { silence, quiet: Duration::from_secs(3), ..Recovery::new(approver) }, told)
}

#[tokio::test(flavor = "multi_thread")]
async fn real_a_kubelet_whose_certificates_have_ended_comes_back() {
    let mut lab = Lab::start(1).await;
    let address = own_address();
    lab.declared.nodes[0].addresses = vec![address];
    let (mut machine, again) = tokio::task::block_in_place(|| {
        let plane = lab.plane.lock().unwrap();
        let who = plane.host_identity(&name(0), 1);
        let machine = Machine::new(&plane, lab.folder.path(), &name(0), address, &who);
        (machine, plane.host_identity(&name(0), 2))
    });
    let approver = lab.run("of the install");
    machine.boot();
    approver.until_told(&format!("joined {}", name(0))).await;
    approver.stop().await;

    machine.cut_power();
    tokio::task::block_in_place(|| months_pass(&lab));
    machine.boot();
    until_found("a request that the ordinary policy holds", async || {
        let (approver, _) = lab.approver("an ordinary run");
        let summary = approver.once(std::future::pending()).await.unwrap();
        (summary.held == 1).then_some(())
    })
    .await;

    // Its next generation is put in place, and what it asked for with the one before is worth nothing.
    let since = Some(Timestamp::from_second(Timestamp::now().as_second()).unwrap());
    lab.declared.nodes[0].identity = Some(HostIdentity { user: user(0, 2), since, in_place: true });
    let (mut recovery, told) = recovery(&lab, "a recovery");
    recovery.kubelet_port = machine.port();
    let found = until_found("a node that has been silent for long enough", async || {
        let found = recovery.assess().await.unwrap();
        (found.kubelets[0].standing == Standing::Silent).then_some(found)
    })
    .await;
    assert_eq!(found.kubelets[0].waiting.last().map(|one| one.kind), Some("client"), "{found:?}");
    machine.cut_power();
    machine.becomes(&again);
    machine.boot();
    let recovered = recovery.run(&found, std::future::pending()).await.unwrap();
    assert_eq!((recovered.back, recovered.silent), (vec![name(0)], Vec::new()));
    let let_in = lab.facts::<CsrDecided>().into_iter().find(|one| one.reason == ReasonCode::Rejoin).unwrap();
    assert_eq!(let_in.verdict, CsrVerdict::Approve);
    assert_eq!(let_in.username, user(0, 2));
    assert!(let_in.evidence.iter().any(|line| line.contains("its identity was replaced at")), "{let_in:?}");
    let denied = |told: &Vec<String>| told.iter().any(|line| line.ends_with("identity-replaced"));
    assert!(denied(&told.lock().unwrap()), "{told:?}");

    // What it serves with is new as well, and says until when the cluster can be off.
    until_found("a serving certificate", async || {
        let found = recovery.assess().await.unwrap();
        let (end, node) = found.can_be_off_until()?;
        (end > Timestamp::now() && node == name(0)).then_some(())
    })
    .await;
}

/// Nobody waits for months: the kubelet's certificates are exchanged for ones of the same keys that have ended.
fn months_pass(lab: &Lab) {
    let script = r#"set -euo pipefail
        ca=$1; cd "$2"; touch index; echo 1000 >serial
        printf '[ca]\ndefault_ca=a\n[a]\ndatabase=index\nserial=serial\nnew_certs_dir=.\ndefault_md=sha256\npolicy=p\nunique_subject=no\nx509_extensions=e\n[p]\nO=optional\nCN=supplied\n[e]\nextendedKeyUsage=clientAuth,serverAuth\n' >ca.conf
        for kind in client server; do
            current=kubelet-pki/kubelet-$kind-current.pem
            openssl pkey -in "$current" -out old.key
            subject=$(openssl x509 -in "$current" -noout -subject -nameopt multiline | sed -n 's/^ *organizationName *= /\/O=/p; s/^ *commonName *= /\/CN=/p' | tr -d '\n')
            openssl req -new -key old.key -subj "$subject" -out old.csr
            openssl ca -batch -notext -config ca.conf -cert "$ca/ca.crt" -keyfile "$ca/ca.key" -in old.csr -startdate 20200101000000Z -enddate 20200201000000Z -out old.crt
            cat old.crt old.key >"$(readlink -f "$current")"
        done"#;
    let plane = lab.plane.lock().unwrap();
    let folders = [plane.folder(), lab.folder.path()];
    succeed(Command::new("bash").args(["-c", script, "bash"]).args(folders));
}

#[tokio::test(flavor = "multi_thread")]
async fn real_only_silent_nodes_from_stock_pointers_are_let_in_and_only_once() {
    let mut lab = Lab::start(4).await;
    lab.boot_from_stock_pointers();
    for n in [0, 1, 3] {
        lab.register(n).await;
    }
    let alive = keep_alive(&lab, 1).await;
    let keys = [(); 6].map(|()| TestKey::p256());
    let before = lab.ask_shared(0, &TestKey::p256()).await;
    let reports = lab.ask_shared(1, &keys[1]).await;
    let new = lab.ask_shared(2, &keys[2]).await;

    let (recovery, told) = recovery(&lab, "a recovery");
    let found = recovery.assess().await.unwrap();
    let standings: Vec<Standing> = found.kubelets.iter().map(|one| one.standing).collect();
    assert_eq!(
        standings,
        [Standing::Silent, Standing::Reports, Standing::Absent, Standing::Silent],
        "{found:?}"
    );
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(async move {
        let stopped = async {
            let _ = stopped.await;
        };
        recovery.run(&found, stopped).await
    });
    // What was asked before the permission is not meant, and its kubelet asks again.
    let held_before = format!("hold {before}: node-exists");
    until_found("what was asked before", async || told.lock().unwrap().contains(&held_before).then_some(()))
        .await;
    lab.requests().delete(&before, &DeleteParams::default()).await.unwrap();
    let silent = lab.ask_shared(0, &keys[0]).await;
    let rivals = [lab.ask_shared(3, &keys[3]).await, lab.ask_shared(3, &keys[4]).await];
    assert_eq!(lab.until_decided(&silent).await, ("Approved".into(), "Rejoin".into()));
    assert_eq!(lab.until_decided(&new).await.0, "Approved");
    let held = |request: &str| {
        let line = format!("hold {request}");
        told.lock().unwrap().iter().find(|told| told.starts_with(&line)).cloned()
    };
    let why = until_found("what is held", async || held(&reports)).await;
    assert!(why.ends_with("node-exists"), "{why}");
    // Whoever is judged before the other has asked is let in, which is what the shared identity is worth; never both.
    let judged = |request: &str| {
        let name = format!(" {request}: ");
        told.lock().unwrap().iter().find(|told| told.contains(&name)).cloned()
    };
    let why = until_found("rivals", async || judged(&rivals[0]).zip(judged(&rivals[1]))).await;
    let let_in = [&why.0, &why.1].iter().filter(|told| told.starts_with("approve ")).count();
    assert!(let_in <= 1, "{why:?}");

    // The permission is used up: whoever comes with another key afterwards is a stranger.
    let stranger = lab.ask_shared(0, &keys[5]).await;
    let why = until_found("the stranger is held", async || held(&stranger)).await;
    assert!(why.ends_with("node-exists") || why.ends_with("already-approved"), "{why}");
    drop(stop);
    let recovered = running.await.unwrap().unwrap();
    assert_eq!(recovered.back, Vec::<String>::new(), "nobody renewed a lease");
    assert_eq!(recovered.silent, [name(0), name(3)]);
    alive.abort();
}

/// Renews a node's lease as its kubelet would, with a clock that is a day behind.
async fn keep_alive(lab: &Lab, n: usize) -> tokio::task::JoinHandle<()> {
    let leases: Api<Lease> = Api::namespaced(lab.client.clone(), "kube-node-lease");
    let metadata = ObjectMeta { name: Some(name(n)), ..ObjectMeta::default() };
    let behind = || Timestamp::now() - SignedDuration::from_hours(24);
    let lease = Lease {
        metadata,
        spec: Some(LeaseSpec { renew_time: Some(MicroTime(behind())), ..LeaseSpec::default() }),
    };
    until_found("the namespace of leases", async || leases.create(&PostParams::default(), &lease).await.ok())
        .await;
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let patch = json!({"spec": {"renewTime": MicroTime(behind())}});
            let _ = leases.patch(&name(n), &PatchParams::default(), &Patch::Merge(&patch)).await;
        }
    })
}
