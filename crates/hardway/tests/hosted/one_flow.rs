//! `hardway hosted up`, on two real API servers, from a folder with an inventory of workers only.

use serde_json::{Value, json};

use super::PLAYED;
use super::machine::Machines;
use super::place::Place;

const INVENTORY: &str = r#"apiVersion: hardway.dev/v1alpha1
kind: HostedInventory
name: site
machines: {provider: gce, gce: {project: acme, zones: [us-central1-a, us-central1-b], image: rhcos}}
network: {machineNetwork: 10.20.0.0/16, gateway: 10.20.255.254, dns: 10.20.255.254}
pools:
- {cluster: demo, nodePool: demo, names: "worker-{n}", addresses: 10.20.0.1-10.20.0.2}
"#;

/// A cloud that knows of machines what they have said, and nothing else.
const GCLOUD: &str = "#!/bin/sh
case \"$*\" in
*get-serial-port-output*) echo 'ignition[800]: GET https://127.0.0.1:30003/ignition: dial tcp: connection refused' ;;
esac
";

/// Nodes run nothing: what operators and pods would show is left out.
const LEFT_OUT: [&str; 7] = ["operators", "console", "image-registry", "workload", "logs", "exec", "nodes"];

fn up(place: &Place, more: &[&str]) -> hardway_testing::Ran {
    let skip: Vec<&str> = LEFT_OUT.iter().flat_map(|check| ["--skip-check", check]).collect();
    place.hosted(&[&["up"], &PLAYED[..], &skip, more].concat())
}

#[test]
fn real_one_command_from_a_hosted_cluster_to_its_workers() {
    let Place { other, plane, folder } = Place::start();
    std::fs::create_dir(folder.path("cloud")).unwrap();
    folder.write_program("cloud/gcloud", GCLOUD);
    let place = Place { other, plane, folder: folder.with_programs_of("cloud") };
    std::fs::remove_file(place.folder.path("inventory.yaml")).unwrap();
    place.folder.write("hosted-inventory.yaml", INVENTORY);

    // What is missing is named, and nothing is made.
    let early = up(&place, &[]).expect(9);
    assert!(early.stderr.contains("the management cluster is not ready: hosted-cluster"), "{}", early.stderr);
    assert!(early.stderr.contains("there is no default StorageClass"), "{}", early.stderr);
    let create = [
        "cluster",
        "create",
        "demo",
        "--external-api-server-address",
        "127.0.0.1",
        "--release-image",
        "quay.io/x:1",
    ];
    place.hosted(&[&create[..], &["--pull-secret", "pull-secret.json"]].concat()).expect(0);
    place.control_plane_is_up();
    place.publish("passwd");
    let many = up(&place, &["--replicas", "3"]).expect(2);
    assert!(
        many.stderr.contains("NodePool demo wants 3 workers, but hosted-inventory.yaml has machines for 2")
    );

    // Given up in the middle, and repeated: it goes on from there.
    let late = up(&place, &["--replicas", "2", "--timeout", "8s"]).expect(9);
    assert!(late.stderr.contains("worker-0 is booted"), "nobody plays the machines yet: {}", late.stderr);
    let doctor = place.hosted(&["doctor", "--cluster", "demo"]).expect(1);
    assert!(
        doctor.stdout.contains("console: ignition[800]: GET https://127.0.0.1:30003/ignition"),
        "{}",
        doctor.stdout
    );
    let machines = Machines::live(&place);
    let done = up(&place, &["-o", "json"]).expect(0).json();
    assert_eq!(done["wanted"], json!({"demo": 2}));
    assert_eq!(done["workers"].as_array().unwrap().len(), 2);
    let verdict = |name: &str| -> Value {
        let rows = done["prerequisites"].as_array().unwrap().iter().chain(done["checks"].as_array().unwrap());
        rows.clone().find(|row| row["name"] == name || row["check"] == name).unwrap()["verdict"].clone()
    };
    assert_eq!(
        [verdict("kinds"), verdict("operator"), verdict("pull-secret"), verdict("api"), verdict("etcd")],
        ["passed", "warned", "passed", "passed", "skipped"].map(|word| json!(word))
    );
    let labels = place.other.get(&["node", "worker-1"])["metadata"]["labels"].clone();
    assert_eq!(labels["topology.kubernetes.io/zone"], "us-central1-b");
    assert_eq!(labels["topology.kubernetes.io/region"], "us-central1");
    let conditions = place.plane.get(&["nodepool", "demo", "-n", "clusters"])["status"]["conditions"].clone();
    let own = conditions.as_array().unwrap().iter().find(|one| one["type"] == "hardway.dev/WorkersReady");
    assert!(own.is_some(), "{conditions}");

    // What the nodes lack is seen from outside, and what is not there says so.
    let seen = place.hosted(&["verify", "--cluster", "demo", "-o", "json"]);
    assert_eq!(seen.code, Some(1), "{}", seen.stderr);
    let checks = seen.json()["checks"].clone();
    let of = |name: &str| checks.as_array().unwrap().iter().find(|row| row["check"] == name).unwrap().clone();
    assert_eq!(of("nodes")["verdict"], "failed");
    assert!(of("control-plane")["seen"][0].as_str().unwrap().contains("namespace clusters-demo"), "{checks}");

    // One number less, by name and by number.
    place.hosted(&[&["workers", "remove", "worker-0", "--yes"], &PLAYED[..]].concat()).expect(0);
    assert_eq!(place.plane.get(&["nodepool", "demo", "-n", "clusters"])["spec"]["replicas"], 1);
    place.hosted(&[&["workers", "scale", "0", "--pool", "demo"], &PLAYED[..]].concat()).expect(0);
    assert_eq!(place.hosted(&["workers", "list", "--cluster", "demo"]).stdout, "");
    let plan = place.hosted(&["plan", "-o", "json"]).expect(0).json();
    assert_eq!((&plan["pools"][0]["wanted"], &plan["pools"][0]["present"]), (&json!(0), &json!(0)));
    drop(machines);
}
