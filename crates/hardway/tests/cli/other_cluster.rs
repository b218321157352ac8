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
        ran.says("kubeconfig not found: ./auth/kubeconfig").says("ignoring $KUBECONFIG");
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
    for verb in [
        &["approve"][..],
        &["etcd", "status"],
        &["recover", "certs"],
        &["verify"],
        &["wait-for", "install-complete"],
    ] {
        let ran = work.refused(2, &[verb, &["--kubeconfig", "elsewhere/kubeconfig"]].concat());
        ran.says("error[cluster-other]: elsewhere/kubeconfig points to a different cluster")
            .says("the two trust no CA in common");
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
    Ran::of(command).expect(0).says("ignoring $KUBECONFIG").says("1 approved, 0 denied, 0 held");
    assert!(is_approved(&plane, "csr-own") && !is_approved(&other, "csr-other"));
    // Neither knows its name, and no certificate is common to both.
    work.refused(2, &["approve", "--kubeconfig", other.kubeconfig().to_str().unwrap()])
        .says("error[cluster-other]");
    assert!(!is_approved(&other, "csr-other"));

    // The folder's own was edited, and nothing shows whose cluster it leads to now.
    let edited = work::made().with_real_clock();
    edited.write("auth/kubeconfig", plane.read("kubeconfig"));
    ask(&plane, "csr-later", "master-1");
    for verb in
        [&["approve"][..], &["node", "remove", "worker-0", "--yes"], &["wait-for", "install-complete"]]
    {
        edited
            .run(verb)
            .expect(2)
            .says("error[cluster-other]: cannot tell whether ./auth/kubeconfig points to the cluster of ./")
            .says("did not identify itself: ")
            .says("the two trust no CA in common")
            .says("fix: restore the kubeconfig");
    }
    assert!(!is_approved(&plane, "csr-later"));
    // Certificates that nobody compares say nothing.
    let careless = "insecure-skip-tls-verify: true\n    certificate-authority-data:";
    let own = work::made().read("auth/kubeconfig").replace("certificate-authority-data:", careless);
    edited.write("auth/kubeconfig", own.replace("https://api.ocp4.example.com:6443", &plane.url()));
    edited.refused(3, &["approve"]).says("error[kubeconfig-unusable]").says("insecure-skip-tls-verify");
    // It says itself that it is the one.
    work::lead_to(&edited, &plane);
    edited.ok(&["approve"]).does_not_say("error");
}

/// Who only looks may find out why nobody answers.
#[test]
fn an_edited_kubeconfig_that_leads_nowhere_can_be_looked_at_and_changes_nothing() {
    let work = work::made();
    let other = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    other.ok(&["create", "manifests"]);
    let kubeconfig =
        other.read("auth/kubeconfig").replace("https://api.ocp4.example.com:6443", "https://127.0.0.1:1");
    work.write("auth/kubeconfig", kubeconfig);
    for verb in [&["approve"][..], &["verify"], &["node", "remove", "worker-0", "--yes"]] {
        work.run(verb).expect(2).says("cannot tell whether");
    }
    work.run(&["diagnose"]).does_not_say("cluster-other");
}

/// A folder can come from somebody else, with a kubeconfig that runs programs. One that a person names may do so, as with kubectl.
#[test]
fn a_folders_kubeconfig_runs_nothing() {
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    let touched = work.path("touched");
    let exec = serde_json::json!({"apiVersion": "client.authentication.k8s.io/v1", "command": "touch",
        "args": [&touched], "interactiveMode": "Never"});
    let kubeconfig = serde_json::json!({"apiVersion": "v1", "kind": "Config", "current-context": "a",
        "clusters": [{"name": "a", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "a", "user": {"exec": exec}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}]});
    work.write("auth/kubeconfig", kubeconfig.to_string());
    for verb in [&["approve", "--dry-run"][..], &["recover", "certs"], &["verify"], &["diagnose"]] {
        work.run(verb)
            .expect(3)
            .says("error[kubeconfig-unusable]: ./auth/kubeconfig is refused: ")
            .says("it would run a program on this host")
            .says("name it with --kubeconfig");
    }
    assert!(!touched.exists());
    work.run(&["verify", "--kubeconfig", "auth/kubeconfig"]);
    assert!(touched.exists(), "kubectl would run it, too");
}
