//! A folder with `hosted-inventory.yaml` and nothing else.

use std::path::Path;

use hardway_testing::Work;
use serde_json::Value;

use crate::work;

/// Two hosted clusters with two pools each, on one hypervisor.
pub(crate) const FOUR_POOLS: &str = r#"apiVersion: hardway.dev/v1alpha1
kind: HostedInventory
name: site
machines:
  provider: libvirt
network:
  machineNetwork: 192.168.126.0/24
  gateway: 192.168.126.1
  dns: [192.168.126.1]
pools:
- {cluster: one, nodePool: small, names: "one-small-{n}", addresses: 192.168.126.10-192.168.126.19, macPrefix: "52:54:00:7e:01", installDisk: /dev/vda, cpus: 2, memoryGiB: 8}
- {cluster: one, nodePool: large, names: "one-large-{n}", addresses: 192.168.126.20-192.168.126.29, macPrefix: "52:54:00:7e:02", installDisk: /dev/vda, cpus: 8, memoryGiB: 32}
- {cluster: two, nodePool: small, names: "two-small-{n}", addresses: 192.168.126.30-192.168.126.39, macPrefix: "52:54:00:7e:03", installDisk: /dev/vda, zones: [rack-a, rack-b]}
- {cluster: two, nodePool: large, names: "two-large-{n}", addresses: 192.168.126.40-192.168.126.49, macPrefix: "52:54:00:7e:04", installDisk: /dev/vda}
"#;

fn folder(inventory: &str) -> Work {
    let folder = work::empty().with_real_clock();
    folder.write("hosted-inventory.yaml", inventory);
    folder
}

#[test]
fn samples_are_good_as_they_are() {
    for provider in ["libvirt", "gce", "bare-metal"] {
        let folder = work::empty();
        folder.ok(&["hosted", "init", "--provider", provider, "--cluster", "guest", "--pool", "pool-a"]);
        assert_eq!(folder.mode("hosted-inventory.yaml"), 0o600);
        let told = folder.ok(&["validate"]).stderr;
        assert!(told.contains("no mistakes in hosted-inventory.yaml: 1 pool, "), "{provider}: {told}");
        let schema: Value = serde_json::from_str(&folder.read(".schema/hosted-inventory.json")).unwrap();
        let printed: Value =
            serde_json::from_str(&folder.ok(&["schema", "hosted-inventory"]).stdout).unwrap();
        assert_eq!(schema, printed);
        assert_eq!(schema["properties"]["kind"]["enum"][0], "HostedInventory");
        let again = folder.refused(2, &["hosted", "init"]);
        assert!(again.stderr.contains("hosted-inventory.yaml already exists"), "{}", again.stderr);
        // Whoever looks for a cluster is told what this folder is.
        let plan = folder.refused(3, &["plan"]);
        assert!(plan.stderr.contains("machines of hosted clusters"), "{}", plan.stderr);
    }
}

#[test]
fn every_mistake_stands_at_its_line() {
    let bad = FOUR_POOLS
        .replace("one-small-{n}", "one-small")
        .replace("provider: libvirt", "provider: libvirt\n  libvirt: {bridge: a-bridge-with-a-long-name}")
        .replace("cluster: two, nodePool: large", "cluster: two, nodePool: small")
        .replace("192.168.126.20-", "192.168.126.19-");
    let folder = folder(&bad);
    let told: Value = serde_json::from_str(&folder.refused(3, &["validate", "-o", "json"]).stdout).unwrap();
    let told: Vec<(String, u64)> = told
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["field"].as_str().unwrap().to_owned(), one["line"].as_u64().unwrap()))
        .collect();
    for (field, line) in [
        ("machines.libvirt.bridge", 6),
        ("pools[0].names", 12),
        ("pools[1].addresses", 13),
        ("pools[3].nodePool", 15),
    ] {
        assert!(told.contains(&(field.to_owned(), line)), "{field}:{line} is not in {told:?}");
    }
    let shown = folder.refused(3, &["hosted", "plan", "--replicas", "1"]).stderr;
    assert!(shown.contains("error[inventory-invalid]") && shown.contains("must have {n} once"), "{shown}");
    let explained = folder.ok(&["explain", "hosted-inventory.pools.names"]).stdout;
    assert!(explained.contains("with {n} for their place"), "{explained}");
}

#[test]
fn a_folder_is_of_one_kind() {
    let folder = folder(FOUR_POOLS);
    folder.write("inventory.yaml", hardway_testing::INVENTORY);
    let told = folder.refused(3, &["validate"]).stderr;
    assert!(told.contains("are in the same folder"), "{told}");
}

/// Two clusters and four pools from one folder; nothing is made that belongs to a cluster.
#[test]
fn machines_and_nothing_else() {
    let folder = folder(FOUR_POOLS);
    let plan = folder.ok(&["hosted", "plan", "--replicas", "2", "-o", "json"]).json();
    let pools = plan["pools"].as_array().unwrap();
    assert_eq!(pools.len(), 4);
    let names: Vec<&str> = pools
        .iter()
        .flat_map(|pool| pool["add"].as_array().unwrap())
        .map(|machine| machine["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "one-small-0",
            "one-small-1",
            "one-large-0",
            "one-large-1",
            "two-small-0",
            "two-small-1",
            "two-large-0",
            "two-large-1"
        ]
    );
    assert_eq!(pools[2]["add"][1]["zone"], "rack-b");
    let actions: Vec<&str> =
        plan["shared"].as_array().unwrap().iter().map(|action| action["action"].as_str().unwrap()).collect();
    assert!(actions.contains(&"network/definition"), "{actions:?}");
    let of_clusters = |action: &&str| action.starts_with("dns/") || action.starts_with("balancer/");
    assert!(!actions.iter().any(of_clusters), "{actions:?}");
    let own: Vec<&str> =
        pools[0]["add"][0]["actions"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    assert!(own.iter().all(|id| id.starts_with("machine/one-small-0/")) && own.len() > 3, "{own:?}");
    let text = folder.ok(&["hosted", "plan", "--replicas", "11"]).stdout;
    assert!(text.contains("  ! 1 more are wanted than there are machines for"), "{text}");
    assert!(
        text.contains("40 machines to make, as far as sizes are given: 100 cpus, 400 GiB memory"),
        "{text}"
    );
    assert!(!folder.path("secrets").exists(), "nothing is drawn by whoever looks");
}

/// In a cloud that is a folder: the rules that workers need among each other, and none of an API.
#[test]
fn a_cloud_is_asked_for_nothing_else() {
    let gce = "provider: gce\n  gce: {project: acme, zones: [us-central1-a, us-central1-b], image: rhcos, imageProject: rhcos-cloud}";
    let folder =
        folder(&FOUR_POOLS.replace("provider: libvirt", gce).replace(", zones: [rack-a, rack-b]", ""));
    let plan = folder.ok(&["hosted", "plan", "--replicas", "2", "-o", "json"]).json();
    let actions: Vec<&str> =
        plan["shared"].as_array().unwrap().iter().map(|action| action["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["network/firewall/internal-network", "network/firewall/internal-cluster"]);
    let zones: Vec<&str> = plan["pools"][3]["add"]
        .as_array()
        .unwrap()
        .iter()
        .map(|machine| machine["zone"].as_str().unwrap())
        .collect();
    assert_eq!(zones, ["us-central1-a", "us-central1-b"]);
    // One instance is there that no journal of this folder knows.
    let stand_in =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../hardway-machines/tests/gce/gcloud-stand-in.sh");
    fs_err::create_dir_all(folder.path("cloud/state")).unwrap();
    fs_err::copy(stand_in, folder.path("cloud/gcloud")).unwrap();
    folder.write("cloud/login", "");
    folder.write("cloud/state/instances_us-central1-a_site-abcde-one-small-0", "site-abcde-one-small-0\n");
    let folder = folder.with_programs_of("cloud");
    let left = folder.ok(&["hosted", "leftovers", "-o", "json"]).json();
    assert_eq!(left[0]["machine"], "site-abcde-one-small-0");
    assert!(left[0]["owner"].is_null());
}

/// The folder has none for its hosts, and no release to take a live ISO from.
#[test]
fn media_of_hosted_hosts_need_a_config() {
    let folder = folder(FOUR_POOLS);
    let refused = folder.refused(2, &["media", "iso", "--host", "one-small-0"]).stderr;
    assert!(refused.contains("HyperShift makes them"), "{refused}");
    folder.write("pointer.ign", "{}");
    let missing =
        folder.refused(4, &["media", "iso", "--host", "one-small-0", "--config", "pointer.ign"]).stderr;
    assert!(
        missing.contains("error[media-missing]") && missing.contains("release media PULLSPEC"),
        "{missing}"
    );
}
