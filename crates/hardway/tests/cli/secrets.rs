//! Who may read what, and what follows from the secrets alone.

use std::process::Command;

use hardway_testing::{INSTALL_CONFIG, INVENTORY, NOW, Ran, Snapshot, Work};

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

#[test]
fn secrets_are_drawn_once_and_a_lost_one_is_told() {
    let work = work::made();
    let before = Snapshot::of(work.root());
    work.remove("secrets/etcd-client.key");
    work.ok(&["create", "ignition-configs"])
        .says("warning: secrets/etcd-client.key went away: drawn anew")
        .does_not_say("edited by hand");
    let after = Snapshot::of(work.root());
    let changed = before.changes(&after);
    assert!(changed.contains(&"pki/etcd-client.crt".to_owned()), "{changed:#?}");
    assert!(changed.iter().all(|path| !path.starts_with("secrets/") || path == "secrets/etcd-client.key"));
    work.ok(&["create", "ignition-configs"]).does_not_say("went away").says("0 files made");
}

#[test]
fn a_secret_that_others_can_read_is_told() {
    use std::os::unix::fs::PermissionsExt as _;
    let work = work::made();
    work.ok(&["create", "manifests"]).does_not_say("read by others");
    let open = std::fs::Permissions::from_mode(0o644);
    fs_err::set_permissions(work.path("secrets/root-ca.key"), open).unwrap();
    work.ok(&["create", "manifests"])
        .says("warning: secrets/root-ca.key can be read by others: chmod 600 secrets/root-ca.key");
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
