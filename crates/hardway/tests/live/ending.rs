//! Ctrl-C, and a service manager that ends something: nothing half-written stays, here or in the cluster.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use fs_err as fs;
use hardway_testing::{ControlPlane, free_port, sshd, succeed, until, user};

use super::folder::Folder;

/// Hidden files and bundles: what a gathering that was cut off may leave.
fn left_behind(folder: &Folder) -> Vec<String> {
    let names = fs::read_dir(folder.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.into_string().unwrap());
    names.filter(|name| name.starts_with(".hardway-") || name.starts_with("log-bundle")).collect()
}

/// Processes whose command line has this text.
fn running(text: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).replace('\0', " ").contains(text)).count()
}

#[test]
fn a_gathering_that_is_cut_off_leaves_no_half_bundle_and_no_ssh() {
    let (host, folder) = (tempfile::tempdir().unwrap(), Folder::empty());
    let path = |name: &str| host.path().join(name).display().to_string();
    succeed(Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f", &path("key")]));
    fs::rename(host.path().join("key.pub"), host.path().join("authorized_keys")).unwrap();
    // Gathers for ever, and says when it has begun.
    let script = format!("#!/bin/sh\ntouch {}\nexec sleep 120\n", path("begun"));
    fs::write(host.path().join("gather.sh"), script).unwrap();
    fs::set_permissions(host.path().join("gather.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let port = free_port();
    let more = format!("SetEnv INSTALLER_GATHER={}\n", path("gather.sh"));
    let _server = sshd(host.path(), port, "host-key", &more);
    let public = fs::read_to_string(path("host-key.pub")).unwrap();
    fs::write(path("known_hosts"), format!("[127.0.0.1]:{port} {public}")).unwrap();
    until("sshd listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    for signal in ["INT", "TERM"] {
        let (me, port, key, known) = (user(), port.to_string(), path("key"), path("known_hosts"));
        let to = ["--bootstrap", "127.0.0.1", "--ssh-user", &me, "--ssh-port", &port, "--key", &key];
        let to = [&to[..], &["--known-hosts", &known]].concat();
        let child = folder.start(&[&["gather", "bootstrap"], &to[..]].concat());
        until("it gathers", || Path::new(&path("begun")).exists());
        assert!(!left_behind(&folder).is_empty() && running(&format!("-p {port} ")) > 0);
        child.signal(signal);
        let ran = child.end();
        assert_eq!(ran.code, Some(8), "{}", ran.stderr);
        assert!(ran.stderr.contains("error[interrupted]: interrupted while gathering"), "{}", ran.stderr);
        assert_eq!((left_behind(&folder), ran.stdout.as_str()), (Vec::new(), ""));
        until("ssh has ended", || running(&format!("-p {port} ")) == 0);
        fs::remove_file(path("begun")).unwrap();
    }
}

#[test]
fn real_a_verification_that_is_cut_off_takes_its_pod_away() {
    let plane = ControlPlane::start();
    let folder = Folder::new(&plane);
    let namespaces = || {
        let found = plane.get(&["namespaces", "-l", "hardway.dev/verify=true"]);
        found["items"].as_array().unwrap().clone()
    };
    for signal in ["INT", "TERM"] {
        // Nobody schedules here: the pod waits.
        let child = folder.start(&["verify", "--image", "registry.example.com/shell:1"]);
        let is_going = |of: &serde_json::Value| !of["metadata"]["deletionTimestamp"].is_null();
        until("the pod is made", || namespaces().iter().any(|namespace| !is_going(namespace)));
        child.signal(signal);
        let ran = child.end();
        assert_eq!(ran.code, Some(8), "{}", ran.stderr);
        assert!(ran.stderr.contains("interrupted while verifying"), "{}", ran.stderr);
        assert!(!ran.stderr.contains("could not be deleted"), "{}", ran.stderr);
        assert!(namespaces().iter().all(is_going), "{:?}", namespaces());
    }
}
