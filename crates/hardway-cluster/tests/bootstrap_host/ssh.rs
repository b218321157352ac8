//! A real sshd, and the key that hardway draws for the bootstrap host.

use std::path::Path;
use std::time::Duration;

use fs_err as fs;
use hardway_assets::inventory::KeyAlgorithm;
use hardway_assets::secrets::{PrivateKey, Random, ssh_public_key};
use hardway_cluster::bootstrap_progress::{Remote, RemoteError, look};
use hardway_testing::{free_port, sshd, user};
use tokio::time::{Instant, sleep};

/// The key that hardway draws, and the file that lets it in.
pub(crate) fn draw_key(folder: &Path) {
    let key = PrivateKey::generate(KeyAlgorithm::EcdsaP256, &Random::default()).unwrap();
    fs::write(folder.join("key"), key.to_pem().expose()).unwrap();
    fs::set_permissions(folder.join("key"), std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    fs::write(folder.join("authorized_keys"), ssh_public_key(&key, "bootstrap")).unwrap();
}

pub(crate) async fn answers(remote: &Remote) -> String {
    let began = Instant::now();
    loop {
        match remote.run("echo \"$((6 * 7))\"").await {
            Ok(text) => return text,
            Err(error) => assert!(began.elapsed() < Duration::from_secs(120), "{error}"),
        }
        sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_scripts_run_over_ssh_with_the_key_that_was_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    draw_key(folder.path());
    let port = free_port();
    let server = sshd(folder.path(), port, "first", "");
    let mut remote =
        Remote::ssh("127.0.0.1".parse().unwrap(), port, &user(), &path("key"), &path("known_hosts"));
    remote.patience = Duration::from_secs(120);
    assert_eq!(answers(&remote).await, "42\n");
    assert!(look(&remote).await.unwrap().clock.is_some(), "a host without any record has a clock");
    let error = remote.run("echo why >&2; exit 3").await.unwrap_err();
    assert!(matches!(&error, RemoteError::Failed { said, .. } if said == "why"), "{error}");

    // Another host at that address is not taken for the first.
    drop(server);
    let _server = sshd(folder.path(), port, "second", "");
    let began = Instant::now();
    loop {
        let error = remote.run("true").await.unwrap_err().to_string();
        if error.contains("Host key verification failed") {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(120), "{error}");
        sleep(Duration::from_millis(200)).await;
    }
}
