//! Media for a host that another cluster has a config for: a worker of a hosted cluster.

use super::media::{embedded, file, iso, made};

const POINTER: &str =
    r#"{"ignition":{"version":"3.2.0","config":{"merge":[{"source":"https://10.0.0.5:30003/ignition"}]}}}"#;

#[test]
fn an_iso_installs_the_config_that_is_given() {
    let work = made();
    work.write("pointer.ign", POINTER);
    let given = ["media", "iso", "--host", "worker-0", "--config", "pointer.ign", "--iso", iso()];
    work.ok(&given).says("worker-0.iso: written");
    let config = embedded(&work, "media/worker-0.iso");
    assert_eq!(file(&config, "/etc/coreos/dest.ign"), POINTER);
    assert_ne!(
        POINTER,
        work.read("ignition/worker-0.ign"),
        "the folder has another config for a host of that name"
    );

    // Nothing of this cluster's is needed for it.
    fs_err::remove_file(work.path("ignition/worker-0.ign")).unwrap();
    fs_err::remove_file(work.path("worker.ign")).unwrap();
    work.ok(&given).says("worker-0.iso: written").does_not_say("not up to date");
    let two = [
        "media",
        "iso",
        "--host",
        "worker-0",
        "--host",
        "master-0",
        "--config",
        "pointer.ign",
        "--iso",
        iso(),
    ];
    work.refused(2, &two).says("pointer.ign is the config of one host, but 2 are named");
    work.refused(2, &["media", "iso", "--all", "--config", "pointer.ign", "--iso", iso()]).says("--all");
    let missing = ["media", "iso", "--host", "worker-0", "--config", "nowhere.ign", "--iso", iso()];
    work.refused(2, &missing).says("nowhere.ign");
}

#[test]
fn one_host_more_boots_from_the_network_and_the_others_as_before() {
    let work = made();
    work.write("pointer.ign", POINTER);
    let url = ["media", "pxe", "--url", "http://192.168.126.1:8080", "--iso", iso()];
    let one = |host: &'static str| [&url[..], &["--host", host, "--config", "pointer.ign"]].concat();
    // Before this cluster has made any config: nobody else's is asked for.
    for name in ["ignition/master-0.ign", "ignition/worker-0.ign", "worker.ign", "bootstrap.ign"] {
        fs_err::remove_file(work.path(name)).unwrap();
    }
    work.ok(&one("worker-0")).does_not_say("complete configs");
    assert_eq!(work.read("pxe/ignition/worker-0.ign"), POINTER);
    assert_eq!(work.mode("pxe/ignition/worker-0.ign"), 0o600);
    let hosts = || -> Vec<String> {
        let folder = hardway_machines::install_media::BootFolder::open(&work.path("pxe")).unwrap();
        folder.hosts().map(|(_, host)| host.to_owned()).collect()
    };
    assert_eq!(hosts(), ["worker-0"]);
    work.ok(&one("master-0"));
    assert_eq!(hosts().len(), 2, "the first still exists");
    let script = work.read("pxe/ipxe/52-54-00-7e-00-04");
    assert!(script.contains("ignition_url=http://192.168.126.1:8080/ignition/worker-0.ign "), "{script}");
    work.refused(3, &one("nobody")).says("no host nobody");
    work.refused(2, &[&url[..], &["--config", "pointer.ign"]].concat()).says("--host");
}
