//! What is wrong with settings is told at once, each with its field.

use hardway_assets::host_services::InstallStage;
use hardway_assets::inventory::Balancer;
use hardway_machines::providers::gce::GceSettings;
use serde_json::json;

use super::site::{Site, cluster, settings};

#[test]
fn every_mistake_is_told_with_its_field() {
    let mut bad = cluster(
        json!({
            "project": "-acme", "zones": ["us-central1-a", "europe-west1-b", "us-central1-a", "nowhere"],
            "machine": "n2", "image": "a", "imageFile": "b.tar.gz", "externalAddresses": "no",
            "sourceRanges": ["everywhere"], "diskType": 5,
        }),
        Balancer::External,
    );
    bad.inventory.hosts[1].name = "Master_0".to_owned();
    bad.inventory.ignition_server.url = None;
    let told: Vec<String> = GceSettings::read(&bad).unwrap_err().iter().map(ToString::to_string).collect();
    let all = told.join("\n");
    for part in [
        "machines.gce.machine: Unknown field",
        "machines.gce.project: Invalid value: \"-acme\": must consist of lower-case letters",
        "machines.gce.zones[1]: Invalid value: \"europe-west1-b\": must be in the same region as the first, us-central1",
        "machines.gce.zones[2]: Duplicate value: \"us-central1-a\"",
        "machines.gce.zones[3]: Invalid value: \"nowhere\": must be a zone",
        "machines.gce.imageFile: Forbidden",
        "machines.gce.externalAddresses: Invalid value: \"no\": must be true or false",
        "machines.gce.sourceRanges: Invalid value: \"everywhere\": must be networks",
        "machines.gce.diskType: Invalid value: \"5\": must be a string",
        "hosts[1].name: Invalid value: \"Master_0\": must consist of lower-case letters",
        "ignitionServer.url: Required value: configs are too large",
    ] {
        assert!(all.contains(part), "{part} is not in:\n{all}");
    }
    let none = GceSettings::read(&cluster(json!({}), Balancer::External)).unwrap_err();
    let paths: Vec<&str> = none.iter().map(|violation| violation.path.as_str()).collect();
    assert_eq!(paths, ["machines.gce.project", "machines.gce.zones", "machines.gce.image"]);
}

#[test]
fn machines_of_a_role_go_round_the_zones() {
    let site = Site::new(settings(), Balancer::External);
    let provider = site.provider(InstallStage::Bootstrapping);
    let zones: Vec<&str> = site
        .cluster
        .inventory
        .hosts
        .iter()
        .map(|host| provider.settings.zone(&site.cluster, host).rsplit('-').next().unwrap())
        .collect();
    assert_eq!(zones, ["a", "a", "b", "a", "a", "b"]);
    let mut fewer = site.cluster.clone();
    let removed = fewer.inventory.hosts.remove(4);
    assert_eq!(removed.name, "worker-0");
    let worker_1 = &fewer.inventory.hosts[4];
    assert_eq!(provider.settings.zone(&fewer, worker_1), "us-central1-b", "it stays where it is");
}
