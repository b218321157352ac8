//! `approve-csr.sh`: who gets a certificate, and who does not.

use std::io::Write as _;
use std::process::{Command, Stdio};

use hardway_testing::{ControlPlane, succeed};
use serde_json::json;

use super::host::Host;

const CLIENT: &str = "kubernetes.io/kube-apiserver-client-kubelet";
const SERVING: &str = "kubernetes.io/kubelet-serving";
const BOOTSTRAPPER: &str = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper";
const MCO_GROUP: &str = "system:serviceaccounts:openshift-machine-config-operator";
const EXPECTED: &str = "master-0 192.168.126.101 2001:db8::5\nmaster-1 192.168.126.102\n";

/// One request, and what must become of it: approved, or left alone for this reason.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) signer: &'static str,
    pub(crate) usage: &'static str,
    pub(crate) subject: &'static str,
    pub(crate) names: &'static str,
    pub(crate) user: &'static str,
    pub(crate) group: &'static str,
    /// The file of its key: made if there is none, and not kept if it has no name.
    pub(crate) key: &'static str,
    pub(crate) outcome: Result<(), &'static str>,
}

/// What a kubelet of master-0 asks for first, and what it asks for then.
const FIRST: Case = Case {
    name: "first",
    signer: CLIENT,
    usage: "client auth",
    subject: "/O=system:nodes/CN=system:node:master-0",
    names: "",
    user: BOOTSTRAPPER,
    group: MCO_GROUP,
    key: "",
    outcome: Ok(()),
};
pub(crate) const THEN: Case = Case {
    name: "then",
    signer: SERVING,
    usage: "server auth",
    names: "DNS:master-0,IP:192.168.126.101",
    user: "system:node:master-0",
    group: "system:nodes",
    ..FIRST
};

// One line per case, so that it reads as the table it is.
#[rustfmt::skip]
const CASES: &[Case] = &[
    FIRST,
    THEN,
    Case { name: "long-ipv6", names: "DNS:master-0,IP:2001:DB8:0:0:0:0:0:5", ..THEN },
    Case { name: "address-only", names: "IP:192.168.126.101", ..THEN },
    Case { name: "stranger", subject: "/O=system:nodes/CN=system:node:worker-0", outcome: Err("no node named worker-0 is expected"), ..FIRST },
    Case { name: "admin", subject: "/O=system:masters/CN=admin", outcome: Err("is not that of a node"), ..FIRST },
    Case { name: "two-groups", subject: "/O=system:nodes/O=system:masters/CN=system:node:master-0", outcome: Err("is not that of a node"), ..FIRST },
    Case { name: "other-account", user: "system:serviceaccount:default:thief", outcome: Err("asked for by system:serviceaccount:default:thief"), ..FIRST },
    Case { name: "renewal", user: "system:node:master-0", group: "system:nodes", outcome: Err("asked for by system:node:master-0"), ..FIRST },
    Case { name: "without-group", group: "system:serviceaccounts", outcome: Err("comes without its group"), ..FIRST },
    Case { name: "client-names", names: "DNS:master-0", outcome: Err("needs no names"), ..FIRST },
    Case { name: "client-serves", usage: "server auth", outcome: Err("not those of a client"), ..FIRST },
    Case { name: "foreign-address", names: "DNS:master-0,IP:192.168.126.102", outcome: Err("IP Address 192.168.126.102 does not belong to master-0"), ..THEN },
    Case { name: "foreign-name", names: "DNS:master-0,DNS:api.ocp4.example.com", outcome: Err("DNS api.ocp4.example.com does not belong to master-0"), ..THEN },
    Case { name: "uri", names: "DNS:master-0,URI:https://master-0", outcome: Err("URI https://master-0 does not belong"), ..THEN },
    Case { name: "comma", names: "URI:x\\,DNS:master-0", outcome: Err("does not belong to master-0"), ..THEN },
    Case { name: "no-names", names: "", outcome: Err("without any name"), ..THEN },
    Case { name: "for-another", user: "system:node:master-1", outcome: Err("of master-0 is asked for by system:node:master-1"), ..THEN },
    Case { name: "serving-by-bootstrapper", user: BOOTSTRAPPER, group: MCO_GROUP, outcome: Err("is asked for by system:serviceaccount"), ..THEN },
    Case { name: "other-signer", signer: "kubernetes.io/kube-apiserver-client", outcome: Err("signer kubernetes.io/kube-apiserver-client is none of a kubelet"), ..FIRST },
];

#[test]
fn real_only_expected_masters_are_approved() {
    let (plane, host) = (ControlPlane::shared(), Host::new());
    host.write("opt/openshift/expected-nodes", EXPECTED);
    CASES.iter().for_each(|case| request(&plane, &host, case));
    check(&plane, &approve(&plane, &host), CASES);
    assert!(!approve(&plane, &host).contains("approved"), "nothing is approved twice");
}

/// The kubeconfig to ask with is served to everybody, so it must not be worth a second certificate.
#[test]
fn real_a_node_that_has_joined_gets_no_second_client_certificate() {
    let (plane, host) = (ControlPlane::shared(), Host::new());
    host.write("opt/openshift/expected-nodes", "joined-0 192.168.126.107\n");
    host.write("node.json", r#"{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "joined-0"}}"#);
    succeed(plane.kubectl().args(["create", "-f"]).arg(host.path("node.json")));
    let subject = "/O=system:nodes/CN=system:node:joined-0";
    let outcome = Err("node joined-0 exists already");
    let cases = [
        Case { name: "joined-client", subject, outcome, ..FIRST },
        Case {
            name: "joined-serving",
            subject,
            names: "DNS:joined-0,IP:192.168.126.107",
            user: "system:node:joined-0",
            ..THEN
        },
    ];
    cases.iter().for_each(|case| request(&plane, &host, case));
    let said = approve(&plane, &host);
    check(&plane, &said, &cases);
    assert!(said.contains("oc adm certificate approve joined-client"), "{said}");
}

#[test]
fn real_another_key_for_the_same_node_is_held_for_a_person() {
    let (plane, host) = (ControlPlane::shared(), Host::new());
    host.write("opt/openshift/expected-nodes", "twice-0 192.168.126.108\n");
    let asks = Case { subject: "/O=system:nodes/CN=system:node:twice-0", key: "own.key", ..FIRST };
    let own = Case { name: "twice-own", ..asks };
    request(&plane, &host, &own);
    check(&plane, &approve(&plane, &host), &[own]);

    let outcome = Err("was approved for another key (twice-");
    let later = [
        Case { name: "twice-retry", ..asks },
        Case { name: "twice-a-stranger", key: "other.key", outcome, ..asks },
    ];
    later.iter().for_each(|case| request(&plane, &host, case));
    let said = approve(&plane, &host);
    check(&plane, &said, &later);
    // Either request with the approved key may be the one that is named; what a person can do is said in any case.
    assert!(said.contains("); if you know that this machine"), "{said}");

    // A person knows better; from then on that key is as good as the first.
    succeed(plane.kubectl().args(["certificate", "approve", "twice-a-stranger"]));
    let known = [Case { name: "twice-known", key: "other.key", ..asks }];
    known.iter().for_each(|case| request(&plane, &host, case));
    check(&plane, &approve(&plane, &host), &known);
}

#[test]
fn real_of_two_that_ask_at_the_same_time_one_is_approved() {
    let (plane, host) = (ControlPlane::shared(), Host::new());
    host.write("opt/openshift/expected-nodes", "race-0 192.168.126.109\n");
    let asks = Case { subject: "/O=system:nodes/CN=system:node:race-0", ..FIRST };
    for name in ["race-a", "race-b"] {
        request(&plane, &host, &Case { name, ..asks });
    }
    let said = approve(&plane, &host);
    assert_eq!(said.matches("approved race-").count(), 1, "{said}");
    let approved = ["race-a", "race-b"].map(|name| is_approved(&plane, name));
    assert_eq!(approved.iter().filter(|approved| **approved).count(), 1, "{said}");
}

#[test]
fn real_it_ends_with_bootkube_and_asks_the_masters_when_this_host_no_longer_answers() {
    let (plane, host) = (ControlPlane::shared(), Host::new());
    // A node of its own: the other test's requests are not this one's business.
    host.write("opt/openshift/expected-nodes", "master-9 192.168.126.109\n");
    host.write("opt/openshift/auth/kubeconfig", &plane.read("kubeconfig"));
    host.write(
        "loopback",
        &host.read("opt/openshift/auth/kubeconfig").replace("https://localhost:", "https://localhost:1"),
    );
    let case = Case { name: "after-teardown", subject: "/O=system:nodes/CN=system:node:master-9", ..FIRST };
    request(&plane, &host, &case);
    let mut service = host.script("approve-csr.sh");
    let mut service =
        service.env("OC", plane.oc()).arg(host.path("loopback")).stdout(Stdio::piped()).spawn().unwrap();
    let approved = || is_approved(&plane, case.name);
    for _ in 0..100 {
        if approved() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    host.write("opt/openshift/.bootkube.done", "");
    assert!(service.wait().unwrap().success());
    assert!(approved());
    let record = host.json("records/approve-csr.json");
    assert_eq!(record.as_array().unwrap().last().unwrap()["result"], "success");
}

fn approve(plane: &ControlPlane, host: &Host) -> String {
    succeed(host.script("approve-csr.sh").env("OC", plane.oc()).arg("--once").arg(plane.kubeconfig()))
}

pub(crate) fn is_approved(plane: &ControlPlane, name: &str) -> bool {
    plane.get(&["csr", name])["status"]["conditions"][0]["type"] == "Approved"
}

/// Each case had its outcome, and that was said.
fn check(plane: &ControlPlane, said: &str, cases: &[Case]) {
    for case in cases {
        assert_eq!(is_approved(plane, case.name), case.outcome.is_ok(), "{}: {said}", case.name);
        let line = match case.outcome {
            Ok(()) => format!("approved {}", case.name),
            Err(_) => format!("left {} alone: ", case.name),
        };
        let line = said.lines().find(|l| l.starts_with(&line)).unwrap_or_else(|| panic!("{line}: {said}"));
        assert!(line.contains(case.outcome.err().unwrap_or_default()), "{line}");
    }
}

/// Asks as that user, on the real API server.
pub(crate) fn request(plane: &ControlPlane, host: &Host, case: &Case) {
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-new"]);
    if host.has(case.key) && !case.key.is_empty() {
        openssl.args(["-key", case.key]);
    } else {
        let kept = if case.key.is_empty() { "/dev/null" } else { case.key };
        openssl.args(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", kept]);
    }
    openssl.args(["-subj", case.subject, "-outform", "PEM"]).current_dir(host.path(""));
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
    create.args([
        "create",
        "-f",
        "-",
        "--as",
        case.user,
        "--as-group",
        case.group,
        "--as-group",
        "system:authenticated",
    ]);
    let mut create = create.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    create.stdin.take().unwrap().write_all(object.to_string().as_bytes()).unwrap();
    assert!(create.wait().unwrap().success(), "{}", case.name);
}
