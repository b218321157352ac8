//! The bootstrap host's own scripts, laid out in a folder and really run, looked at and reset; and a real ssh between.

mod gateway;
mod gathering;
mod host;
pub(crate) mod ssh;

use std::time::Duration;

use hardway_cluster::bootstrap_progress::{BootstrapReport, ResetError, State, look, reset};
use hardway_testing::ControlPlane;
use host::Host;
use tokio::time::{Instant, sleep};

const CONTROL_PLANE_PODS: [&str; 4] = [
    "cluster-version-operator-pod.yaml",
    "kube-apiserver-pod.yaml",
    "kube-controller-manager-pod.yaml",
    "kube-scheduler-pod.yaml",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_a_bootkube_that_hangs_is_seen_reset_and_goes_on() {
    let plane = tokio::task::spawn_blocking(ControlPlane::shared).await.unwrap();
    let host = Host::new(&plane);
    let remote = host.remote();
    let nothing = look(&remote).await.unwrap();
    assert!(
        nothing.clock.is_some() && nothing.static_pods.is_empty() && nothing.manifests.is_none(),
        "{nothing:?}"
    );

    // Something that Ignition should have brought is missing at first.
    host.hide("original_cvo_overrides.patch");
    host.start();
    let failed = until(&host, |report| state(report, "openshift-manifests") == State::Failed).await;
    let current = failed.current().unwrap();
    assert_eq!(
        (current.what.as_str(), current.state),
        ("every file that Ignition should write exists", State::Failed)
    );
    host.stop();
    host.show("original_cvo_overrides.patch");

    // No master ever runs a control plane here: it hangs.
    host.start();
    let hangs = until(&host, |report| state(report, "required-pods") == State::Running).await;
    assert_eq!(hangs.current().unwrap().what, "one master runs a control plane");
    let manifests = hangs.manifests.as_ref().unwrap();
    assert!(manifests.total > 0 && manifests.created == manifests.total, "{manifests:?}");
    assert!(
        CONTROL_PLANE_PODS.iter().all(|pod| hangs.static_pods.iter().any(|has| has == pod)),
        "{:?}",
        hangs.static_pods
    );
    assert!(hangs.facts().contains(&"the API server of the bootstrap host answers".to_owned()));
    reset_and_go_on(&host).await;

    host.write("opt/openshift/teardown.done", "");
    assert!(
        matches!(reset(&remote, false).await, Err(ResetError::HandedOver)),
        "the masters run the cluster"
    );
    assert!(host.has("etc/kubernetes/manifests/kube-apiserver-pod.yaml"), "nothing was touched");
}

async fn reset_and_go_on(host: &Host) {
    let remote = host.remote();
    host.forbid_start(true);
    for pod in ["bootstrap-pod.yaml", "machineconfigoperator-bootstrap-pod.yaml"] {
        host.write(&format!("etc/kubernetes/manifests/{pod}"), "left over");
    }
    host.write("etc/hosts", "127.0.0.1 localhost\n::1 localhost ip6-localhost\n10.0.0.1 other\n");
    let done = reset(&remote, false).await.unwrap();
    assert_eq!(done.len(), 7, "{done:?}");
    let after = look(&remote).await.unwrap();
    assert_eq!(after.static_pods, ["etcd-member-pod.yaml", "machineconfigoperator-bootstrap-pod.yaml"]);
    assert_eq!(host.read("etc/hosts"), "127.0.0.1 localhost\n10.0.0.1 other\n");
    assert!(host.read("etc/hosts.before-reset").contains("::1"));
    for (stage, is_marked) in [
        ("secrets", false),
        ("control-plane-pods", false),
        ("etcd-bootstrap", true),
        ("create-manifests", true),
    ] {
        assert_eq!(host.has(&format!("opt/openshift/{stage}.done")), is_marked, "{stage}");
    }
    assert!(!host.has("etc/kubernetes/bootstrap-secrets"));

    // A second reset finds nothing to do, and an IPv6 cluster keeps its localhost.
    host.write("etc/hosts", "::1 localhost\n");
    assert_eq!(reset(&remote, true).await.unwrap().len(), 6);
    assert_eq!(host.read("etc/hosts"), "::1 localhost\n");

    host.forbid_start(false);
    reset(&remote, true).await.unwrap();
    let again = until(host, |report| {
        let stage = report.stages.iter().find(|stage| stage.name == "required-pods").unwrap();
        stage.state == State::Running && stage.tries >= 2
    })
    .await;
    assert!(
        CONTROL_PLANE_PODS.iter().all(|pod| again.static_pods.iter().any(|has| has == pod)),
        "{:?}",
        again.static_pods
    );
    let tries = |name: &str| again.stages.iter().find(|stage| stage.name == name).unwrap().tries;
    assert_eq!(
        (tries("control-plane-pods"), tries("create-manifests")),
        (2, 1),
        "what etcd has is not made again"
    );
}

fn state(report: &BootstrapReport, stage: &str) -> State {
    report.stages.iter().find(|found| found.name == stage).unwrap().state
}

async fn until(host: &Host, check: impl Fn(&BootstrapReport) -> bool) -> BootstrapReport {
    let began = Instant::now();
    loop {
        let report = look(&host.remote()).await.unwrap();
        if check(&report) {
            return report;
        }
        assert!(began.elapsed() < Duration::from_secs(300), "{report:#?}\n{}", host.log());
        sleep(Duration::from_millis(200)).await;
    }
}
