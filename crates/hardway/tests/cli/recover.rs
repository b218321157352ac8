//! `hardway certs recover`.

use std::process::Command;

use hardway_testing::{ControlPlane, INSTALL_CONFIG, INVENTORY, Ran, Running, Work, feed, succeed, until};
use serde_json::{Value, json};

use super::approve::{ask, ask_as, ask_with, is_approved};
use super::csr::shared;
use crate::work;

fn recover(work: &Work, more: &[&str]) -> Command {
    let mut command = work.command(&[&["recover", "certs"], more].concat());
    command.env_remove("HARDWAY_NOW");
    command
}

/// A kubeconfig that leads nowhere.
fn nowhere(work: &Work) {
    let kubeconfig =
        work.read("auth/kubeconfig").replace("https://api.ocp4.example.com:6443", "https://localhost:1");
    work.write("auth/kubeconfig", kubeconfig);
}

#[test]
fn first_certificates_that_ended_before_the_install_was_over_are_named_with_their_files() {
    let work = work::made();
    nowhere(&work);
    let ran = work.run_at("2026-11-17T00:00:00Z", &["recover", "certs"]).expect(9);
    for line in ["ended    kubelet-signer", "ended    aggregator-ca", "2026-11-16T00:00:00Z", "bootstrap.ign"]
    {
        assert!(ran.stdout.contains(line), "{line}: {}", ran.stdout);
    }
    let ran = ran.says("error[recovery-failed]").says("13 of the first certificates expired");
    let ran = ran.says("hardway create ignition-configs");
    assert!(!ran.stdout.contains("root-ca"), "lives ten years: {}", ran.stdout);

    let ran = work.run_at("2026-11-17T00:00:00Z", &["recover", "certs", "-o", "json"]).expect(9);
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(told["worn"]["certificates"].as_array().unwrap().len(), 13);
}

#[test]
fn while_nothing_has_ended_an_api_that_does_not_answer_is_all_there_is_to_say() {
    let work = work::made();
    nowhere(&work);
    let ran = work.refused(1, &["recover", "certs"]);
    ran.says("error[recovery-failed]")
        .says("the API server does not answer")
        .does_not_say("first certificates");
}

fn register(plane: &ControlPlane, node: &str) {
    let object =
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": format!("{node}.ocp4.example.com")}});
    create(plane, &object);
}

fn create(plane: &ControlPlane, object: &Value) {
    feed(plane.kubectl().args(["create", "-f", "-"]), &object.to_string());
}

/// As a kubelet that has come back.
fn renew_lease(plane: &ControlPlane, node: &str) {
    let object = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": format!("{node}.ocp4.example.com"), "namespace": "kube-node-lease"},
        "spec": {"renewTime": "2026-11-15T12:00:00.000000Z"}});
    create(plane, &object);
}

/// Everything boots from a stock pointer.
fn stock() -> Work {
    let inventory = INVENTORY
        .replace("role: master,", "role: master, stockPointer: true,")
        .replace("role: worker,", "role: worker, stockPointer: true,");
    assert_eq!(inventory.matches("stockPointer").count(), 4);
    work::with_inputs(INSTALL_CONFIG, &inventory)
}

/// `ssh` on this computer, as it would be with nobody there.
fn without_ssh(work: &Work, command: &mut Command) {
    work.write("bin/ssh", "#!/bin/sh\necho \"ssh: connect to host: No route to host\" >&2\nexit 255\n");
    succeed(Command::new("chmod").arg("755").arg(work.path("bin/ssh")));
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", work.path("bin").display()));
}

/// A host with an identity of its own: its next generation is made and taken to it, and what it asked with the one before is denied.
#[test]
fn real_a_silent_host_gets_its_next_generation() {
    let (plane, work) = (ControlPlane::start(), work::made());
    work::lead_to(&work, &plane);
    let complete =
        ["create", "configmap", "bootstrap", "-n", "kube-system", "--from-literal=status=complete"];
    succeed(plane.kubectl().args(complete));
    register(&plane, "master-0");
    ask(&plane, "csr-old", "master-0");
    let mut command = recover(&work, &[]);
    without_ssh(&work, &mut command);
    let recovering = Running::start(command);
    until("the script", || work.exists("recovery/master-0.sh"));
    until("the denial", || plane.get(&["csr", "csr-old"])["status"]["conditions"][0]["type"] == "Denied");
    assert_eq!(plane.get(&["csr", "csr-old"])["status"]["conditions"][0]["reason"], "IdentityReplaced");
    assert_eq!(work.mode("recovery/master-0.sh"), 0o600);
    let script = work.read("recovery/master-0.sh");
    assert!(script.contains("/etc/kubernetes/kubeconfig") && script.contains("systemctl restart kubelet"));
    assert!(!work.exists("recovery/worker-0.sh"), "it is not silent");
    ask_as(&plane, "csr-new", "master-0", |object| {
        object["spec"]["username"] = "hardway:host:master-0:2".into();
    });
    until("the approval", || is_approved(&plane, "csr-new"));
    renew_lease(&plane, "master-0");
    let Ran { stdout, stderr, .. } = recovering.end().expect(0);
    assert!(stdout.contains("approve csr-new  master-0.ocp4.example.com  rejoin"), "{stdout}{stderr}");
    assert!(stdout.contains("not put in place: ") && stdout.contains("No route to host"), "{stdout}");
    let command = " -- core@192.168.126.101 sudo bash -s <";
    assert!(stdout.contains("StrictHostKeyChecking=yes") && stdout.contains(command));
    assert!(stdout.contains("recovery/master-0.sh"), "{stdout}");
    let identity = |text: &str| work.read("secrets/identity.json").contains(text);
    assert!(identity(r#""number": 2"#) && identity(r#""comes": "in-place""#));
    assert!(!work.exists("recovery/master-0.sh"), "it has done its part");
    let key = work.read("secrets/host-identity-master-0.key");
    let line = key.lines().nth(1).unwrap();
    assert!(!stdout.contains(line) && !stderr.contains(line), "nothing of it is told");
}

/// Whoever has only the declared nodes can let nobody in that has an identity.
#[test]
fn real_without_the_folder_no_identity_can_be_made() {
    let (plane, work) = (ControlPlane::start(), work::with_inputs(INSTALL_CONFIG, INVENTORY));
    register(&plane, "master-0");
    work.write("declared.yaml", work.ok(&["csr", "declared"]).stdout);
    let (kubeconfig, declared) = (plane.kubeconfig(), work.path("declared.yaml"));
    let with = ["--kubeconfig", kubeconfig.to_str().unwrap(), "--timeout", "1s"];
    let by_document = [&with[..], &["--declared", declared.to_str().unwrap()]].concat();
    for arguments in [&with[..], &by_document] {
        let ran = Ran::of(recover(&work, arguments)).expect(9);
        ran.says("cannot make an identity for master-0.ocp4.example.com").says("error[recovery-blocked]");
    }
    assert!(!work.exists("recovery") && !work.exists("secrets/identity.json"));
}

#[test]
fn real_a_silent_node_from_a_stock_pointer_is_let_in_and_waited_for() {
    let (plane, work) = (ControlPlane::start(), stock());
    for node in ["master-0", "worker-0"] {
        register(&plane, node);
    }
    ask_as(&plane, "csr-master", "master-0", shared);
    ask_as(&plane, "csr-stranger", "worker-7", shared);
    let kubeconfig = plane.kubeconfig();
    let with = ["--kubeconfig", kubeconfig.to_str().unwrap()];

    let ran = Ran::of(recover(&work, &[&with[..], &["--dry-run", "-o", "json"]].concat())).expect(9);
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    let of = |node: &str| {
        let all = told["kubelets"].as_array().unwrap();
        all.iter().find(|one| one["node"] == format!("{node}.ocp4.example.com")).unwrap().clone()
    };
    assert_eq!(
        (&of("master-0")["standing"], &of("master-1")["standing"]),
        (&json!("silent"), &json!("absent"))
    );
    assert_eq!(of("master-0")["waiting"][0]["request"], "csr-master");
    ran.says("error[recovery-blocked]: silent: master-0.ocp4.example.com, worker-0.ocp4.example.com");
    assert!(!is_approved(&plane, "csr-master") && !work.exists("journal.jsonl"), "a dry run writes nothing");

    // By another address than the kubeconfig's; one node comes back, one does not.
    let text = fs_err::read_to_string(&kubeconfig).unwrap().replace(&plane.url(), "https://localhost:1");
    work.write("recovery.kubeconfig", text);
    let elsewhere = work.path("recovery.kubeconfig");
    let url = plane.url();
    let arguments = ["--kubeconfig", elsewhere.to_str().unwrap(), "--server", &url];
    let mut recovering = Running::start(recover(&work, &arguments));
    // What was asked before is not meant; its kubelet asks again.
    recovering.until_said("approving certificate requests (this process holds the lease)");
    until("what was asked before is held", || work.read("journal.jsonl").contains("node-exists"));
    assert!(!is_approved(&plane, "csr-master"));
    succeed(plane.kubectl().args(["delete", "csr", "csr-master"]));
    ask_as(&plane, "csr-again", "master-0", shared);
    until("the approval", || is_approved(&plane, "csr-again"));
    renew_lease(&plane, "master-0");
    recovering.signal("INT");
    let Ran { stdout, stderr, .. } = recovering.end().expect(8);
    assert!(stdout.contains("approve csr-again  master-0.ocp4.example.com  rejoin"), "{stdout}");
    assert!(stdout.contains("silent   worker-0.ocp4.example.com"), "{stdout}");
    assert!(stderr.contains("1 nodes are back") && stderr.contains("error[interrupted]"), "{stderr}");
    assert!(!is_approved(&plane, "csr-stranger"));

    renew_lease(&plane, "worker-0");
    succeed(plane.kubectl().args(["delete", "csr", "--all"]));
    let ran = Ran::of(recover(&work, &[&with[..], &["--silence", "20000h"]].concat())).expect(0);
    assert!(ran.stdout.contains("reports  worker-0.ocp4.example.com"), "{}", ran.stdout);
}

/// The serving certificate has ended; the recovery one, of a signer of its own, is presented to whoever asks for its name.
const MAKE_RECOVERY: &str = r#"
set -euo pipefail
key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key"; }
touch index.txt
openssl ca -batch -config <(printf '[ca]\ndefault_ca=a\n[a]\ndatabase=index.txt\nnew_certs_dir=.\nrand_serial=yes\npolicy=p\ncopy_extensions=copyall\n[p]\ncommonName=supplied\n') \
  -cert ca.crt -keyfile ca.key -md sha256 -in server.csr -startdate 20200101000000Z -enddate 20200102000000Z -notext -out ended.crt
key recovery-signer
openssl req -x509 -key recovery-signer.key -subj /CN=localhost-recovery-serving-signer -days 2 -out recovery-signer.crt
key recovery
openssl req -new -key recovery.key -subj /CN=localhost-recovery -addext subjectAltName=DNS:localhost-recovery -out recovery.csr
openssl x509 -req -in recovery.csr -CA recovery-signer.crt -CAkey recovery-signer.key -days 2 -copy_extensions copyall -out recovery.crt
"#;

/// As /etc/kubernetes/…/node-kubeconfigs/localhost-recovery.kubeconfig on a master, but for the address.
fn recovery_kubeconfig(plane: &ControlPlane, server: &str) -> String {
    let file = |name: &str| plane.folder().join(name);
    json!({"apiVersion": "v1", "kind": "Config", "current-context": "admin",
        "clusters": [{"name": "localhost-recovery", "cluster": {"server": server, "tls-server-name": "localhost-recovery",
            "certificate-authority": file("recovery-signer.crt")}}],
        "users": [{"name": "admin", "user": {"client-certificate": file("admin.crt"), "client-key": file("admin.key")}}],
        "contexts": [{"name": "admin", "context": {"cluster": "localhost-recovery", "user": "admin"}}]})
    .to_string()
}

#[test]
fn real_an_api_server_whose_certificate_has_ended_is_reached_by_its_recovery_name() {
    let (mut plane, work) = (ControlPlane::start(), stock());
    register(&plane, "master-0");
    succeed(Command::new("bash").args(["-c", MAKE_RECOVERY]).current_dir(plane.folder()));
    work.write("here.kubeconfig", recovery_kubeconfig(&plane, &plane.url()));
    // On a master localhost is the API server; where this runs, it is not.
    work.write("localhost-recovery.kubeconfig", recovery_kubeconfig(&plane, "https://localhost:1"));
    let (here, copied) = (work.path("here.kubeconfig"), work.path("localhost-recovery.kubeconfig"));
    plane.kill_api_server();
    let flags = [
        "--tls-cert-file=ended.crt",
        "--tls-private-key-file=server.key",
        "--tls-sni-cert-key=recovery.crt,recovery.key:localhost-recovery",
    ];
    plane.start_api_server_with(&flags, &here);

    let kubeconfig = plane.kubeconfig();
    let ran = Ran::of(recover(&work, &["--kubeconfig", kubeconfig.to_str().unwrap()])).expect(1);
    ran.says("error[recovery-failed]").says("localhost-recovery.kubeconfig from a master");

    let by_address = plane.url().replace("localhost", "127.0.0.1");
    let arguments = ["--kubeconfig", copied.to_str().unwrap(), "--server", &by_address];
    let mut recovering = Running::start(recover(&work, &arguments));
    recovering.until_said("approving certificate requests (this process holds the lease)");
    ask_with(plane.kubectl_with(&here), "csr-master", "master-0", shared);
    until("the approval", || {
        let mut get = plane.kubectl_with(&here);
        let found = succeed(get.args(["get", "csr", "csr-master", "-o", "json"]));
        found.contains("\"Approved\"")
    });
    recovering.signal("INT");
    let Ran { stdout, stderr, .. } = recovering.end().expect(8);
    assert!(stdout.contains("approve csr-master  master-0.ocp4.example.com  rejoin"), "{stdout}{stderr}");
}
