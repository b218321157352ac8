//! `create cluster` until the instances have their configs; nothing is left in the cloud afterwards.

use std::net::IpAddr;
use std::path::Path;

use hardway_testing::{Ran, Work, inside};

use crate::bare_metal::first_boot::{fetches_its_config, on_machine_network};
use crate::bare_metal::site::{LEFT_OUT, with_machines};

const MACHINES: &str = "provider: gce
  gce: {project: acme, zones: [us-central1-a, us-central1-b], image: rhcos-418-94-gcp-x86-64, imageProject: rhcos-cloud}
";
const HOSTS: [(&str, u8); 4] = [("bootstrap", 100), ("master-0", 101), ("master-1", 102), ("master-2", 103)];

/// A folder, and a cloud that is a folder in it.
pub(crate) fn site() -> Work {
    let site = with_machines(MACHINES);
    let stand_in =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../hardway-machines/tests/gce/gcloud-stand-in.sh");
    fs_err::create_dir_all(site.path("cloud/state")).unwrap();
    fs_err::copy(stand_in, site.path("cloud/gcloud")).unwrap();
    site.write("cloud/login", "");
    site.with_programs_of("cloud")
}

/// What is there.
fn things(site: &Work) -> Vec<String> {
    let entries = fs_err::read_dir(site.path("cloud/state")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn instances(site: &Work) -> usize {
    things(site).iter().filter(|thing| thing.starts_with("instances_")).count()
}

#[test]
fn instances_are_made_seen_and_taken_away() {
    if !inside() {
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

    let mut creating = site.start(&create);
    creating.until_said("build-infra: done");
    creating.until_said("waiting for bootstrap to fetch its config");
    assert_eq!(instances(&site), 1, "masters come when the bootstrap host has its config");
    assert_eq!(creating.interrupt(), Some(8), "{}", creating.said());
    let built = things(&site);
    assert!(built.len() > 1, "{built:?}");

    // Another process knows the same cluster: nothing is made twice under another name.
    let mut again = site.start(&create);
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
    let calls = site.read("cloud/calls");
    let token = site.read("ignition/pointers/master-0.ign");
    let token: serde_json::Value = serde_json::from_str(&token).unwrap();
    let header = &token["ignition"]["config"]["merge"][0]["httpHeaders"][0]["value"];
    assert!(!calls.contains(header.as_str().unwrap()), "a token stands on no command line");

    // Somebody has logged out: nothing that costs money is forgotten.
    site.remove("cloud/login");
    let Ran { code, stderr, .. } = site.run(&["destroy", "--yes"]);
    assert!(code == Some(4) && stderr.contains("fix: not logged in: run `gcloud auth login`"), "{stderr}");
    site.write("cloud/login", "");
    site.ok(&["destroy", "--yes"]);
    assert_eq!(things(&site), [] as [&str; 0]);
}
