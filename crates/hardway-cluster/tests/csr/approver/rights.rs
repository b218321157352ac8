//! The rights of deploy/approver: enough for everything the approver does, and for nothing else.

use std::path::{Path, PathBuf};
use std::process::Command;

use hardway_cluster::kubeconfig::connect;
use hardway_testing::{run, succeed, until_found};

use super::lab::{Lab, Running, address, name};
use crate::csr::support::key::TestKey;
use crate::csr::support::pkcs10::{Pkcs10Draft, dns, ip};

const ACCOUNT: &str = "hardway-approver";

#[tokio::test(flavor = "multi_thread")]
async fn real_the_service_account_can_do_all_it_needs_and_nothing_else() {
    let lab = Lab::start(2).await;
    let kubeconfig = tokio::task::block_in_place(|| {
        lab.plane.lock().unwrap().write_down_what_accounts_ask();
        deployed(&lab)
    });
    let (mut approver, told) = lab.approver("with few rights");
    approver.client = connect(Some(&kubeconfig)).await.unwrap();
    let approver = Running::start(approver, told);
    let key = TestKey::p256();
    let client = lab.ask_client(0, &key).await;
    assert_eq!(lab.until_decided(&client).await.0, "Approved");
    lab.register(0).await;
    let hostile = lab.ask_serving_as(0, &key, &[dns(&name(0)), ip(&address(1))]).await;
    assert_eq!(lab.until_decided(&hostile).await.0, "Denied");
    let serving = lab.ask_serving(0, &key).await;
    assert_eq!(lab.until_decided(&serving).await.0, "Approved");
    approver.until_told(&format!("joined {}", name(0))).await;
    until_found("three events", async || {
        let events = tokio::task::block_in_place(|| {
            lab.plane.lock().unwrap().get(&["events.events.k8s.io", "-n", "default"])
        });
        let ours = events["items"]
            .as_array()?
            .iter()
            .filter(|event| event["reportingController"] == "hardway.dev/approver");
        (ours.count() == 3).then_some(())
    })
    .await;
    assert!(
        approver.told.lock().unwrap().iter().all(|line| !line.contains("trouble")),
        "{:?}",
        approver.told
    );
    approver.stop().await;
    tokio::task::block_in_place(|| {
        let namespaces = ["default", "kube-system", ACCOUNT];
        lab.plane.lock().unwrap().has_exactly_the_rights_it_used(ACCOUNT, ACCOUNT, &namespaces);
    });
    others_are_out_of_reach(&lab, &kubeconfig, &key).await;
}

/// Applies the folder as a person would, and returns a kubeconfig of the account.
fn deployed(lab: &Lab) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/approver");
    let folder = lab.folder.path().join("deploy");
    succeed(Command::new("cp").arg("-r").arg(from).arg(&folder));
    std::fs::write(folder.join("declared.yaml"), serde_json::to_string(&lab.declared).unwrap()).unwrap();
    let plane = lab.plane.lock().unwrap();
    let applied = succeed(plane.kubectl().arg("apply").arg("-k").arg(&folder));
    assert!(applied.contains("deployment.apps/hardway-approver created"), "{applied}");
    let token = succeed(plane.kubectl().args(["create", "token", ACCOUNT, "-n", ACCOUNT]));
    plane.token_holder(ACCOUNT, token.trim()).kubeconfig().to_owned()
}

/// Not by mistake either: the API server refuses.
async fn others_are_out_of_reach(lab: &Lab, kubeconfig: &Path, key: &TestKey) {
    let pem = Pkcs10Draft::of_node("x", Vec::new()).to_pem(key, key);
    let theirs = lab
        .ask(&pem, "kubernetes.io/kube-apiserver-client", "client auth", "system:admin", &["system:masters"])
        .await;
    let plane = lab.plane.lock().unwrap();
    let (done, said) = run(plane.kubectl_with(kubeconfig).args(["certificate", "approve", &theirs]));
    assert!(!done && said.contains("not permitted to approve requests with signerName"), "{said}");
    for refused in [
        &["delete", "csr", &theirs][..],
        &["get", "secrets", "-A"],
        &["label", "node", &name(0), "a=b"],
        &["get", "lease", "-n", "kube-system", "another"],
        &["create", "configmap", "-n", ACCOUNT, "x"],
    ] {
        let (done, said) = run(plane.kubectl_with(kubeconfig).args(refused));
        assert!(!done && said.to_lowercase().contains("forbidden"), "{refused:?}: {said}");
    }
}

/// systemd understands every line of the unit, and finds little that a process under it could do to the host.
#[test]
fn the_unit_is_right_and_tight() {
    let unit = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/approver/hardway-approver@.service"),
    );
    // The program is installed on the host that runs it, not here.
    let unit = unit
        .unwrap()
        .replace("/usr/bin/hardway", "/bin/true")
        .replace("User=hardway\nGroup=hardway", "DynamicUser=yes");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hardway-approver@x.service");
    std::fs::write(&path, unit).unwrap();
    let (verified, said) = run(Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&path));
    assert!(verified && !said.contains("hardway-approver"), "{said}");
    let mut security = Command::new("systemd-analyze");
    succeed(security.args(["security", "--offline=true", "--threshold=20", "--no-pager"]).arg(&path));
}
