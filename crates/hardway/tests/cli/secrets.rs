//! Who may read what, and what follows from the secrets alone.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use hardway_testing::{INSTALL_CONFIG, INVENTORY, NOW, Ran, Running, Snapshot, Work, succeed};

use super::audit::Needles;
use crate::work;

/// `create ignition-configs` under a umask.
fn create_under(umask: &str, work: &Work, now: &str) -> Ran {
    let mut shell = Command::new("sh");
    let script = format!("umask {umask}; exec \"$0\" create ignition-configs");
    shell
        .args(["-c", &script, env!("CARGO_BIN_EXE_hardway")])
        .current_dir(work.root())
        .env("HARDWAY_NOW", now);
    Ran::of(shell).expect(0)
}

#[test]
fn secrets_are_the_owners_alone_whatever_the_umask() {
    let made = work::made();
    let first = Snapshot::of(made.root());
    for umask in ["000", "077"] {
        let work = made.copy(&["install-config.yaml", "inventory.yaml", "secrets/"]);
        create_under(umask, &work, NOW);
        let snapshot = Snapshot::of(work.root());
        first.assert_same(&snapshot);
        for folder in ["secrets", "auth"] {
            assert_eq!(work.mode(folder), 0o700, "{folder}");
        }
        for (path, mode, _) in snapshot.files() {
            let folders = ["secrets/", "auth/", "kubeconfigs/", "ignition/"];
            if folders.iter().any(|folder| path.starts_with(folder)) || path == "bootstrap.ign" {
                assert_eq!(mode, 0o600, "{path} under {umask}");
            }
        }
    }
    // Drawn under the umask, too.
    let work = made.copy(&["install-config.yaml", "inventory.yaml"]);
    create_under("000", &work, NOW);
    let snapshot = Snapshot::of(work.root());
    assert_eq!(work.mode("secrets"), 0o700);
    assert!(
        snapshot.files().filter(|(path, ..)| path.starts_with("secrets/")).all(|(_, mode, _)| mode == 0o600)
    );
}

/// A backup is restored where others can look at the folder above: `hardway etcd prove` waits for a file that nobody writes.
#[test]
fn a_backup_is_proven_in_a_folder_of_its_owners_alone() {
    let work = work::empty();
    work.write("backup.key", "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX\n");
    for program in ["etcd", "etcdutl"] {
        work.write_program(&format!("bin/{program}"), "#!/bin/sh\nexit 1\n");
    }
    fs_err::create_dir(work.path("scratch")).unwrap();
    succeed(Command::new("mkfifo").arg(work.path("backup.tar.age")));
    let mut shell = Command::new("sh");
    let script = "umask 000; exec \"$0\" etcd prove backup.tar.age --identity backup.key --programs bin";
    shell.args(["-c", script, env!("CARGO_BIN_EXE_hardway")]);
    shell.current_dir(work.root()).env("TMPDIR", work.path("scratch"));
    let mut proving = Running::start(shell);
    let made = || fs_err::read_dir(work.path("scratch")).unwrap().next();
    proving.until_so("there is a folder to restore in", || made().is_some());
    let mode = made().unwrap().unwrap().metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o700);
}

#[test]
fn nothing_that_others_may_read_holds_a_secret() {
    let work = work::made();
    let needles = Needles::of(work.root());
    let snapshot = Snapshot::of(work.root());
    let mut open = 0;
    let mut found_behind_locks = Vec::new();
    for (path, mode, bytes) in snapshot.files() {
        let found = needles.found_in(bytes);
        if mode & 0o077 == 0 {
            found_behind_locks.extend(found.iter().map(|name| format!("{name} in {path}")));
        } else if path != "install-config.yaml" && path != "inventory.yaml" {
            open += 1;
            assert!(found.is_empty(), "{path} can be read by others and holds {found:?}");
        }
    }
    assert!(open > 100, "{open} files are open to all");
    // The search finds what is there: plain, in base64, and in the data of Ignition configs.
    for expected in [
        "kubeadmin-password in auth/kubeadmin-password",
        "kubeadmin-password.hash in openshift/99_kubeadmin-password-secret.yaml",
        "admin-kubeconfig-client.key as PEM in auth/kubeconfig",
        "etcd-signer.key as DER in operator-seeds/openshift-etcd-etcd-signer.yaml",
        "etcd-signer.key as PEM in bootstrap.ign",
        "the pull secret in manifests/openshift-config-secret-pull-secret.yaml",
        "the login in the pull secret in bootstrap.ign",
        "identity.json in secrets/identity.json",
    ] {
        assert!(
            found_behind_locks.iter().any(|found| found == expected),
            "{expected}: {found_behind_locks:#?}"
        );
    }
}

#[test]
fn everything_follows_from_the_inputs_and_the_secrets() {
    let made = work::made();
    let copy = made.copy(&["install-config.yaml", "inventory.yaml", "secrets/"]);
    create_under("077", &copy, "2026-11-15T15:00:00Z");
    Snapshot::of(made.root()).assert_same(&Snapshot::of(copy.root()));
}

/// As for a damaged one: a new key is a new cluster's, and `auth/` may be all that is left of the old.
#[test]
fn a_lost_secret_is_refused_and_nothing_is_overwritten() {
    let work = work::made();
    let etcd_client = work.read("secrets/etcd-client.key");
    work.remove("secrets/etcd-client.key");
    let before = Snapshot::of(work.root());
    for verb in
        [&["create", "ignition-configs"][..], &["create", "manifests"], &["create", "manifests", "--dry-run"]]
    {
        work.refused(1, verb)
            .says("error[secrets-damaged]: secrets/etcd-client.key is missing, and files in this folder were made from it")
            .says("fix: restore the file from a copy; a new one means a new cluster")
            .says("--redraw-secrets");
    }
    let ran = work.refused(1, &["status"]);
    assert!(
        ran.stdout.starts_with("1 file is missing from secrets/: restore it from a copy\n"),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains("stale"), "{}", ran.stdout);
    before.assert_untouched(&Snapshot::of(work.root()));

    work.write("secrets/etcd-client.key", etcd_client);
    work.ok(&["create", "ignition-configs"]).says("0 files made");

    fs_err::remove_dir_all(work.path("secrets")).unwrap();
    let before = Snapshot::of(work.root());
    let ran = work.refused(1, &["create", "ignition-configs"]);
    ran.says(" files are missing from secrets/").says("secrets/admin-kubeconfig-client.key").says(" more");
    let json = work.refused(1, &["status", "-o", "json"]).json();
    assert!(
        json["broken"][0]["error"].as_str().unwrap().contains("files are missing from secrets/"),
        "{json}"
    );
    before.assert_untouched(&Snapshot::of(work.root()));
}

#[test]
fn whoever_says_so_gets_a_new_secret_in_place_of_a_lost_one() {
    let work = work::made();
    let before = Snapshot::of(work.root());
    work.remove("secrets/etcd-client.key");
    work.ok(&["create", "ignition-configs", "--redraw-secrets"])
        .says("warning: secrets/etcd-client.key was missing: generated again")
        .does_not_say("edited by hand");
    let after = Snapshot::of(work.root());
    let changed = before.changes(&after);
    assert!(changed.contains(&"pki/etcd-client.crt".to_owned()), "{changed:#?}");
    assert!(changed.iter().all(|path| !path.starts_with("secrets/") || path == "secrets/etcd-client.key"));
    work.ok(&["create", "ignition-configs"]).does_not_say("went away").says("0 files made");
}

/// Its key lies there until somebody takes it away, and then nobody misses it.
#[test]
fn the_secrets_of_a_host_that_left_are_not_missed() {
    let work = work::made();
    work.edit("inventory.yaml", "name: worker-0", "name: worker-7");
    work.ok(&["create", "ignition-configs", "--dry-run"])
        .says("keys of hosts that are not in the inventory, to be deleted when their machines are gone: ")
        .says("secrets/host-identity-worker-0.key");
    work.remove("secrets/host-identity-worker-0.key");
    work.ok(&["create", "ignition-configs"]).does_not_say("missing");
    assert!(work.exists("ignition/worker-7.ign"));
}

#[test]
fn a_secret_that_others_can_read_is_told() {
    let work = work::made();
    work.ok(&["create", "manifests"]).does_not_say("read by others");
    let open = std::fs::Permissions::from_mode(0o644);
    fs_err::set_permissions(work.path("secrets/root-ca.key"), open).unwrap();
    work.ok(&["create", "manifests"])
        .says("warning: secrets/root-ca.key can be read by others: chmod 600 secrets/root-ca.key");

    // As after a copy that forgot the modes: one line, with one command.
    for path in Snapshot::of(work.root()).paths() {
        fs_err::set_permissions(work.path(path), std::fs::Permissions::from_mode(0o644)).unwrap();
    }
    for verb in [&["create", "ignition-configs"][..], &["status"]] {
        let ran = work.ok(verb);
        assert_eq!(ran.stderr.matches("read by others").count(), 1, "{}", ran.stderr);
        let line = ran.stderr.lines().find(|line| line.contains("read by others")).unwrap();
        assert!(line.ends_with(" files with secrets can be read by others: chmod -R go= ./"), "{line}");
    }
    assert!(Command::new("chmod").args(["-R", "go="]).arg(work.root()).status().unwrap().success());
    work.ok(&["status"]).does_not_say("read by others");
}

#[test]
fn keys_of_the_users_own_are_taken() {
    let made = work::made();
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    fs_err::create_dir(work.path("secrets")).unwrap();
    for name in ["root-ca.key", "kubeadmin-password"] {
        work.write(&format!("secrets/{name}"), made.read(&format!("secrets/{name}")));
    }
    work.ok(&["create", "manifests"]);
    for name in ["root-ca.key", "kubeadmin-password"] {
        assert_eq!(work.read(&format!("secrets/{name}")), made.read(&format!("secrets/{name}")), "{name}");
    }
    assert_ne!(work.read("secrets/etcd-signer.key"), made.read("secrets/etcd-signer.key"));
    assert_eq!(work.read("auth/kubeadmin-password"), made.read("auth/kubeadmin-password"));
}
