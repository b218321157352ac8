//! Which cluster a command speaks to: --kubeconfig, then the folder's own, never silently another.

use hardway_testing::{ControlPlane, INSTALL_CONFIG, INVENTORY, Ran};

use super::approve::{ask, is_approved};
use crate::work;

/// Of a cluster that shares nothing with this one, at an address where nobody is.
fn stranger() -> String {
    work::made().read("auth/kubeconfig").replace("https://api.ocp4.example.com:6443", "https://127.0.0.1:1")
}

#[test]
fn the_environment_is_passed_over_and_said() {
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    work.write("elsewhere/kubeconfig", stranger());
    for verb in [
        &["approve"][..],
        &["recover", "certs"],
        &["verify"],
        &["diagnose"],
        &["wait-for", "install-complete"],
    ] {
        let mut command = work.command(verb);
        command.env("KUBECONFIG", work.path("elsewhere/kubeconfig"));
        let ran = Ran::of(command).expect(3);
        ran.says("there is no kubeconfig ./auth/kubeconfig").says("$KUBECONFIG is ").says("and not used");
    }
}

#[test]
fn a_kubeconfig_of_another_cluster_is_refused() {
    let work = work::made();
    // Made from other secrets: no certificate is common to both.
    let other = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    other.ok(&["create", "ignition-configs"]);
    let kubeconfig =
        other.read("auth/kubeconfig").replace("https://api.ocp4.example.com:6443", "https://127.0.0.1:1");
    work.write("elsewhere/kubeconfig", kubeconfig);
    for verb in [&["approve"][..], &["recover", "certs"], &["verify"], &["wait-for", "install-complete"]] {
        let ran = work.refused(2, &[verb, &["--kubeconfig", "elsewhere/kubeconfig"]].concat());
        ran.says("error[cluster-other]: elsewhere/kubeconfig leads to another cluster")
            .says("no certificate is trusted by both");
    }
}

#[test]
fn real_the_folders_own_cluster_is_the_one_that_is_changed() {
    let (plane, other) = (ControlPlane::start(), ControlPlane::start());
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY).with_real_clock();
    work.write("auth/kubeconfig", plane.read("kubeconfig"));
    ask(&plane, "csr-own", "worker-0");
    ask(&other, "csr-other", "worker-0");
    let mut command = work.command(&["approve"]);
    command.env("KUBECONFIG", other.kubeconfig());
    Ran::of(command).expect(0).says("and not used").says("1 approved, 0 denied, 0 held");
    assert!(is_approved(&plane, "csr-own") && !is_approved(&other, "csr-other"));
    // Neither knows its name, and no certificate is common to both.
    work.refused(2, &["approve", "--kubeconfig", other.kubeconfig().to_str().unwrap()])
        .says("error[cluster-other]");
    assert!(!is_approved(&other, "csr-other"));
}
