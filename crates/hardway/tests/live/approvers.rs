//! Every program that can approve, and the same hostile requests for each: there is one judge.

use std::process::Command;

use hardway_assets::yaml;
use hardway_testing::{ControlPlane, INSTALL_CONFIG, INVENTORY, Running, feed, succeed};
use serde_json::json;

use crate::work;

const CLIENT: &str = "kubernetes.io/kube-apiserver-client-kubelet";
const SERVING: &str = "kubernetes.io/kubelet-serving";
const BOOTSTRAPPER: &str = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper";
const MCO_GROUP: &str = "system:serviceaccounts:openshift-machine-config-operator";

/// One request.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    signer: &'static str,
    usage: &'static str,
    subject: &'static str,
    names: &'static str,
    user: &'static str,
    group: &'static str,
}

/// What a kubelet of a new worker asks for, and what the one of a node asks for.
const FIRST: Case = Case {
    name: "first",
    signer: CLIENT,
    usage: "client auth",
    subject: "/O=system:nodes/CN=system:node:worker-0.ocp4.example.com",
    names: "",
    user: "hardway:host:worker-0:1",
    group: "hardway:hosts",
};
const THEN: Case = Case {
    name: "then",
    signer: SERVING,
    usage: "server auth",
    subject: "/O=system:nodes/CN=system:node:master-0.ocp4.example.com",
    names: "DNS:master-0.ocp4.example.com,IP:192.168.126.101",
    user: "system:node:master-0.ocp4.example.com",
    group: "system:nodes",
};
/// master-1 is not there yet, and nobody asks for it but strangers.
const SPOILT: Case = Case {
    subject: "/O=system:nodes/CN=system:node:master-1.ocp4.example.com",
    user: "hardway:host:master-1:1",
    ..FIRST
};

// One line per case, so that it reads as the table it is.
#[rustfmt::skip]
const HOSTILE: &[Case] = &[
    Case { name: "stranger", subject: "/O=system:nodes/CN=system:node:worker-9.ocp4.example.com", ..FIRST },
    Case { name: "admin", subject: "/O=system:masters/CN=admin", ..FIRST },
    Case { name: "two-groups", subject: "/O=system:nodes/O=system:masters/CN=system:node:master-1.ocp4.example.com", ..FIRST },
    Case { name: "second-key-of-a-node", subject: THEN.subject, user: "hardway:host:master-0:1", ..FIRST },
    Case { name: "shared-identity", user: BOOTSTRAPPER, group: MCO_GROUP, ..SPOILT },
    Case { name: "another-host", user: "hardway:host:worker-0:1", ..SPOILT },
    Case { name: "other-account", user: "system:serviceaccount:default:thief", ..SPOILT },
    Case { name: "without-group", group: "system:serviceaccounts", ..SPOILT },
    Case { name: "client-names", names: "DNS:master-1.ocp4.example.com", ..SPOILT },
    Case { name: "client-serves", usage: "server auth", ..SPOILT },
    Case { name: "other-signer", signer: "kubernetes.io/kube-apiserver-client", ..SPOILT },
    Case { name: "foreign-address", names: "DNS:master-0.ocp4.example.com,IP:192.168.126.102", ..THEN },
    Case { name: "foreign-name", names: "DNS:master-0.ocp4.example.com,DNS:api.ocp4.example.com", ..THEN },
    Case { name: "uri", names: "DNS:master-0.ocp4.example.com,URI:https://master-0", ..THEN },
    Case { name: "comma", names: "URI:x\\,DNS:master-0.ocp4.example.com", ..THEN },
    Case { name: "no-names", names: "", ..THEN },
    Case { name: "for-another", user: "system:node:master-1.ocp4.example.com", ..THEN },
    Case { name: "serving-by-bootstrapper", user: BOOTSTRAPPER, group: MCO_GROUP, ..THEN },
];

/// How each is started, and whether it may let a new machine in: the one inside the cluster does not know who fetched a config.
const PROGRAMS: &[(&str, &[&str], bool)] = &[
    ("approve", &["approve"], true),
    ("approve --watch", &["approve", "--watch"], true),
    ("wait-for bootstrap-complete", &["wait-for", "bootstrap-complete"], true),
    ("wait-for install-complete", &["wait-for", "install-complete"], true),
    ("deploy/approver", &["deploy/approver"], false),
];

#[test]
fn real_hostile_requests_get_nothing_from_any_program() {
    let plane = ControlPlane::start();
    plane.apply(
        &json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "master-0.ocp4.example.com"}}),
    );
    for (name, arguments, lets_in) in PROGRAMS {
        HOSTILE.iter().chain([&FIRST, &THEN]).for_each(|case| request(&plane, case));
        let work = work::with_inputs(INSTALL_CONFIG, INVENTORY).with_real_clock();
        work.write("auth/kubeconfig", plane.read("kubeconfig"));
        let mut program = Running::start(command(&work, arguments));
        program.until_so(&format!("{name}: the good are approved"), || {
            is_approved(&plane, "then") && (!lets_in || is_approved(&plane, "first"))
        });
        program.until_so(&format!("{name}: the rest is decided"), || {
            let log = work.path("logs/approvals.jsonl");
            let log = std::fs::read_to_string(log).unwrap_or_default();
            HOSTILE.iter().all(|case| case.name == "other-signer" || log.contains(case.name))
        });
        let approved: Vec<&str> =
            HOSTILE.iter().map(|case| case.name).filter(|case| is_approved(&plane, case)).collect();
        assert!(approved.is_empty(), "{name} approved {approved:?}");
        assert_eq!(is_approved(&plane, "first"), *lets_in, "{name}");
        if *name != "approve" {
            program.signal("TERM");
        }
        program.exit();
        succeed(plane.kubectl().args(["delete", "csr", "--all"]));
    }
}

/// While somebody else approves, `wait-for` only waits; when that one ends, it takes over.
#[test]
fn real_waiting_approves_hands_over_and_leaves_it_to_others_when_told() {
    let plane = ControlPlane::start();
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY).with_real_clock();
    work.write("auth/kubeconfig", plane.read("kubeconfig"));

    let mut other = Running::start(command(&work, &["approve", "--watch"]));
    other.until_said("approving certificate requests (this process holds the lease)");
    let mut waiting = Running::start(command(&work, &["wait-for", "bootstrap-complete"]));
    waiting.until_said("Approving certificate requests of expected nodes by policy");
    waiting.until_said("this process takes over when it stops");
    other.signal("TERM");
    other.exit();
    waiting.until_said("Approving certificate requests (this process holds the lease)");
    request(&plane, &FIRST);
    waiting.until_said("Certificate request first of worker-0.ocp4.example.com: approve: first-client");
    waiting.signal("INT");
    assert_eq!(waiting.exit(), Some(8));
    let lease = plane.get(&["lease", "hardway-approver", "-n", "kube-system"]);
    assert_eq!(lease["spec"]["holderIdentity"], "", "let go: the next one need not wait");

    // Nobody approves, and that is said twice: at once, and when it came to nothing.
    request(&plane, &Case { name: "later", ..SPOILT });
    let ran = work.run(&["wait-for", "bootstrap-complete", "--no-approve", "--timeout", "4s"]);
    assert_eq!(ran.code, Some(5), "{}", ran.stderr);
    for words in [
        "Not approving certificate requests: --no-approve",
        "Machines become nodes only when",
        "approve --dry-run",
    ] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    // A KUBECONFIG that was left set leads to somebody else's cluster, for all that is known, and is not used.
    work.write("elsewhere.kubeconfig", plane.read("kubeconfig"));
    work.remove("auth/kubeconfig");
    let mut command = command(&work, &["wait-for", "bootstrap-complete", "--timeout", "4s"]);
    command.env("KUBECONFIG", work.path("elsewhere.kubeconfig"));
    hardway_testing::Ran::of(command).expect(3).says("ignoring $KUBECONFIG").says("kubeconfig not found");
    assert!(!is_approved(&plane, "later"));
}

/// A machine is replaced meanwhile: another process begins the next generation of its host's identity, and from then on the one
/// before is worth nothing, whoever approves.
#[test]
fn real_every_program_follows_the_generations_of_a_host() {
    let plane = ControlPlane::start();
    // An identity that is put in place is for a node that is there.
    plane.apply(
        &json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "worker-0.ocp4.example.com"}}),
    );
    for (name, arguments, knows_folder) in PROGRAMS {
        if *name == "approve" || !knows_folder {
            continue;
        }
        let work = work::made().with_real_clock();
        work::lead_to(&work, &plane);
        let mut program = Running::start(command(&work, arguments));
        program.until_said("pproving certificate requests (this process holds the lease");
        next_generation(&work, "worker-0");
        request(&plane, &Case { name: "new", user: "hardway:host:worker-0:2", ..FIRST });
        program.until_so(&format!("{name}: the new identity is let in"), || is_approved(&plane, "new"));
        request(&plane, &Case { name: "old", ..FIRST });
        program.until_so(&format!("{name}: the old one is refused"), || is_denied(&plane, "old"));
        program.signal("TERM");
        program.exit();
        succeed(plane.kubectl().args(["delete", "csr", "--all"]));
    }
}

/// As `hardway node replace` and `hardway certs recover` begin it.
fn next_generation(work: &hardway_testing::Work, host: &str) {
    let mut identity: serde_json::Value = serde_json::from_str(&work.read("secrets/identity.json")).unwrap();
    let since = jiff::Timestamp::now().to_string();
    identity["generations"] = json!({host: {"number": 2, "since": since, "comes": "in-place"}});
    work.write("secrets/identity.json.next", identity.to_string());
    let [next, now] = ["secrets/identity.json.next", "secrets/identity.json"].map(|name| work.path(name));
    std::fs::rename(next, now).unwrap();
}

/// As the words say; the approver of `deploy/` with the arguments of its Deployment.
fn command(work: &hardway_testing::Work, arguments: &[&str]) -> Command {
    if arguments != ["deploy/approver"] {
        return work.command(arguments);
    }
    work.write("declared.yaml", &work.ok(&["csr", "declared"]).stdout);
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/approver/deployment.yaml");
    let deployment = yaml::read(&std::fs::read_to_string(file).unwrap()).unwrap().to_json();
    let arguments = deployment["spec"]["template"]["spec"]["containers"][0]["args"].clone();
    let arguments: Vec<String> = serde_json::from_value(arguments).unwrap();
    let declared = work.path("declared.yaml").display().to_string();
    let here: Vec<String> = arguments
        .iter()
        .filter(|argument| !argument.starts_with("--dir="))
        .map(|argument| argument.replace("/etc/hardway/declared.yaml", &declared))
        .collect();
    assert!(here.iter().any(|argument| argument.ends_with(&declared)), "{arguments:?}");
    work.command(&here.iter().map(String::as_str).collect::<Vec<_>>())
}

fn is_approved(plane: &ControlPlane, name: &str) -> bool {
    plane.get(&["csr", name])["status"]["conditions"][0]["type"] == "Approved"
}

fn is_denied(plane: &ControlPlane, name: &str) -> bool {
    plane.get(&["csr", name])["status"]["conditions"][0]["type"] == "Denied"
}

/// Asks as that user, on the real API server, with a key of its own.
fn request(plane: &ControlPlane, case: &Case) {
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]);
    openssl.args(["-keyout", "/dev/null", "-subj", case.subject, "-outform", "PEM"]);
    if !case.names.is_empty() {
        openssl.args(["-addext", &format!("subjectAltName={}", case.names)]);
    }
    let pem = openssl.output().unwrap();
    assert!(pem.status.success(), "{}: {}", case.name, String::from_utf8_lossy(&pem.stderr));
    let encoded = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, &pem.stdout);
    let object = json!({
        "apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": case.name},
        "spec": {"signerName": case.signer, "request": encoded, "usages": ["digital signature", case.usage]},
    });
    let mut create = plane.kubectl();
    create.args(["create", "-f", "-", "--as", case.user, "--as-group", case.group]);
    let serviceaccounts = ["--as-group", "system:serviceaccounts"];
    create.args(if case.group == MCO_GROUP { &serviceaccounts[..] } else { &[] });
    feed(create.args(["--as-group", "system:authenticated"]), &object.to_string());
}
