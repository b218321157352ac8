//! The rights that the deployment gives, and no others: the controller works with them, and they end there.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

use hardway_base::Secret;
use hardway_cluster::csr_policy::IgnitionEvidence;
use hardway_hosted::ReleaseUnread;
use hardway_hosted::controller::{ControllerEvent, Duty, Releases};
use hardway_hosted::worker::WorkerStage;
use hardway_hosted::{AccountToken, Management};
use hardway_testing::{ControlPlane, succeed, until_found};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::running::Running;
use crate::site::{SECOND, Site, name};

const ACCOUNT: &str = "hardway-hosted";
const DEPLOY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/hosted");

/// The Deployment's controller, with the tokens that its pod has; whoever makes machines is somebody else. Both API servers write down what
/// it asks for, and that is what it may.
#[tokio::test(flavor = "multi_thread")]
async fn real_the_controller_has_exactly_the_rights_it_uses() {
    let mut site = Site::start(IgnitionEvidence::Ignored).await;
    let addresses: Vec<_> = (0..10).map(|n| site.address(n)).collect();
    site.kubelets.live(false, move |n| addresses[n]);
    let management = tokio::task::block_in_place(|| {
        site.management_plane.write_down_what_accounts_ask();
        site.hosted_plane.write_down_what_accounts_ask();
        apply(&site.management_plane, "management");
        apply(&site.hosted_plane, "hosted-cluster");
        // As the kubelet asks for the pod.
        let token = ["create", "token", ACCOUNT, "-n", "clusters", "--duration=1h"];
        let token = succeed(site.management_plane.kubectl().args(token));
        site.management_plane.token_holder(ACCOUNT, token.trim()).kubeconfig().to_owned()
    });
    let run = tempfile::tempdir().unwrap();
    minted(&site, run.path()).await;
    let (mut controller, told) = site.controller("least", 1);
    controller.management = Management::connect(Some(&management), "clusters", "demo").await.unwrap();
    controller.hosted =
        controller.management.hosted_client(Some(&run.path().join("kubeconfig"))).await.unwrap();
    let asked = Arc::new(Asked::default());
    let work = tempfile::tempdir().unwrap();
    (controller.machines, controller.folder) = (None, work.path().to_owned());
    controller.daemon_image = None;
    controller.releases = Some(Arc::<Asked>::clone(&asked));
    let running = Running::start(controller, told);
    let leads = ControllerEvent::Leading(Duty::Cluster);
    until_found("the cluster's lease", async || running.told.lock().unwrap().contains(&leads).then_some(()))
        .await;
    let machines = site.run("machines", 1);
    site.want(0..1).await;
    until_found("a worker", async || {
        (site.workers().await.get(&name(0))?.stage() == WorkerStage::Ready).then_some(())
    })
    .await;
    site.publish(SECOND).await;
    crate::lives::upgrade_in_place(&site, 1).await;
    let release = "quay.io/example/release:4.18.1 amd64 {\"auths\":{}}";
    assert_eq!(asked.0.lock().unwrap().first().map(String::as_str), Some(release));
    tokio::task::block_in_place(|| site.hosted_plane.apply(&pod_on(&name(0))));
    site.change(&name(0), hardway_hosted::worker::WantedState::Absent).await;
    until_found("nothing left", async || site.workers().await.is_empty().then_some(())).await;
    running.stop().await;
    machines.stop().await;
    tokio::task::block_in_place(|| {
        let namespaces = ["clusters", "clusters-demo", "default", "kube-system"];
        site.management_plane.has_exactly_the_rights_it_used("clusters", ACCOUNT, &namespaces);
        let namespaces = ["default", "demo-upgrade", "kube-system", "openshift-config"];
        site.hosted_plane.has_exactly_the_rights_it_used("kube-system", ACCOUNT, &namespaces);
    });
}

/// As the container beside the controller does it, with what HyperShift wrote into a Secret; and what it writes is its owner's alone.
async fn minted(site: &Site, folder: &Path) {
    let admin = site.management.admin_kubeconfig().await.unwrap();
    let name = "demo-admin-kubeconfig";
    let account = ("kube-system", ACCOUNT);
    let hour = SignedDuration::from_hours(1);
    let token = AccountToken::new((name, &admin), account, folder, hour).await.unwrap();
    let next = token.renew(Timestamp::now()).await.unwrap();
    assert!((35..=41).contains(&next.as_mins()), "{next:?}");
    let first = std::fs::read_to_string(folder.join("token")).unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    token.renew(Timestamp::now()).await.unwrap();
    assert_ne!(std::fs::read_to_string(folder.join("token")).unwrap(), first, "another each time");
    for file in ["token", "kubeconfig"] {
        let mode = std::fs::metadata(folder.join(file)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{file}");
    }
    let config = std::fs::read_to_string(folder.join("kubeconfig")).unwrap();
    assert!(!config.contains("client-key-data"), "nothing of the administrator's is left: {config}");
    let whoami = ["auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"];
    let said = tokio::task::block_in_place(|| {
        succeed(site.hosted_plane.kubectl_with(&folder.join("kubeconfig")).args(whoami))
    });
    assert_eq!(said, "system:serviceaccount:kube-system:hardway-hosted");
    let strange = AccountToken::new((name, &admin), ("kube-system", "nobody"), folder, hour).await.unwrap();
    assert!(strange.renew(Timestamp::now()).await.is_err());
    assert!(std::fs::read_to_string(folder.join("token")).is_ok(), "the last one stays");
}

/// One that somebody would start again, and that goes when it is asked to.
fn pod_on(node: &str) -> Value {
    let owner =
        json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u", "controller": true});
    let spec = json!({"nodeName": node, "terminationGracePeriodSeconds": 0, "containers": [{"name": "x", "image": "x"}]});
    json!({"apiVersion": "v1", "kind": "Pod", "spec": spec,
        "metadata": {"name": "web", "namespace": "default", "ownerReferences": [owner]}})
}

/// Plays the registry: says what it was asked.
#[derive(Default)]
struct Asked(Mutex<Vec<String>>);

impl Releases for Asked {
    fn daemon_image(
        &self,
        release: &str,
        architecture: &str,
        logins: &Secret,
    ) -> Result<String, ReleaseUnread> {
        let asked = format!("{release} {architecture} {}", logins.expose_text());
        self.0.lock().unwrap().push(asked);
        Ok("registry.example.com/mco:of-the-release".to_owned())
    }
}

fn apply(plane: &ControlPlane, part: &str) {
    let folder = format!("{DEPLOY}/{part}");
    succeed(plane.kubectl().args(["apply", "--server-side", "--validate=strict", "-k", &folder]));
}
