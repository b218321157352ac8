//! Each check that needs no pod, broken once, against a real API server.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::Path;

use fs_err as fs;
use hardway_assets::inventory::Role;
use hardway_base::Verdict;
use hardway_cluster::declared::{BOOTSTRAP_HOST, Declared, DeclaredNode, OtherAddress};
use hardway_cluster::verify::{Check, Verifier, VerifyOutcome};
use hardway_testing::{Server, free_port, succeed, until};
use serde_json::json;

use super::driver::Driver;
use super::verifying::verifier;

fn only(checks: &[Check]) -> BTreeSet<Check> {
    Check::ALL.into_iter().filter(|check| *check != Check::Api && !checks.contains(check)).collect()
}

async fn one(verifier: &Verifier, check: Check) -> VerifyOutcome {
    let verifier = Verifier { skip: only(&[check]), ..verifier.clone() };
    verifier.run().await.into_iter().find(|outcome| outcome.check == check).unwrap()
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn masters(addresses: &[(&str, &[IpAddr])]) -> Declared {
    let node = |(name, addresses): &(&str, &[IpAddr])| DeclaredNode {
        name: (*name).to_owned(),
        host: (*name).to_owned(),
        role: Some(Role::Master),
        addresses: addresses.to_vec(),
        identity: None,
    };
    Declared { nodes: addresses.iter().map(node).collect(), ..Declared::default() }
}

fn told(outcome: &VerifyOutcome, verdict: Verdict, words: &str) {
    let judged = &outcome.judged;
    assert_eq!(judged.verdict, verdict, "{outcome:?}");
    assert!(judged.seen.iter().any(|seen| seen.contains(words)), "{words}: {outcome:?}");
    assert_eq!(judged.fix.is_some(), matches!(verdict, Verdict::Failed | Verdict::Warned), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_each_check_without_a_pod_is_broken_once() {
    let driver = Driver::start().await;
    let mut verifier = verifier(&driver);
    let says = succeed(driver.plane.kubectl().args(["get", "--raw=/api"]));
    let says: serde_json::Value = serde_json::from_str(&says).unwrap();
    let address = says["serverAddressByClientCIDRs"][0]["serverAddress"].as_str().unwrap();
    let advertised = address.parse::<std::net::SocketAddr>().unwrap().ip();
    let here = [ip("127.0.0.1"), advertised];

    // Masters: well; one of two is gone; none can be reached from here.
    verifier.declared = masters(&[("m0", &here)]);
    told(&one(&verifier, Check::Masters).await, Verdict::Passed, "1 masters answer /readyz");
    verifier.declared = masters(&[("m0", &here), ("m1", &[ip("127.0.0.2")])]);
    told(&one(&verifier, Check::Masters).await, Verdict::Failed, "m1 does not answer at 127.0.0.2");
    verifier.declared = masters(&[("m1", &[ip("127.0.0.2")])]);
    told(&one(&verifier, Check::Masters).await, Verdict::Skipped, "not checked: no master can be reached");

    balancer(&driver, &mut verifier, &here).await;

    // A kubelet waits for its certificate, and is refused.
    told(&one(&verifier, Check::Requests).await, Verdict::Passed, "none pending");
    ask_for_certificate(&driver);
    told(
        &one(&verifier, Check::Requests).await,
        Verdict::Warned,
        "\"waiting\" of \"admin\" to kubernetes.io/kube-apiserver-client is pending",
    );
    succeed(driver.plane.kubectl().args(["certificate", "deny", "waiting"]));
    told(&one(&verifier, Check::Requests).await, Verdict::Passed, "none pending");

    // A kube-proxy on a master; a bootstrap host that serves.
    verifier.declared = masters(&[("m0", &here)]);
    told(&one(&verifier, Check::Leftovers).await, Verdict::Passed, "no kube-proxy on masters");
    let pod = json!({"metadata": {"name": "kube-proxy-m0"}, "spec": {"nodeName": "m0", "containers": [{"name": "c", "image": "i"}]}});
    driver.put("Pod", Some("kube-system"), pod).await;
    told(&one(&verifier, Check::Leftovers).await, Verdict::Failed, "pod kube-system/kube-proxy-m0 on m0");
    let now = ["delete", "pod", "-n", "kube-system", "kube-proxy-m0", "--grace-period=0", "--force"];
    succeed(driver.plane.kubectl().args(now));
    verifier.declared.other_addresses =
        vec![OtherAddress { address: here[0], of: BOOTSTRAP_HOST.to_owned() }];
    told(
        &one(&verifier, Check::Leftovers).await,
        Verdict::Failed,
        "the bootstrap host still serves at 127.0.0.1",
    );

    certificate_and_name(&driver, &mut verifier).await;
    registry(&driver, &verifier).await;
}

/// Only masters answer; somebody else does; a server in the pool is gone; one of two masters is not in it.
async fn balancer(driver: &Driver, verifier: &mut Verifier, here: &[IpAddr]) {
    verifier.declared = masters(&[("m0", here)]);
    told(&one(verifier, Check::Balancer).await, Verdict::Passed, "came to 1 masters and nobody else");
    verifier.declared = masters(&[("m0", &here[..1])]);
    verifier.declared.other_addresses =
        vec![OtherAddress { address: here[1], of: BOOTSTRAP_HOST.to_owned() }];
    let stranger = one(verifier, Check::Balancer).await;
    told(&stranger, Verdict::Failed, "is not a master: the bootstrap host");
    verifier.declared = masters(&[("m0", here), ("m1", &[ip("192.0.2.77")])]);
    told(&one(verifier, Check::Balancer).await, Verdict::Warned, "not in its pool: m1");

    let folder = tempfile::tempdir().unwrap();
    let (port, gone, api) = (free_port(), free_port(), driver.config.cluster_url.port_u16().unwrap());
    let config = format!(
        "defaults\n mode tcp\n retries 0\n timeout connect 5s\n timeout client 1h\n timeout server 1h\n\
         listen api\n bind 127.0.0.1:{port}\n balance roundrobin\n server m0 127.0.0.1:{api}\n server m1 127.0.0.1:{gone}\n"
    );
    fs::write(folder.path().join("haproxy.cfg"), config).unwrap();
    let _running = Server::start(Path::new("/usr/sbin/haproxy"), ["-db", "-f", "haproxy.cfg"], folder.path());
    until("the balancer listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    let mut behind = verifier.clone();
    behind.config.cluster_url = format!("https://localhost:{port}").parse().unwrap();
    // Every second connection is lost, and the first question may be one of them.
    let failed = loop {
        let outcome = one(&behind, Check::Balancer).await;
        if outcome.judged.verdict != Verdict::Skipped {
            break outcome;
        }
    };
    told(&failed, Verdict::Failed, "connections to https://localhost:");
}

fn ask_for_certificate(driver: &Driver) {
    let folder = tempfile::tempdir().unwrap();
    let make = "openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=somebody -keyout key -out csr 2>/dev/null; base64 -w0 csr";
    let request = succeed(std::process::Command::new("bash").args(["-c", make]).current_dir(folder.path()));
    let object = json!({"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": "waiting"},
        "spec": {"request": request.trim(), "signerName": "kubernetes.io/kube-apiserver-client", "usages": ["client auth"]}});
    let file = folder.path().join("request.json");
    fs::write(&file, object.to_string()).unwrap();
    succeed(driver.plane.kubectl().args(["create", "-f"]).arg(&file));
}

/// A certificate has ended, as an operator wrote it beside its Secret; and a wildcard answers for a name that nobody has.
async fn certificate_and_name(driver: &Driver, verifier: &mut Verifier) {
    told(&one(verifier, Check::Certificates).await, Verdict::Passed, "localhost");
    succeed(driver.plane.kubectl().args(["create", "secret", "generic", "ended", "-n", "kube-system"]));
    let ends = "auth.openshift.io/certificate-not-after=2020-01-01T00:00:00Z";
    succeed(driver.plane.kubectl().args(["annotate", "secret", "ended", "-n", "kube-system", ends]));
    told(
        &one(verifier, Check::Certificates).await,
        Verdict::Failed,
        "secret kube-system/ended expired at 2020-01-01",
    );

    told(&one(verifier, Check::Names).await, Verdict::Passed, "localhost");
    verifier.surroundings.absent = vec!["localhost".to_owned()];
    told(&one(verifier, Check::Names).await, Verdict::Warned, "but nobody has that name");
}

/// Managed and well; Managed, and its pods do not come up.
async fn registry(driver: &Driver, verifier: &Verifier) {
    let folder = tempfile::tempdir().unwrap();
    let object = |status: &str| {
        json!({"apiVersion": "imageregistry.operator.openshift.io/v1", "kind": "Config", "metadata": {"name": "cluster"},
            "spec": {"managementState": "Managed", "storage": {"emptyDir": {}}},
            "status": {"conditions": [{"type": "Available", "status": status, "reason": "NoReplicasAvailable", "message": "as played"}]}})
    };
    let apply = |name: &str, text: String| {
        let file = folder.path().join(name);
        fs::write(&file, text).unwrap();
        succeed(driver.plane.kubectl().args(["apply", "-f"]).arg(&file));
    };
    apply("crd.json", REGISTRY.to_owned());
    let crd = "crd/configs.imageregistry.operator.openshift.io";
    succeed(driver.plane.kubectl().args(["wait", "--for=condition=Established", "--timeout=120s", crd]));
    for (status, verdict, words) in [
        ("True", Verdict::Passed, "with storage emptyDir"),
        ("False", Verdict::Failed, "Available=False: NoReplicasAvailable: as played"),
    ] {
        apply("registry.json", object(status).to_string());
        told(&one(verifier, Check::ImageRegistry).await, verdict, words);
    }
}

/// Accepts anything.
const REGISTRY: &str = r#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
"metadata": {"name": "configs.imageregistry.operator.openshift.io"}, "spec": {"group": "imageregistry.operator.openshift.io", "scope": "Cluster",
"names": {"kind": "Config", "plural": "configs", "singular": "config", "listKind": "ConfigList"},
"versions": [{"name": "v1", "served": true, "storage": true,
"schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}}"#;
