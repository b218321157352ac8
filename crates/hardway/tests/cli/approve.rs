//! `hardway approve` on a real API server.

use std::process::Command;

use hardway_testing::{ControlPlane, INSTALL_CONFIG, INVENTORY, Ran, Running, Work, feed, succeed, until};
use serde_json::Value;

use super::csr::request;
use crate::work;

/// Asks for a node's first client certificate, as its host does.
pub(crate) fn ask(plane: &ControlPlane, name: &str, node: &str) {
    ask_as(plane, name, node, |_| {});
}

/// The same as whoever stands in the request.
pub(crate) fn ask_as(plane: &ControlPlane, name: &str, node: &str, change: impl Fn(&mut Value)) {
    ask_with(plane.kubectl(), name, node, change);
}

/// The same by way of this kubectl.
pub(crate) fn ask_with(mut create: Command, name: &str, node: &str, change: impl Fn(&mut Value)) {
    let mut object = request(name, &format!("{node}.ocp4.example.com"), "", change);
    object["metadata"] = serde_json::json!({"name": name});
    create.args(["create", "-f", "-", "--as", object["spec"]["username"].as_str().unwrap()]);
    for group in object["spec"]["groups"].as_array().unwrap() {
        create.args(["--as-group", group.as_str().unwrap()]);
    }
    feed(&mut create, &object.to_string());
}

/// With the real clock: the API server has no other.
fn approve(work: &Work, plane: &ControlPlane, more: &[&str]) -> Command {
    let kubeconfig = plane.kubeconfig();
    let mut command =
        work.command(&[&["approve", "--kubeconfig", kubeconfig.to_str().unwrap()], more].concat());
    command.env_remove("HARDWAY_NOW");
    command
}

pub(crate) fn is_approved(plane: &ControlPlane, name: &str) -> bool {
    plane.get(&["csr", name])["status"]["conditions"][0]["type"] == "Approved"
}

fn holder(plane: &ControlPlane) -> String {
    let lease = plane.get(&["lease", "hardway-approver", "-n", "kube-system"]);
    lease["spec"]["holderIdentity"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn real_what_is_pending_is_decided_and_what_is_held_is_exit_nine() {
    let (plane, work) = (ControlPlane::start(), work::with_inputs(INSTALL_CONFIG, INVENTORY));
    ask(&plane, "csr-good", "worker-0");
    ask(&plane, "csr-stranger", "worker-7");
    let looked = Ran::of(approve(&work, &plane, &["--dry-run"])).expect(9);
    assert!(
        looked.stdout.contains("approve csr-good  worker-0.ocp4.example.com  first-client (dry run)"),
        "{looked:?}"
    );
    assert!(!is_approved(&plane, "csr-good") && !work.exists("journal.jsonl"), "a dry run writes nothing");

    let ran = Ran::of(approve(&work, &plane, &["-o", "json"])).expect(9);
    let lines: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told = |name: &str| lines.iter().find(|line| line["request"] == name).unwrap()["reason"].clone();
    assert_eq!((told("csr-good"), told("csr-stranger")), ("first-client".into(), "node-not-declared".into()));
    ran.says("1 approved, 0 denied, 1 held");
    assert!(is_approved(&plane, "csr-good") && !is_approved(&plane, "csr-stranger"));
    assert_eq!((work.mode("journal.jsonl"), work.mode("logs/approvals.jsonl")), (0o600, 0o600));
    succeed(plane.kubectl().args(["delete", "csr", "csr-stranger"]));
    Ran::of(approve(&work, &plane, &[])).expect(0).says("0 approved, 0 denied, 0 held");
}

#[test]
fn real_it_watches_until_it_is_told_to_stop() {
    let (plane, work) = (ControlPlane::start(), work::with_inputs(INSTALL_CONFIG, INVENTORY));
    let watching = Running::start(approve(&work, &plane, &["--watch"]));
    for node in ["master-0", "master-1", "worker-0"] {
        ask(&plane, node, node);
    }
    until("three approvals", || {
        ["master-0", "master-1", "worker-0"].iter().all(|name| is_approved(&plane, name))
    });
    watching.signal("TERM");
    watching.end().expect(0);
    assert_eq!(work.read("journal.jsonl").matches("csr-decided").count(), 3);
    assert_eq!(holder(&plane), "", "the next one need not wait");
}

#[test]
fn real_a_person_who_ends_it_is_told_and_the_lease_is_let_go() {
    let (mut plane, work) = (ControlPlane::start(), work::with_inputs(INSTALL_CONFIG, INVENTORY));
    let start = |plane: &ControlPlane, more: &[&str]| Running::start(approve(&work, plane, more));
    let waiting = |plane: &ControlPlane, more: &[&str]| {
        let mut run = start(plane, more);
        run.until_said("somebody-else holds the lease");
        run
    };
    let mut watching = start(&plane, &["--watch"]);
    ask(&plane, "csr-first", "worker-0");
    until("the approval", || is_approved(&plane, "csr-first"));
    let code = watching.interrupt();
    let said = watching.said();
    assert_eq!(code, Some(8), "{said}");
    assert!(said.contains("1 approved, 0 denied, 0 held") && said.contains("error[interrupted]"), "{said}");
    assert_eq!(holder(&plane), "", "the next one need not wait");
    let log = work.read("logs/approvals.jsonl");
    assert_eq!((log.lines().count(), log.ends_with('\n')), (1, true), "{log}");
    assert_eq!(work.read("journal.jsonl").matches("\"csr-decided\"").count(), 1);

    // Once, while somebody else holds the lease: it waits, and can be ended.
    let lease =
        serde_json::json!({"spec": {"holderIdentity": "somebody-else", "leaseDurationSeconds": 3600}});
    let lease =
        ["patch", "lease", "hardway-approver", "-n", "kube-system", "--type=merge", "-p", &lease.to_string()];
    succeed(plane.kubectl().args(lease));
    ask(&plane, "csr-second", "master-0");
    for name in ["INT", "TERM"] {
        let run = waiting(&plane, &[]);
        run.signal(name);
        run.end().expect(8);
    }
    assert!(!is_approved(&plane, "csr-second"));
    assert_eq!(holder(&plane), "somebody-else", "what is another's stays so");

    // An API server that is gone keeps nobody.
    let mut watching = waiting(&plane, &["--watch"]);
    let journaled = work.read("journal.jsonl");
    plane.kill_api_server();
    let code = watching.interrupt();
    let said = watching.said();
    assert_eq!((code, said.contains("error[interrupted]")), (Some(8), true), "{said}");
    assert_eq!(work.read("journal.jsonl"), journaled);
}
