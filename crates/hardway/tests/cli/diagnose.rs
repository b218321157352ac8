//! `hardway diagnose` and `hardway gather` where no cluster is.

use flate2::Compression;
use flate2::write::GzEncoder;
use hardway_journal::{Entry, Face, IgnitionRedeemed, Journal};
use hardway_testing::{INSTALL_CONFIG, INVENTORY};
use serde_json::Value;

use crate::work;

pub(crate) fn bundle(files: &[(&str, &str)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (path, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, format!("log-bundle-1/{path}"), text.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

#[test]
fn the_catalogue_is_listed_and_every_code_explained() {
    let work = work::empty();
    let list: Value = serde_json::from_str(&work.ok(&["diagnose", "--list", "-o", "json"]).stdout).unwrap();
    let list = list.as_array().unwrap();
    assert_eq!(list.len(), 135);
    let text = work.ok(&["diagnose", "--list"]).stdout;
    assert_eq!(text.lines().count(), 135);
    for entry in list.iter().step_by(9) {
        let code = entry["code"].as_str().unwrap();
        let told = work.ok(&["explain", code]).stdout;
        assert!(told.starts_with(&format!("{code} (diagnosis)\n  symptom   ")), "{told}");
        assert!(told.contains("\n  fix       "), "{told}");
    }
    assert!(
        work.ok(&["explain", "e-b2"]).stdout.starts_with("E-B2 (diagnosis)\n"),
        "in either case of letters"
    );
}

#[test]
fn a_bundle_is_diagnosed_offline() {
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    let failed =
        r#"{"phase":"stage end","stage":"wait-for-api","result":"failure","errorMessage":"no answer"}"#;
    let journal =
        "Nov 15 bootstrap crio[1]: unauthorized: access to the requested resource is not authorized\n";
    work.write(
        "bundle",
        bundle(&[
            ("bootstrap/services/bootkube.stream.jsonl", failed),
            ("bootstrap/journals/crio.log", journal),
        ]),
    );
    let path = work.path("bundle").display().to_string();
    let ran = work.run(&["diagnose", "--bundle", &path]).expect(1);
    assert!(
        ran.stdout.starts_with(
            "E-B2 (bootstrap) The registry refuses the pull: unauthorized.\n  seen   bootstrap host, crio: "
        ),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.contains("  fix    ") && ran.stdout.contains("hardway explain E-B2\n"),
        "{}",
        ran.stdout
    );
    let all = work.run(&["diagnose", "--bundle", &path, "--all", "-o", "json"]).expect(1);
    let all: Value = serde_json::from_str(&all.stdout).unwrap();
    assert_eq!(
        (&all["broken"][0]["code"], &all["broken"][1]["code"]),
        (&"E-B2".into(), &"E-B25".into()),
        "{all:#}"
    );

    // A console that a person saved comes before both: the chain begins there.
    work.write("console", "\nFatal glibc error: CPU does not support x86-64-v2\n");
    let console = work.path("console").display().to_string();
    let ran = work.run(&["diagnose", "--bundle", &path, "--log", &console]).expect(1);
    assert!(ran.stdout.starts_with("E-H15 (host)"), "{}", ran.stdout);
}

#[test]
fn the_journal_tells_what_a_console_and_a_fetched_config_mean() {
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    let fetched = |host: &str, source: &str| IgnitionRedeemed {
        host: host.to_owned(),
        digest: "0123456789ab".to_owned(),
        source: source.parse().unwrap(),
        face: Face::Host,
    };
    let now = "2026-11-15T00:00:00Z".parse().unwrap();
    let entries = [fetched("master-0", "192.168.126.101"), fetched("master-1", "192.168.126.207")];
    let entries: Vec<Entry> = entries.iter().map(|fact| Entry::of(now, fact)).collect();
    Journal::open(&work.path("journal.jsonl")).unwrap().append(&entries).unwrap();
    work.write("bundle", bundle(&[("bootstrap/journals/crio.log", "all is well\n")]));
    work.write(
        "console",
        "Ignition: ran on 2022/03/14 14:48:33 UTC (at least 2 boots ago)\nmaster-2 login:\n",
    );
    let [bundle, console] = ["bundle", "console"].map(|name| work.path(name).display().to_string());

    let ran = work.run(&["diagnose", "--bundle", &bundle, "--log", &console]).expect(1);
    assert!(
        ran.stdout.starts_with("E-R6 (os-install) An old system boots after the install.\n"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("this install began at 2026-11-15T00:00:00Z"), "{}", ran.stdout);
    // Without the console, the machine that came from elsewhere is first.
    let ran = work.run(&["diagnose", "--bundle", &bundle]).expect(1);
    assert!(ran.stdout.starts_with("E-R11 (os-install) "), "{}", ran.stdout);
    let seen =
        "master-1.ocp4.example.com fetched its config from 192.168.126.207, but 192.168.126.102 is declared";
    assert!(ran.stdout.contains(seen) && !ran.stdout.contains("master-0"), "{}", ran.stdout);
}

#[test]
fn what_is_no_bundle_is_refused() {
    let work = work::empty();
    for bytes in [b"text".to_vec(), bundle(&[("readme", "x")]), Vec::new()] {
        work.write("bundle", bytes);
        let path = work.path("bundle").display().to_string();
        work.refused(2, &["diagnose", "--bundle", &path]).says("error[bundle-unusable]");
    }
    work.refused(2, &["diagnose", "--bundle", "/nowhere/x"])
        .says("error[bundle-unusable]")
        .says("/nowhere/x");
}

#[test]
fn a_host_that_cannot_be_reached_leaves_no_bundle() {
    let work = work::empty();
    work.write("key", "no key at all");
    let key = work.path("key").display().to_string();
    let args = ["gather", "bootstrap", "--bootstrap", "127.0.0.1", "--ssh-port", "1", "--key", &key];
    work.refused(3, &args).says("no ssh host key is known for 127.0.0.1").says("--known-hosts FILE");
    let args = [&args[..], &["--known-hosts", &key]].concat();
    work.refused(1, &args)
        .says("error[gather-failed]")
        .says("fix: try `ssh ")
        .says("StrictHostKeyChecking=yes");
    let names: Vec<_> =
        fs_err::read_dir(work.root()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().contains("bundle")), "{names:?}");
    work.refused(1, &[&args[..], &["--master", "a;b"]].concat())
        .says("\"a;b\" is not a host name or an IP address");
}
