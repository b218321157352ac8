//! A real sshd, with the keys that hardway draws: the one to log in with, and the host's own.

use std::path::Path;
use std::time::Duration;

use fs_err as fs;
use hardway_assets::inventory::KeyAlgorithm;
use hardway_assets::pki::expected_host_key;
use hardway_assets::secrets::{PrivateKey, Random, ssh_public_key};
use hardway_cluster::bootstrap_progress::look;
use hardway_cluster::remote::{KnownHost, Login, Remote, RemoteError};
use hardway_testing::{Server, free_port, sshd, user};
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

/// The key that hardway draws for a host, and the `known_hosts` that has it. Both are named after the server.
pub(crate) fn draw_host_key(folder: &Path, server: &str) {
    let key = PrivateKey::generate(KeyAlgorithm::EcdsaP256, &Random::default()).unwrap();
    fs::write(folder.join(server), key.to_pem().expose()).unwrap();
    fs::set_permissions(folder.join(server), std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let line = format!("{server}.example.com,{server} {}\n", ssh_public_key(&key, ""));
    fs::write(folder.join(format!("{server}.known_hosts")), line).unwrap();
}

/// The way to a server that is known by its drawn key.
pub(crate) fn known(folder: &Path, server: &str, port: u16) -> Remote {
    let known_hosts = folder.join(format!("{server}.known_hosts"));
    let name = format!("{server}.example.com");
    let fingerprint = expected_host_key(&fs::read_to_string(&known_hosts).unwrap(), &name);
    assert!(fingerprint.is_some());
    let host = KnownHost { address: "127.0.0.1".to_owned(), known_hosts, name: Some(name), fingerprint };
    let login = Login { user: user(), port, key: Some(folder.join("key")), offers_only_key: true };
    Remote { patience: Duration::from_secs(120), ..Remote::ssh(host, &login) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_scripts_run_over_ssh_with_the_keys_that_were_drawn() {
    let folder = tempfile::tempdir().unwrap();
    draw_key(folder.path());
    let port = free_port();
    draw_host_key(folder.path(), "first");
    let before = fs::read(folder.path().join("first.known_hosts")).unwrap();
    let server = sshd(folder.path(), port, "first", "");
    let remote = known(folder.path(), "first", port);
    assert_eq!(answers(&remote).await, "42\n", "the first connection asks nobody");
    assert!(look(&remote).await.unwrap().clock.is_some(), "a host without any record has a clock");
    let error = remote.run("echo why >&2; exit 3").await.unwrap_err();
    assert!(matches!(&error, RemoteError::Failed { said, .. } if said == "why"), "{error}");
    is_not_given_an_agent(folder.path(), &remote).await;

    // Another host at that address is not taken for the first, with a key of the same kind or of another.
    drop(server);
    draw_host_key(folder.path(), "second");
    for (stranger, clue) in [("second", "its key is SHA256:"), ("third", "Their offer: ssh-ed25519")] {
        let _server = sshd(folder.path(), port, stranger, "");
        let error = refused(&remote).await;
        let text = error.to_string();
        let RemoteError::Stranger { host, .. } = &error else { panic!("{error}") };
        for words in [
            "refusing to connect to 127.0.0.1 (first.example.com)",
            host.fingerprint.as_deref().unwrap(),
            clue,
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
        assert!(error.fix().unwrap().contains("find out which machine has the address 127.0.0.1"));
        if stranger == "second" {
            assert_eq!(answers(&known(folder.path(), "second", port)).await, "42\n", "it is who it says");
        }
    }
    // A file that has no key of the host lets nobody in.
    let mut remote = known(folder.path(), "first", port);
    fs::write(folder.path().join("first.known_hosts"), "").unwrap();
    let _server = sshd(folder.path(), port, "first", "");
    let error = refused(&remote).await.to_string();
    assert!(error.contains("host key is known for first.example.com"), "{error}");
    assert_eq!(fs::read(folder.path().join("first.known_hosts")).unwrap(), b"", "nothing is learned");
    fs::write(folder.path().join("first.known_hosts"), before).unwrap();
    remote.patience = Duration::from_secs(120);
    assert_eq!(answers(&remote).await, "42\n");
}

/// A real agent that is here is not there; asked for it, ssh would take it along.
async fn is_not_given_an_agent(folder: &Path, remote: &Remote) {
    let socket = folder.join("agent").display().to_string();
    let _agent = Server::start(Path::new("/usr/bin/ssh-agent"), ["-D", "-a", &socket], folder);
    let mut remote = remote.clone();
    remote.environment.push(("SSH_AUTH_SOCK".to_owned(), socket));
    let script = "echo \"${SSH_AUTH_SOCK:-none}\"";
    let mut forwarding = remote.clone();
    forwarding.command.insert(1, "-A".to_owned());
    let began = Instant::now();
    while forwarding.run(script).await.unwrap() == "none\n" {
        assert!(
            began.elapsed() < Duration::from_secs(120),
            "the agent does not come along even when asked for"
        );
        sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(remote.run(script).await.unwrap(), "none\n");
}

/// How a host is refused, once its server listens.
async fn refused(remote: &Remote) -> RemoteError {
    let began = Instant::now();
    loop {
        match remote.run("true").await.unwrap_err() {
            error @ RemoteError::Stranger { .. } => return error,
            error => assert!(began.elapsed() < Duration::from_secs(120), "{error}"),
        }
        sleep(Duration::from_millis(200)).await;
    }
}
