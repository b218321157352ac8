//! `hardway hosted` as a user meets it, on two real API servers. HyperShift's operators are a stand-in, machines are played.

mod daemon;
mod machine;
mod one_flow;
mod place;
mod render;
mod workers_only;

use hardway_testing::{free_port, succeed, until};
use place::Place;
use serde_json::json;

#[test]
fn real_from_a_cluster_to_its_workers() {
    let place = Place::start();
    made_once(&place);
    gates_are_told(&place);
    a_token_for_the_pod(&place);
    workers_come_and_go(&place);
    the_network_certificate(&place);
    fetches_are_written_down(&place);
    let leaks = std::process::Command::new("grep")
        .args(["-rl", &place.token().unwrap()])
        .arg(place.folder.path("journal.jsonl"))
        .output()
        .unwrap();
    assert!(leaks.stdout.is_empty());
    let ran = place.hosted(&["cluster", "delete", "demo", "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(place.hosted(&["cluster", "delete", "demo", "--yes"]).code, Some(1), "it is gone");
}

fn made_once(place: &Place) {
    let create = [
        "cluster",
        "create",
        "demo",
        "--external-api-server-address",
        "127.0.0.1",
        "--release-image",
        "quay.io/x:1",
        "--pull-secret",
        "pull-secret.json",
    ];
    let ran = place.hosted(&create);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let again = place.hosted(&create);
    assert_eq!(again.code, Some(1));
    assert!(again.stderr.contains("HostedCluster demo already exists"), "{}", again.stderr);
    // Another cluster may not have the same ports.
    place
        .plane
        .kubectl()
        .args(["create", "service", "nodeport", "taken", "--tcp=80", "--node-port=30020"])
        .status()
        .unwrap();
    let mut other = create.to_vec();
    other[2] = "other";
    other.extend(["--node-port-base", "30018"]);
    let ran = place.hosted(&other);
    assert!(
        ran.code == Some(1) && ran.stderr.contains("30020 for Konnectivity belongs to Service default/taken"),
        "{}",
        ran.stderr
    );
    let status = place.hosted(&["cluster", "status", "demo", "-o", "json"]);
    assert_eq!(status.json()["nodePools"][0]["name"], "demo");
    assert_eq!(place.hosted(&["cluster", "kubeconfig", "demo"]).code, Some(1), "it is not there yet");
}

fn gates_are_told(place: &Place) {
    let pool = [
        "nodepool",
        "create",
        "more",
        "--cluster",
        "demo",
        "--node-label",
        "a=b",
        "--taint",
        "x=y:NoExecute",
        "--timeout",
        "0s",
    ];
    let ran = place.hosted(&pool);
    assert_eq!(ran.code, Some(9), "{}", ran.stderr);
    assert!(ran.stderr.contains("NodePool more is blocked at gate kubeconfig"), "{}", ran.stderr);
    let wrong = place.hosted(&[
        "nodepool",
        "create",
        "more",
        "--cluster",
        "demo",
        "--node-label",
        "a",
        "--taint",
        "x",
    ]);
    assert!(
        wrong.code == Some(2)
            && wrong.stderr.contains("--node-label a:")
            && wrong.stderr.contains("--taint x:"),
        "{}",
        wrong.stderr
    );
    place.control_plane_is_up();
    for command in [&["doctor"][..], &["controller", "--no-machines"]] {
        let ran = place.hosted(&[command, &["--cluster", "demo", "--hosted-kubeconfig", "nowhere"]].concat());
        let is_told = ran.stderr.contains("error[kubeconfig-unusable]") && ran.stderr.contains("nowhere");
        assert!(ran.code == Some(2) && is_told, "{command:?}: {:?}: {}", ran.code, ran.stderr);
    }
    let ran = place.hosted(&["nodepool", "status", "more", "--cluster", "demo", "-o", "json"]);
    let held: Vec<String> = ran.json()["gates"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|gate| gate["isOpen"] == false)
        .map(|gate| gate["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(held[0], "machine-config");
    assert_eq!(place.hosted(&["nodepool", "delete", "more", "--cluster", "demo", "--yes"]).code, Some(0));
    place.publish("passwd");
    let ran = place.hosted(&["nodepool", "status", "demo", "--cluster", "demo"]);
    assert!(
        ran.code == Some(9) && ran.stdout.contains("HELD  config-at-rest"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert!(!ran.stdout.contains(&place.token().unwrap()));
    let doctor = place.hosted(&["doctor", "--cluster", "demo"]);
    assert!(
        doctor.code == Some(1) && doctor.stdout.starts_with("E-W19 "),
        "{}{}",
        doctor.stdout,
        doctor.stderr
    );
}

/// Of what HyperShift's kubeconfig is good for, a token that lives for an hour is enough; and a kubeconfig that says more than it may
/// is given to nobody.
fn a_token_for_the_pod(place: &Place) {
    let kubeconfig = place.hosted(&["cluster", "kubeconfig", "demo"]).expect(0).stdout;
    place.folder.write("admin.kubeconfig", &kubeconfig);
    let token =
        ["token", "--admin-kubeconfig", "admin.kubeconfig", "--account", "kube-system/pod", "--into", "run"];
    let once = [&token[..], &["--once"]].concat();
    let refused = place.hosted(&once).expect(1);
    assert!(refused.stderr.contains("serviceaccounts \"pod\" not found"), "{}", refused.stderr);
    succeed(place.other.kubectl().args(["create", "serviceaccount", "pod", "-n", "kube-system"]));
    place.hosted(&once).expect(0);
    assert_eq!((place.folder.mode("run/token"), place.folder.mode("run/kubeconfig")), (0o600, 0o600));
    let made = place.folder.path("run/kubeconfig");
    let whoami = ["auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"];
    assert_eq!(
        succeed(place.other.kubectl_with(&made).args(whoami)),
        "system:serviceaccount:kube-system:pod"
    );
    let year = place.hosted(&[&once[..], &["--lifetime", "8760h"]].concat()).expect(2);
    assert!(year.stderr.contains("not from 10m to 24h"), "{}", year.stderr);

    let marker = place.folder.path("was-here");
    let mut hostile: serde_json::Value = serde_json::from_str(&kubeconfig).unwrap();
    hostile["users"][0]["user"]["exec"] = json!({
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "touch",
        "args": [marker.display().to_string()],
    });
    let hostile = hostile.to_string();
    let patch = json!({"stringData": {"kubeconfig": hostile}}).to_string();
    let secret = ["-n", "clusters", "patch", "secret", "demo-admin-kubeconfig", "--type=merge", "-p"];
    succeed(place.plane.kubectl().args(secret).arg(patch));
    place.folder.write("admin.kubeconfig", hostile);
    for command in
        [&["cluster", "kubeconfig", "demo"][..], &["controller", "--cluster", "demo", "--no-machines"], &once]
    {
        let ran = place.hosted(command).expect(1);
        assert!(
            ran.stderr.contains("users[0].user.exec: it would run a program on this host"),
            "{}",
            ran.stderr
        );
        assert!(ran.stdout.is_empty(), "{}", ran.stdout);
    }
    assert!(!marker.exists());
    place.control_plane_is_up();
}

/// Of verbs that make workers: machines are played by a script of the test.
const PLAYED: [&str; 8] =
    ["--cluster", "demo", "--machine-program", "./machine", "--config-rest", "0s", "--ignition", "ignored"];

fn workers_come_and_go(place: &Place) {
    let too_many = place.hosted(&[&["workers", "add", "-n", "3", "--pool", "demo"], &PLAYED[..]].concat());
    assert!(
        too_many.code == Some(2)
            && too_many.stderr.contains("3 workers are wanted, but the inventory has hosts for 2"),
        "{}",
        too_many.stderr
    );
    let late = place
        .hosted(&[&["workers", "add", "-n", "1", "--pool", "demo", "--timeout", "8s"], &PLAYED[..]].concat());
    assert_eq!(late.code, Some(9), "{}", late.stderr);
    assert!(
        late.stderr.contains("worker-0 is booted"),
        "its machine is on, and nobody plays it yet: {}",
        late.stderr
    );
    let machines = machine::Machines::live(place);
    let ran = place.hosted(&[&["workers", "scale", "2", "--pool", "demo"], &PLAYED[..]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let listed = place.hosted(&["workers", "list", "--cluster", "demo", "-o", "json"]);
    let stages: Vec<_> =
        listed.json().as_array().unwrap().iter().map(|worker| worker["stage"].clone()).collect();
    assert!(stages.contains(&json!("ready")), "{}", listed.stdout);
    daemon::is_the_releases(place);
    for name in ["worker-0", "worker-1"] {
        let ran = place.hosted(&[&["workers", "remove", name, "--yes"], &PLAYED[..]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }
    assert_eq!(place.hosted(&["workers", "list", "--cluster", "demo"]).stdout, "");
    let missing = place.hosted(&[&["workers", "replace", "worker-0"], &PLAYED[..]].concat());
    assert!(
        missing.code == Some(1) && missing.stderr.contains("there is no worker worker-0"),
        "{}",
        missing.stderr
    );
    drop(machines);
}

fn the_network_certificate(place: &Place) {
    let ovn = |flags: &[&str]| place.hosted(&[&["ovn", "--cluster", "demo"], flags].concat());
    assert!(ovn(&[]).stdout.contains("not needed yet"));
    place.network_waits_for_its_certificate();
    let told = ovn(&[]);
    assert!(
        told.code == Some(9) && told.stdout.contains("run the command with --fix"),
        "{}{}",
        told.stdout,
        told.stderr
    );
    assert!(place.hosted(&["doctor", "--cluster", "demo"]).stdout.contains("E-W20 "));
    let fixed = ovn(&["--fix"]);
    assert_eq!(fixed.code, Some(0), "{}", fixed.stderr);
    let secret = place.plane.get(&["secret", "-n", "clusters-demo", "ovn-control-plane-metrics-cert"]);
    assert_eq!(secret["type"], "kubernetes.io/tls");
    let certificate = place.folder.path("ovn.crt");
    std::fs::write(&certificate, place::decoded(&secret["data"]["tls.crt"])).unwrap();
    let ca = place.plane.folder().join("root-ca.crt");
    let mut verify = std::process::Command::new("openssl");
    succeed(verify.args(["verify", "-CAfile"]).arg(ca).arg(&certificate));
    assert_eq!(
        (ovn(&["--fix"]).code, ovn(&[]).stdout.contains("exists")),
        (Some(0), true),
        "it is never made twice"
    );
    assert_eq!(
        place.plane.get(&["secret", "-n", "clusters-demo", "ovn-control-plane-metrics-cert"])["metadata"]["resourceVersion"],
        secret["metadata"]["resourceVersion"]
    );
}

/// Who asks for a certificate must have fetched its config: the controller of the same folder looks for it in the journal.
fn fetches_are_written_down(place: &Place) {
    let token = place.token().unwrap();
    let plane = place.plane.folder();
    let address = format!("127.0.0.1:{}", free_port());
    let file = |name: &str| plane.join(name).display().to_string();
    let (certificate, key, kubeconfig) = (file("server.crt"), file("server.key"), file("kubeconfig"));
    let words = ["serve", "--face=hosted", "--namespace=clusters-demo", "--listen", &address];
    let files = ["--certificate", &certificate, "--key", &key, "--kubeconfig", &kubeconfig];
    let _server = place.folder.start(&[&words[..], &files].concat());
    until("somebody is served", || {
        let mut curl = std::process::Command::new("curl");
        curl.args(["--silent", "--fail", "--output", "/dev/null", "--cacert", &file("ca.crt")]);
        curl.arg("--header").arg(format!("Authorization: Bearer {}", place::base64(&token)));
        curl.args(["--header", "NodePool: clusters/demo"]).arg(format!("https://{address}/ignition"));
        curl.status().unwrap().success()
    });
    until("it is written down", || {
        let journal = place.folder.read("journal.jsonl");
        journal.lines().any(|line| line.contains("ignition-redeemed") && line.contains("\"face\":\"hosted\""))
    });
}
