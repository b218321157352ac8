//! `create cluster` until the instances have their configs; nothing is left in the cloud afterwards.

use std::net::IpAddr;
use std::path::Path;

use hardway_testing::inside;

use crate::running::{Running, fetches_its_config, on_machine_network};
use crate::site::Site;

const MACHINES: &str = "  provider: gce
  gce: {project: acme, zones: [us-central1-a, us-central1-b], image: rhcos-418-94-gcp-x86-64, imageProject: rhcos-cloud}
";
const HOSTS: [(&str, u8); 4] = [("bootstrap", 100), ("master-0", 101), ("master-1", 102), ("master-2", 103)];
/// What cannot be so on a computer without a cloud.
const LEFT_OUT: [&str; 7] = [
    "names-server",
    "names-host",
    "balancer-api",
    "balancer-machine-config-server",
    "balancer-ingress-https",
    "balancer-ingress-http",
    // The built-in release, to rehearse with.
    "release-image",
];

/// A folder, and a cloud that is a folder in it.
fn site() -> Site {
    let mut site = Site::with_machines(MACHINES);
    let stand_in =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../hardway-machines/tests/gce/gcloud-stand-in.sh");
    for folder in ["cloud", "cloud/state"] {
        fs_err::create_dir(site.path(folder)).unwrap();
    }
    fs_err::copy(stand_in, site.path("cloud/gcloud")).unwrap();
    site.write("cloud/login", "");
    site.programs = Some(site.path("cloud"));
    site
}

/// What is there.
fn things(site: &Site) -> Vec<String> {
    let entries = fs_err::read_dir(site.path("cloud/state")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn instances(site: &Site) -> usize {
    things(site).iter().filter(|thing| thing.starts_with("instances_")).count()
}

#[test]
fn instances_are_made_seen_and_taken_away() {
    if !inside("create_cluster::instances_are_made_seen_and_taken_away") {
        return;
    }
    let site = site();
    on_machine_network(&[
        "192.168.126.2",
        "192.168.126.100",
        "192.168.126.101",
        "192.168.126.102",
        "192.168.126.103",
    ]);
    let skip: Vec<&str> = LEFT_OUT.iter().flat_map(|check| ["--skip-check", check]).collect();
    let create = [&["create", "cluster"], &skip[..]].concat();

    let mut creating = Running::start(&site, &create);
    creating.until_said("build-infra: done");
    creating.until_said("waiting for bootstrap to fetch its config");
    assert_eq!(instances(&site), 1, "masters come when the bootstrap host has its config");
    assert_eq!(creating.interrupt(), Some(8), "{}", creating.said());
    let built = things(&site);
    assert!(built.len() > 1, "{built:?}");

    // Another process knows the same cluster: nothing is made twice under another name.
    let mut again = Running::start(&site, &create);
    again.until_said("waiting for bootstrap to fetch its config");
    assert!(again.said().contains("build-infra: already done"), "{}", again.said());
    assert_eq!(things(&site), built);
    for (host, last) in HOSTS {
        let waiting =
            if host == "bootstrap" { host.to_owned() } else { "master-2/instance: done".to_owned() };
        again.until_said(&waiting);
        fetches_its_config(&site, host, IpAddr::from([192, 168, 126, last]));
    }
    again.until_said("install-os: done");
    again.until_said("await-bootstrap: ");
    assert_eq!(again.interrupt(), Some(8), "{}", again.said());
    assert_eq!(instances(&site), 4);
    let calls = fs_err::read_to_string(site.path("cloud/calls")).unwrap();
    let token = fs_err::read_to_string(site.path("ignition/pointers/master-0.ign")).unwrap();
    let token: serde_json::Value = serde_json::from_str(&token).unwrap();
    let header = &token["ignition"]["config"]["merge"][0]["httpHeaders"][0]["value"];
    assert!(!calls.contains(header.as_str().unwrap()), "a token stands on no command line");

    // Somebody has logged out: nothing that costs money is forgotten.
    fs_err::remove_file(site.path("cloud/login")).unwrap();
    let (code, _, stderr) = site.run(&["destroy"]);
    assert!(code == 4 && stderr.contains("fix: nobody is logged in: `gcloud auth login`"), "{stderr}");
    site.write("cloud/login", "");
    site.ok(&["destroy"]);
    assert_eq!(things(&site), [] as [&str; 0]);
}
