//! The rights that the deployment gives, and no others: the controller works with them, and they end there.

use std::sync::{Arc, Mutex};

use hardway_base::Secret;
use hardway_cluster::csr_policy::IgnitionEvidence;
use hardway_hosted::Management;
use hardway_hosted::controller::Releases;
use hardway_hosted::worker::Stage;
use hardway_testing::{ControlPlane, run, succeed, until_found};

use crate::running::Running;
use crate::site::{SECOND, Site, name};

const DEPLOY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/hosted");

#[tokio::test(flavor = "multi_thread")]
async fn real_the_controller_works_with_the_rights_of_the_deployment() {
    let mut site = Site::start(IgnitionEvidence::Ignored).await;
    let addresses: Vec<_> = (0..10).map(|n| site.address(n)).collect();
    site.kubelets.live(false, move |n| addresses[n]);
    let (management, hosted) = tokio::task::block_in_place(|| {
        apply(&site.management_plane, "management");
        apply(&site.hosted_plane, "hosted-cluster");
        (account(&site.management_plane, "clusters"), account(&site.hosted_plane, "kube-system"))
    });
    let admin = (site.management.clone(), site.hosted.clone());
    site.management = Management::connect(Some(&management), "clusters", "demo").await.unwrap();
    site.hosted = site.management.hosted_client(Some(&hosted)).await.unwrap();
    let (mut controller, told) = site.controller("least", 1);
    let asked = Arc::new(Asked::default());
    controller.daemon_image = None;
    controller.releases = Some(Arc::<Asked>::clone(&asked));
    let running = Running::start(controller, told);
    (site.management, site.hosted) = admin;
    site.want(0..1).await;
    until_found("a worker", async || {
        (site.workers().await.get(&name(0))?.stage() == Stage::Ready).then_some(())
    })
    .await;
    site.publish(SECOND).await;
    crate::lives::upgrade_in_place(&site, 1).await;
    let release = "quay.io/example/release:4.18.1 amd64 {\"auths\":{}}";
    assert_eq!(asked.0.lock().unwrap().first().map(String::as_str), Some(release));
    site.change(&name(0), hardway_hosted::worker::Wanted::Absent).await;
    until_found("nothing left", async || site.workers().await.is_empty().then_some(())).await;
    running.stop().await;
    tokio::task::block_in_place(|| {
        for (verb, what, namespace) in [
            ("create", "secrets", "clusters-demo"),
            ("patch", "secrets", "clusters-demo"),
            ("delete", "secrets", "clusters-demo"),
            ("get", "secrets", "clusters"),
            ("get", "secrets/demo-etcd-encryption-key", "clusters"),
            ("get", "secrets/demo-admin-kubeconfig", "clusters"),
            ("list", "secrets", "clusters"),
            ("update", "secrets/demo-pull-secret", "clusters"),
            ("delete", "nodepools", "clusters"),
            ("patch", "hostedclusters", "clusters"),
            ("list", "secrets", "default"),
            ("update", "leases/another", "clusters"),
        ] {
            refused(&site.management_plane, &management, verb, what, namespace);
        }
        for (verb, what, namespace) in [
            ("list", "secrets", "kube-system"),
            ("create", "pods", "default"),
            ("create", "nodes", "default"),
            ("update", "certificatesigningrequests", "default"),
            ("approve", "signers/kubernetes.io/kube-apiserver-client", "default"),
            ("create", "clusterrolebindings", "default"),
        ] {
            refused(&site.hosted_plane, &hosted, verb, what, namespace);
        }
    });
}

/// Plays the registry: says what it was asked.
#[derive(Default)]
struct Asked(Mutex<Vec<String>>);

impl Releases for Asked {
    fn daemon_image(&self, release: &str, architecture: &str, logins: &Secret) -> Result<String, String> {
        let asked = format!("{release} {architecture} {}", logins.expose_text());
        self.0.lock().unwrap().push(asked);
        Ok("registry.example.com/mco:of-the-release".to_owned())
    }
}

fn apply(plane: &ControlPlane, part: &str) {
    let folder = format!("{DEPLOY}/{part}");
    succeed(plane.kubectl().args(["apply", "--server-side", "--validate=strict", "-k", &folder]));
}

/// The service account's kubeconfig.
fn account(plane: &ControlPlane, namespace: &str) -> std::path::PathBuf {
    let user = format!("system:serviceaccount:{namespace}:hardway-hosted");
    let group = format!("system:serviceaccounts:{namespace}");
    plane.identity("hardway-hosted", &user, &["system:serviceaccounts", &group]).kubeconfig().to_owned()
}

fn refused(plane: &ControlPlane, kubeconfig: &std::path::Path, verb: &str, what: &str, namespace: &str) {
    let (may, said) =
        run(plane.kubectl_with(kubeconfig).args(["auth", "can-i", verb, what, "-n", namespace, "--quiet"]));
    assert!(!may, "{verb} {what} in {namespace}: {said}");
}
