//! `create cluster` with machines that a person boots: what hardway does, what it tells, and what it sees.

use std::net::IpAddr;

use hardway_testing::{Ran, inside};

use super::first_boot::{fetches_its_config, on_machine_network};
use super::site::Site;

/// Names and load balancer are somebody else's here, and nobody has made them.
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
const MASTERS: [(&str, u8); 3] = [("master-0", 101), ("master-1", 102), ("master-2", 103)];

#[test]
fn a_person_boots_the_machines_and_hardway_sees_them_come() {
    if !inside() {
        return;
    }
    let site = Site::new("{}");
    on_machine_network(&[
        "192.168.126.2",
        "192.168.126.100",
        "192.168.126.101",
        "192.168.126.102",
        "192.168.126.103",
    ]);
    let Ran { code, stderr, .. } = site.run(&["create", "cluster"]);
    assert_eq!(code, Some(2), "{stderr}");
    for check in LEFT_OUT {
        assert!(stderr.contains(check), "{check} fails, and is named: {stderr}");
    }
    let skip: Vec<&str> = LEFT_OUT.iter().flat_map(|check| ["--skip-check", check]).collect();
    let create = [&["create", "cluster"], &skip[..]].concat();

    let mut creating = site.start(&create);
    creating.until_said("bootstrap, by hand:");
    assert!(site.path("media/bootstrap.iso").exists(), "what the person needs is there");
    fetches_its_config(&site, "bootstrap", IpAddr::from([192, 168, 126, 100]));
    creating.until_said("bootstrap fetched its config from 192.168.126.100");
    creating.until_said("master-2, by hand:");
    assert_eq!(creating.interrupt(), Some(8), "{}", creating.said());

    // Whoever was seen needs nobody; the others are asked for again.
    let mut again = site.start(&create);
    again.until_said("master-2, by hand:");
    let said = again.said();
    assert!(said.contains("build-infra: already done") && !said.contains("bootstrap, by hand:"), "{said}");
    for (host, last) in MASTERS {
        fetches_its_config(&site, host, IpAddr::from([192, 168, 126, last]));
    }
    again.until_said("install-os: done");
    again.until_said("await-bootstrap: ");
    assert_eq!(again.interrupt(), Some(8), "{}", again.said());
    let status = site.ok(&["status"]).stdout;
    assert!(status.contains("install-os           finished"), "{status}");

    site.ok(&["destroy"]);
    let mut left: Vec<String> = fs_err::read_dir(site.path("media"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    left.sort();
    assert_eq!(left, ["rhcos-live.x86_64.iso"], "tokens are in no medium that is left");
    assert!(!site.path("bare-metal").exists());
}
