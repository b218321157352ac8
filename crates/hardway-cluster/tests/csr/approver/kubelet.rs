//! A real kubelet with a real container runtime joins with nothing but the identity of its host, through the approver only.

use std::net::IpAddr;
use std::process::Command;

use hardway_cluster::csr_policy::{CsrVerdict, ReasonCode};
use hardway_journal::CsrDecided;
use hardway_testing::{ControlPlane, Identity, Machine, own_address, run, until_found};
use serde_json::json;

use super::lab::{Lab, name};

#[tokio::test(flavor = "multi_thread")]
async fn real_a_kubelet_gets_both_certificates_and_serves_with_them() {
    joins(Lab::start(1).await, |plane| plane.host_identity(&name(0), 1)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn real_a_kubelet_from_a_stock_pointer_gets_them_too() {
    let mut lab = Lab::start(1).await;
    lab.boot_from_stock_pointers();
    joins(lab, ControlPlane::shared_identity).await;
}

async fn joins(mut lab: Lab, who: impl FnOnce(&ControlPlane) -> Identity) {
    let address = own_address();
    lab.declared.nodes[0].addresses = vec![address];
    let approver = lab.run("one");
    let mut machine = tokio::task::block_in_place(|| {
        let plane = lab.plane.lock().unwrap();
        Machine::new(&plane, lab.folder.path(), &name(0), address, &who(&plane))
    });
    machine.boot();

    approver.until_told(&format!("joined {}", name(0))).await;
    let decided: Vec<CsrDecided> = until_found("both decisions in the journal", async || {
        Some(lab.facts::<CsrDecided>())
            .filter(|all| all.iter().filter(|one| one.verdict == CsrVerdict::Approve).count() >= 2)
    })
    .await;
    let reasons: Vec<ReasonCode> = decided
        .iter()
        .filter(|one| one.verdict == CsrVerdict::Approve)
        .map(|one| ReasonCode::named(one.reason.word()).unwrap())
        .collect();
    assert_eq!(reasons, [ReasonCode::FirstClient, ReasonCode::FirstServing], "{decided:?}");
    assert!(decided.iter().all(|one| one.verdict != CsrVerdict::Deny), "{decided:?}");

    let node = tokio::task::block_in_place(|| lab.plane.lock().unwrap().get(&["node", &name(0)]));
    let conditions = node["status"]["conditions"].as_array().unwrap();
    let condition = |kind: &str| conditions.iter().find(|one| one["type"] == kind).unwrap()["status"].clone();
    assert_eq!(
        (condition("MemoryPressure"), condition("DiskPressure").is_string()),
        (json!("False"), true),
        "{node}"
    );
    assert!(condition("Ready").is_string());
    serves_with_its_certificate(&lab, address, machine.port()).await;
    approver.stop().await;
}

/// What the API server does before it asks for logs: the certificate must be of the cluster's signer and for that address.
async fn serves_with_its_certificate(lab: &Lab, address: IpAddr, port: u16) {
    let host = if address.is_ipv6() { format!("[{address}]:{port}") } else { format!("{address}:{port}") };
    let folder = lab.plane.lock().unwrap().folder().to_owned();
    until_found("a kubelet that serves with its certificate", async || {
        let mut client = Command::new("openssl");
        client.args([
            "s_client",
            "-verify_return_error",
            "-CAfile",
            "ca.crt",
            "-verify_ip",
            &address.to_string(),
        ]);
        client.args(["-connect", &host]).current_dir(&folder).stdin(std::process::Stdio::null());
        let (done, said) = tokio::task::block_in_place(|| run(&mut client));
        (done && said.contains("Verify return code: 0")).then_some(())
    })
    .await;
}
