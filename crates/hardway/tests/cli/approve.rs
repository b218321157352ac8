//! `hardway approve` on a real API server.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hardway_testing::{ControlPlane, succeed};
use serde_json::Value;

use crate::csr::request;
use crate::work::{CONFIG, INVENTORY, Ran, Work};

const BOOTSTRAPPER: &str = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper";

/// Asks for a node's first client certificate, as new machines do.
pub(crate) fn ask(plane: &ControlPlane, name: &str, node: &str) {
    let mut object = request(name, &format!("{node}.ocp4.example.com"), "", |_| {});
    object["metadata"] = serde_json::json!({"name": name});
    let mut create = plane.kubectl();
    create.args(["create", "-f", "-", "--as", BOOTSTRAPPER, "--as-group", "system:serviceaccounts"]);
    create.args(["--as-group", "system:serviceaccounts:openshift-machine-config-operator"]);
    let mut create = create.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    create.stdin.take().unwrap().write_all(object.to_string().as_bytes()).unwrap();
    assert!(create.wait().unwrap().success());
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

pub(crate) fn until(what: &str, mut check: impl FnMut() -> bool) {
    let began = Instant::now();
    while !check() {
        assert!(began.elapsed() < Duration::from_secs(180), "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn end(child: Child) -> Option<i32> {
    signal("TERM", child).0
}

/// Its exit code, and what it said.
fn signal(signal: &str, child: Child) -> (Option<i32>, String) {
    succeed(Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]));
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// Once it has said that another holds the lease.
fn waiting(mut child: Child) -> Child {
    let mut said = String::new();
    let mut reader = BufReader::new(child.stderr.as_mut().unwrap());
    while !said.contains("somebody-else is approving") {
        assert!(reader.read_line(&mut said).unwrap() > 0, "it ended: {said}");
    }
    child
}

fn holder(plane: &ControlPlane) -> String {
    let lease = plane.get(&["lease", "hardway-approver", "-n", "kube-system"]);
    lease["spec"]["holderIdentity"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn real_what_is_pending_is_decided_and_what_is_held_is_exit_nine() {
    let (plane, work) = (ControlPlane::start(), Work::with_inputs(CONFIG, INVENTORY));
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
    let (plane, work) = (ControlPlane::start(), Work::with_inputs(CONFIG, INVENTORY));
    let child =
        approve(&work, &plane, &["--watch"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    for node in ["master-0", "master-1", "worker-0"] {
        ask(&plane, node, node);
    }
    until("three approvals", || {
        ["master-0", "master-1", "worker-0"].iter().all(|name| is_approved(&plane, name))
    });
    assert_eq!(end(child), Some(0));
    assert_eq!(work.read("journal.jsonl").matches("csr-decided").count(), 3);
    assert_eq!(holder(&plane), "", "the next one need not wait");
}

#[test]
fn real_a_person_who_ends_it_is_told_and_the_lease_is_let_go() {
    let (mut plane, work) = (ControlPlane::start(), Work::with_inputs(CONFIG, INVENTORY));
    let start = |plane: &ControlPlane, more: &[&str]| {
        approve(&work, plane, more).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let child = start(&plane, &["--watch"]);
    ask(&plane, "csr-first", "worker-0");
    until("the approval", || is_approved(&plane, "csr-first"));
    let (code, said) = signal("INT", child);
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
        let child = waiting(start(&plane, &[]));
        let (code, said) = signal(name, child);
        assert_eq!(code, Some(8), "{said}");
    }
    assert!(!is_approved(&plane, "csr-second"));
    assert_eq!(holder(&plane), "somebody-else", "what is another's stays so");

    // An API server that is gone keeps nobody.
    let child = waiting(start(&plane, &["--watch"]));
    let journaled = work.read("journal.jsonl");
    plane.kill_api_server();
    let (code, said) = signal("INT", child);
    assert_eq!((code, said.contains("error[interrupted]")), (Some(8), true), "{said}");
    assert_eq!(work.read("journal.jsonl"), journaled);
}
