//! The two waits, from the first refusal to the last word.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use hardway_assets::inventory::Role;
use hardway_cluster::clock::SteadyClock;
use hardway_cluster::declared::{Declared, DeclaredNode};
use hardway_cluster::pivot::{Allowed, PivotDecision};
use hardway_cluster::remote::Remote;
use hardway_cluster::wait::{GiveUp, Installed, Line, Wait, WaitError, WaitOptions};
use hardway_cluster::watch::WatchPatience;
use hardway_testing::eventually;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::driver::Driver;
use super::members::access;

/// What was said so far, from outside.
#[derive(Clone, Default)]
struct Said(Arc<Mutex<Vec<String>>>);

impl Said {
    /// With what is waited for from then on, for who looks on.
    fn hear(&self, line: Line) {
        let mut lines = self.0.lock().unwrap();
        lines.push(line.text);
        lines.extend(line.awaits.map(|what| format!("> waits for {what}")));
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    async fn hears(&self, what: &str) {
        eventually(&format!("{what:?} is said"), async || self.all().iter().any(|line| line.contains(what)))
            .await;
    }

    /// The lines with these beginnings, in the order they were said.
    fn order(&self, beginnings: &[&str]) -> Vec<String> {
        let begins = |line: &String| beginnings.iter().any(|beginning| line.starts_with(beginning));
        self.all().into_iter().filter(begins).collect()
    }
}

fn single() -> Declared {
    let node = DeclaredNode {
        name: "m0".to_owned(),
        host: "m0".to_owned(),
        role: Some(Role::Master),
        addresses: Vec::new(),
        identity: None,
    };
    Declared { nodes: [node].into(), ..Declared::default() }
}

fn options() -> WaitOptions {
    WaitOptions {
        stable_for: SignedDuration::from_secs(1),
        patience: WatchPatience {
            window: Duration::from_secs(20),
            answer: Duration::from_secs(20),
            pause: Duration::from_millis(200),
        },
        poll: Duration::from_millis(200),
        // No wait of these tests may end by itself.
        stall_after: SignedDuration::from_hours(1),
        ..WaitOptions::new()
    }
}

async fn bootstrap(
    config: kube::Config,
    options: WaitOptions,
    said: Said,
) -> Result<PivotDecision, WaitError> {
    let mut say = |line: Line| said.hear(line);
    let clock = SteadyClock::start(Timestamp::UNIX_EPOCH);
    Wait::new(config, single(), options, clock, &mut say).bootstrap_complete().await
}

async fn install(config: kube::Config, options: WaitOptions, said: Said) -> Result<Installed, WaitError> {
    let mut say = |line: Line| said.hear(line);
    let clock = SteadyClock::start(Timestamp::UNIX_EPOCH);
    Wait::new(config, single(), options, clock, &mut say).install_complete().await
}

/// Runs a wait on a thread of its own: what says its lines need not be shared between threads.
fn beside<T: Send + 'static, F: Future<Output = T>>(
    wait: impl FnOnce() -> F + Send + 'static,
) -> tokio::task::JoinHandle<T> {
    tokio::task::spawn_blocking(move || tokio::runtime::Handle::current().block_on(wait()))
}

fn short(options: WaitOptions) -> WaitOptions {
    WaitOptions { stall_after: SignedDuration::from_secs(4), ..options }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_bootstrapping_is_complete_when_every_gate_is_open() {
    let driver = Driver::without_crds().await;
    let said = Said::default();
    let mut options = options();
    options.etcd = Some(access(&driver.plane));

    // Nobody listens there: given up only because nothing is new.
    let mut nowhere = driver.config.clone();
    nowhere.cluster_url = "https://localhost:1".parse().unwrap();
    let error = bootstrap(nowhere.clone(), short(options.clone()), said.clone()).await.unwrap_err();
    assert!(
        matches!(&error, WaitError::Api { last, why: GiveUp::Stalled(stall) }
        if last.contains("refused") && stall.broken.as_ref().unwrap().subject == "api"),
        "{error:?}"
    );
    assert!(
        said.all()[0].starts_with("Waiting for the Kubernetes API at https://localhost:1..."),
        "{:?}",
        said.all()
    );

    // What the bootstrap host says meanwhile is heard, and is part of what is broken.
    let record = r#"{"phase": "stage start", "stage": "wait-for-etcd"}"#;
    let answer = format!("cat <<'END'\n== clock\n2026-11-15T00:00:00Z\n== record bootkube\n{record}\nEND\n");
    let told = WaitOptions {
        host: Some(
            Remote {
                command: ["bash", "-c", &answer].map(str::to_owned).into(),
                environment: Vec::new(),
                patience: Duration::from_secs(60),
                host: None,
            }
            .into(),
        ),
        stall_after: SignedDuration::from_secs(15),
        ..options.clone()
    };
    let said = Said::default();
    let error = bootstrap(nowhere.clone(), told, said.clone()).await.unwrap_err();
    assert!(said.all().contains(&"Bootstrap host: running  etcd is healthy".to_owned()), "{:?}", said.all());
    assert!(
        error.why().unwrap().broken().unwrap().what.ends_with("; bootstrap host: running  etcd is healthy"),
        "{error:?}"
    );

    // An API without a single operator.
    let error = bootstrap(driver.config.clone(), short(options.clone()), said.clone()).await.unwrap_err();
    assert!(matches!(&error, WaitError::Bootstrap { .. }), "{error:?}");

    driver.create_crds();
    let said = Said::default();
    let (config, heard) = (driver.config.clone(), said.clone());
    let wait = beside(move || bootstrap(config, options, heard));
    said.hears("Waiting for bootstrapping to complete").await;
    said.hears("> waits for bootstrapping to complete: kube-apiserver has a revision on 0 masters; 1 needed")
        .await;
    driver.bootstrap("working").await;
    said.hears("Bootstrap status: working").await;
    driver.bootstrap("complete").await;
    said.hears("Waiting for the bootstrap etcd member to be removed").await;
    driver.static_pods("Etcd", &["EtcdRunningInCluster"], &["m0"]).await;
    driver.static_pods("Etcd", &["EtcdRunningInCluster", "EtcdBootstrapMemberRemoved"], &["m0"]).await;
    // openshift-install would stop here.
    said.hears("Not yet safe to remove the bootstrap resources: kube-apiserver has a revision on 0 masters")
        .await;
    for kind in ["KubeAPIServer", "KubeControllerManager", "KubeScheduler"] {
        assert!(!wait.is_finished());
        driver.static_pods(kind, &[], &["m0"]).await;
    }
    assert!(!wait.is_finished());
    driver.version("FTF", "Working towards 4.18.1").await;
    let decision = wait.await.unwrap().unwrap();
    assert_eq!(decision.allowed, Allowed::LeaveLoadBalancer);
    let order = [
        "Waiting for the Kubernetes API at ",
        "API v1.",
        "Waiting for bootstrapping to complete...",
        "Waiting for the bootstrap etcd member to be removed...",
        "Bootstrap etcd member has been removed",
        "It is now safe to remove the bootstrap resources",
        "Time elapsed: ",
    ];
    let lines = said.order(&order);
    assert_eq!(lines.len(), order.len(), "{lines:#?}");
    assert!(lines.iter().zip(order).all(|(line, beginning)| line.starts_with(beginning)), "{lines:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_an_install_is_complete_when_operators_rest_and_nodes_are_there() {
    let mut driver = Driver::start().await;
    driver.version("FTF", "Working towards 4.18.1: 455 of 902 done (50% complete), waiting on etcd").await;
    driver.operator("etcd", "FTT").await;
    let error = install(driver.config.clone(), short(options()), Said::default()).await.unwrap_err();
    assert!(matches!(&error, WaitError::Initialize { last, .. } if last.contains("455 of 902")), "{error:?}");

    // A limit by the clock on the wall, for who wants one.
    let limited = WaitOptions { timeout: Some(SignedDuration::from_secs(2)), ..options() };
    let said = Said::default();
    let error = install(driver.config.clone(), limited, said.clone()).await.unwrap_err();
    assert!(matches!(error.why(), Some(GiveUp::TimedOut(..))), "{error:?}");
    assert!(said.all()[0].starts_with("Waiting up to 2s (until "), "{:?}", said.all());

    driver.version("TFF", "Cluster version is 4.18.1").await;
    let error = install(driver.config.clone(), short(options()), Said::default()).await.unwrap_err();
    assert!(matches!(&error, WaitError::Stability { unstable, .. } if unstable == &["etcd"]), "{error:?}");

    driver.operator("etcd", "TFF").await;
    let error = install(driver.config.clone(), short(options()), Said::default()).await.unwrap_err();
    assert!(matches!(&error, WaitError::Nodes { missing, .. } if missing.len() == 1), "{error:?}");
    finish(&mut driver).await;
}

/// A regression, an API server that goes away in the middle, and then the end.
async fn finish(driver: &mut Driver) {
    let said = Said::default();
    driver.operator("etcd", "TTF").await;
    let (config, heard) = (driver.config.clone(), said.clone());
    let wait = beside(move || install(config, options(), heard));
    said.hears("to ensure each cluster operator has finished progressing").await;
    said.hears("These cluster operators are not stable: [etcd]").await;
    said.hears("> waits for operators to become stable: etcd; etcd: as played").await;
    driver.plane.kill_api_server();
    said.hears("The API does not answer").await;
    assert!(!wait.is_finished());
    tokio::task::block_in_place(|| driver.plane.start_api_server());
    said.hears("The API answers again").await;
    driver.operator("etcd", "TFF").await;
    said.hears("All cluster operators have completed progressing").await;
    said.hears("Waiting for declared nodes: master m0 has not registered").await;
    said.hears("> waits for declared nodes: master m0 has not registered").await;
    let host = "console-openshift-console.apps.ocp4.example.com";
    for name in ["openshift-console", "openshift-config-managed"] {
        driver.put("Namespace", None, json!({"metadata": {"name": name}})).await;
    }
    let ca =
        json!({"metadata": {"name": "default-ingress-cert"}, "data": {"ca-bundle.crt": "the routers' CA"}});
    driver.put("ConfigMap", Some("openshift-config-managed"), ca).await;
    let admitted = json!({"metadata": {"name": "console"}, "spec": {"host": host, "tls": {"termination": "reencrypt"}},
        "status": {"ingress": [{"host": host, "conditions": [{"type": "Admitted", "status": "True"}]}]}});
    driver.put("Route", Some("openshift-console"), admitted).await;
    driver.node("m0", "master", true).await;
    let installed = wait.await.unwrap().unwrap();
    assert_eq!(installed.console_url.as_deref(), Some(&*format!("https://{host}")));
    assert_eq!(installed.router_ca.as_deref(), Some("the routers' CA"));

    // Begun again, it only looks.
    let again = install(driver.config.clone(), options(), Said::default()).await.unwrap();
    assert_eq!(again, installed);
}
