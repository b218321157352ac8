//! Machines that a person boots.

use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use hardway_journal::{Entry, Face, IgnitionRedeemed, Journal};
use hardway_machines::actions::{Executor, ExecutorError, Host, StepError};
use hardway_machines::providers::Provider as _;
use hardway_testing::{Ran, Server, free_port, succeed, until};
use jiff::Timestamp;
use serde_json::json;

use super::site::Site;
use crate::work::PROGRAM;

#[test]
fn steps_are_told_and_exit_code_9_stays_until_the_machine_was_seen() {
    let site = Site::new("{}");
    let Ran { code, stdout, stderr } = site.run(&["bmc", "by-hand"]);
    assert_eq!((code, stdout.as_str()), (Some(9), ""), "{stderr}");
    for part in [
        "bootstrap:\n  1. ",
        "master-2:\n  1. ",
        "error[by-hand]: bootstrap, master-0, master-1, master-2, worker-0 wait for a person",
    ] {
        assert!(stderr.contains(part), "{part} is not in:\n{stderr}");
    }
    let Ran { code, stderr, .. } = site.run(&["bmc", "seen", "--host", "master-1"]);
    assert!(code == Some(9) && stderr.contains("master-1 has not been seen yet"), "{stderr}");

    let cluster = site.cluster();
    let provider = site.provider(&cluster);
    let host = &cluster.inventory.hosts[2];
    let boot = provider.first_boot(host);
    let error = site.with_executor(|executor| executor.up(&boot, &mut ())).unwrap_err();
    assert!(site.path("media/master-1.iso").exists(), "the medium is made before anybody is asked");
    let ExecutorError::Step { source: StepError::Failed { status, stderr, .. }, .. } = &error else {
        panic!("{error:?}")
    };
    assert!(status.ends_with(": 9") && stderr.contains("master-1:\n  1. "), "{status} {stderr}");

    let seen = IgnitionRedeemed {
        host: "master-1".to_owned(),
        digest: "0123456789ab".to_owned(),
        source: [192, 168, 126, 102].into(),
        face: Face::Host,
    };
    let journal = Journal::open(&site.path(hardway_journal::FILE_NAME)).unwrap();
    journal.append(&[Entry::of(Timestamp::UNIX_EPOCH, &seen)]).unwrap();
    site.with_executor(|executor| executor.up(&boot, &mut ())).unwrap();
    site.ok(&["bmc", "by-hand", "--host", "master-1"]);
    let Ran { code, stderr, .. } = site.run(&["bmc", "by-hand"]);
    assert!(code == Some(9) && !stderr.contains("master-1:"), "{stderr}");
}

/// The release names its live ISO: nobody has to fetch it first.
#[test]
fn the_live_iso_is_downloaded_where_it_is_not_there() {
    let site = Site::new("{}");
    let (iso, web) = (site.path("media/rhcos-live.x86_64.iso"), site.path("web"));
    fs_err::create_dir(&web).unwrap();
    let sum = succeed(Command::new("sha256sum").arg(&iso));
    fs_err::rename(&iso, web.join("rhcos-live.x86_64.iso")).unwrap();
    let port = free_port();
    let flags = ["httpd", "-f", "-p", &format!("127.0.0.1:{port}"), "-h", web.to_str().unwrap()];
    let _server = Server::start(Path::new("/bin/busybox"), flags, &web);
    until("it serves", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    let boot = |site: &Site| {
        let cluster = site.cluster();
        let boot = site.provider(&cluster).first_boot(&cluster.inventory.hosts[2]);
        // With nobody's cache.
        let through = vec!["env".to_owned(), format!("XDG_CACHE_HOME={}", site.path("cache").display())];
        let journal = Journal::open(&site.path(hardway_journal::FILE_NAME)).unwrap();
        let executor =
            Executor::new(&site.path(""), &journal, &|| Timestamp::UNIX_EPOCH).on(Host::through(through));
        executor.up(&boot[..1], &mut ())
    };
    let error = boot(&site).unwrap_err();
    let ExecutorError::Step { source: StepError::Failed { stderr, .. }, .. } = &error else {
        panic!("{error:?}")
    };
    assert!(stderr.contains("no boot-image metadata") && stderr.contains("fix: put a live ISO"), "{stderr}");

    let location = format!("http://127.0.0.1:{port}/rhcos-live.x86_64.iso");
    let disk = json!({"location": location, "sha256": sum.split(' ').next().unwrap()});
    let stream = json!({"stream": "rhcos-4.18", "architectures": {"x86_64": {
        "artifacts": {"metal": {"formats": {"iso": {"disk": disk}}}}, "images": {}}}});
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "coreos-bootimages", "namespace": "openshift-machine-config-operator"},
        "data": {"stream": stream.to_string()}});
    site.write("release/manifests/0000_50_bootimages.yaml", map.to_string());
    boot(&site).unwrap();
    assert!(iso.exists() && site.path("media/master-1.iso").exists());
}

#[test]
fn other_providers_have_no_controllers() {
    let site = Site::new("{}");
    let text = site.read("inventory.yaml");
    site.write("inventory.yaml", text.replace("provider: bare-metal", "provider: libvirt"));
    let Ran { code, stderr, .. } = site.run(&["bmc", "by-hand"]);
    assert!(code == Some(2) && stderr.contains("provider bare-metal only"), "{stderr}");
}

/// An install holds the folder while its steps run, and steps are this program.
#[test]
fn a_step_may_work_in_a_folder_that_its_parent_holds() {
    let site = Site::new("{}");
    let lock = std::fs::OpenOptions::new().write(true).open(site.path(".hardway.lock")).unwrap();
    lock.lock().unwrap();
    site.ok(&["media", "iso", "--host", "master-0", "--pointer"]);
    let mut other = Command::new("sh");
    other.args(["-c", "\"$@\"; exit $?", "sh", PROGRAM, "--dir"]);
    let output = other.arg(site.path("")).args(["media", "iso", "--host", "master-0"]).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && stderr.contains("workdir-locked"), "{stderr}");
}
