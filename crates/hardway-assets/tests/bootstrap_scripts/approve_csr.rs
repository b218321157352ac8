//! `approve-csr.sh`: who gets a certificate, and who does not.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::json;

use super::control_plane::ControlPlane;
use super::host::{Host, succeed};

const CLIENT: &str = "kubernetes.io/kube-apiserver-client-kubelet";
const SERVING: &str = "kubernetes.io/kubelet-serving";
const BOOTSTRAPPER: &str = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper";
const MCO_GROUP: &str = "system:serviceaccounts:openshift-machine-config-operator";
const EXPECTED: &str = "master-0 192.168.126.101 2001:db8::5\nmaster-1 192.168.126.102\n";

/// One request, and what must become of it: approved, or left alone for this reason.
struct Case {
    name: &'static str,
    signer: &'static str,
    usage: &'static str,
    subject: &'static str,
    names: &'static str,
    user: &'static str,
    group: &'static str,
    outcome: Result<(), &'static str>,
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
    outcome: Ok(()),
};
const THEN: Case = Case {
    name: "then",
    signer: SERVING,
    usage: "server auth",
    names: "DNS:master-0,IP:192.168.126.101",
    user: "system:node:master-0",
    group: "system:nodes",
    ..FIRST
};

// One line a case, so that it reads as the table it is.
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
    let approve =
        || succeed(host.script("approve-csr.sh").env("OC", plane.oc()).arg("--once").arg(plane.kubeconfig()));

    let said = approve();
    for case in CASES {
        let live = plane.get(&["csr", case.name]);
        let approved = live["status"]["conditions"][0]["type"] == "Approved";
        assert_eq!(approved, case.outcome.is_ok(), "{}: {said}", case.name);
        let line = match case.outcome {
            Ok(()) => format!("approved {}", case.name),
            Err(_) => format!("left {} alone: ", case.name),
        };
        let line = said.lines().find(|l| l.starts_with(&line)).unwrap_or_else(|| panic!("{line}: {said}"));
        assert!(line.contains(case.outcome.err().unwrap_or_default()), "{line}");
    }
    assert!(!approve().contains("approved"), "nothing is approved twice");
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
    let approved = || plane.get(&["csr", case.name])["status"]["conditions"][0]["type"] == "Approved";
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

fn request(plane: &ControlPlane, host: &Host, case: &Case) {
    let mut openssl = Command::new("openssl");
    openssl.args([
        "req",
        "-new",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-keyout",
        "/dev/null",
    ]);
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
