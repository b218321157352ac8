//! `create cluster` with machines that a person boots: what hardway does, what it tells, and what it sees.

use std::net::IpAddr;
use std::process::Command;

use hardway_journal::{FILE_NAME, read};
use hardway_testing::{Ran, inside, until};
use serde_json::Value;

use super::first_boot::{fetches_its_config, on_machine_network};
use super::site::{LEFT_OUT, Site};

fn create() -> Vec<&'static str> {
    let skip = LEFT_OUT.iter().flat_map(|check| ["--skip-check", check]);
    ["create", "cluster"].into_iter().chain(skip).collect()
}

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
    let create = create();

    let mut creating = site.start(&create);
    creating.until_said("bootstrap, by hand:");
    assert!(site.path("media/bootstrap.iso").exists(), "what the person needs is there");
    fetches_its_config(&site, "bootstrap", IpAddr::from([192, 168, 126, 100]));
    creating.until_said("bootstrap fetched its config from 192.168.126.100");
    creating.until_said("master-2, by hand:");
    assert_eq!(creating.interrupt(), Some(8), "{}", creating.said());

    // What was stale while files were made, and which certificates lay there since, is in the journal.
    let kinds: Vec<String> =
        read(&site.path(FILE_NAME)).unwrap().into_iter().map(|record| record.kind).collect();
    assert!(kinds.iter().filter(|kind| *kind == "assets-seen").count() > 3, "{kinds:?}");
    assert!(kinds.iter().any(|kind| kind == "certificates-seen"), "{kinds:?}");

    // Whoever was seen needs nobody; the others are asked for again. A page shows it, and ends with it.
    let mut again = site.start(&[&create[..], &["--page"]].concat());
    let page = again.line_after("the page is at ").trim().to_owned();
    again.until_said("master-2, by hand:");
    let asks = |part: &str| {
        let mut curl = Command::new("curl");
        curl.args(["--fail", "--silent", "--max-time", "20"]).arg(format!("{page}{part}"));
        curl.output().unwrap()
    };
    let document: Value = serde_json::from_slice(&asks("document.json").stdout).unwrap();
    assert_eq!(document["phases"].as_array().unwrap().len(), 17, "{document}");
    assert!(!document["certificates"].as_array().unwrap().is_empty(), "{document}");
    let said = again.said();
    assert!(said.contains("build-infra: already done") && !said.contains("bootstrap, by hand:"), "{said}");
    for (host, last) in MASTERS {
        fetches_its_config(&site, host, IpAddr::from([192, 168, 126, last]));
    }
    again.until_said("install-os: done");
    again.until_said("await-bootstrap: ");
    assert_eq!(again.interrupt(), Some(8), "{}", again.said());
    until("the page ends with its install", || !asks("document.json").status.success());
    let status = site.ok(&["status"]).stdout;
    assert!(status.contains("install-os           finished"), "{status}");

    site.ok(&["destroy", "--yes"]);
    let mut left: Vec<String> = fs_err::read_dir(site.path("media"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    left.sort();
    assert_eq!(left, ["rhcos-live.x86_64.iso"], "tokens are in no medium that is left");
    assert!(!site.path("bare-metal").exists());
}

/// Nobody fetches anything, so nothing can be waited for but the API.
#[test]
fn machines_whose_media_carry_whole_configs_are_not_waited_for() {
    if !inside() {
        return;
    }
    let site = Site::without_server();
    on_machine_network(&["192.168.126.2"]);
    let create = create();
    let mut creating = site.start(&create);
    creating.until_said("install-os: done");
    creating.until_said("await-bootstrap: ");
    let said = creating.said();
    for told in ["bootstrap, by hand:", "hardway cannot see bootstrap boot", "master-2, by hand:"] {
        assert!(said.contains(told), "{told}: {said}");
    }
    assert!(!said.contains("to fetch its config"), "{said}");
    assert_eq!(creating.interrupt(), Some(8), "{}", creating.said());

    let mut again = site.start(&create);
    again.until_said("install-os: already done");
    again.until_said("await-bootstrap: ");
    assert_eq!(again.interrupt(), Some(8), "{}", again.said());
}
