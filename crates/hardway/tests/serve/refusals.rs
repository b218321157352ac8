//! What it refuses: to begin with the wrong things, and to serve at the wrong time.

use hardway_journal::{BootstrapComplete, Entry, Journal, MachineGone, MachineRetired, NodeJoined};
use hardway_testing::{Ran, Running, eventually};

use super::site::{Folder, Serving};

async fn status(folder: &Folder, serving: &Serving, host: &str) -> u16 {
    folder.request(host).ask(&serving.client()).await.status
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_dies_when_its_node_has_joined_or_its_time_is_over() {
    let folder = Folder::made();
    let serving = folder.serve(&[]);
    assert_eq!(status(&folder, &serving, "master-0").await, 200);
    assert_eq!(status(&folder, &serving, "master-0").await, 200, "a first boot that failed may fetch again");
    let journal = Journal::open(&folder.path("journal.jsonl")).unwrap();
    #[expect(clippy::disallowed_methods, reason = "the program it talks to reads the real clock")]
    let now = jiff::Timestamp::now();
    journal.append(&[Entry::of(now, &NodeJoined { host: "master-0".to_owned() })]).unwrap();
    eventually("the joined node's token is dead", async || {
        status(&folder, &serving, "master-0").await == 410
    })
    .await;
    assert_eq!(status(&folder, &serving, "master-1").await, 200);
    // The bootstrap host becomes no node: its token ends with bootstrapping.
    assert_eq!(status(&folder, &serving, "bootstrap").await, 200);
    journal.append(&[Entry::of(now, &BootstrapComplete { host: "bootstrap".to_owned() })]).unwrap();
    eventually("the bootstrap host's token is dead", async || {
        status(&folder, &serving, "bootstrap").await == 410
    })
    .await;
    // Another server, or this one started again, reads the same.
    assert_eq!(serving.end().code, Some(0));
    let serving = folder.serve(&[]);
    assert_eq!(status(&folder, &serving, "bootstrap").await, 410);
    assert_eq!(status(&folder, &serving, "worker-0").await, 200);
    journal.append(&[Entry::of(now, &MachineGone { host: "worker-0".to_owned() })]).unwrap();
    eventually("the token of a machine that was taken away is dead", async || {
        status(&folder, &serving, "worker-0").await == 410
    })
    .await;
    assert_eq!(status(&folder, &serving, "master-1").await, 200);
    assert_eq!(serving.end().code, Some(0));

    let mut late = folder.serve_command();
    late.env("HARDWAY_NOW", "2099-01-01T00:00:00Z");
    let serving = folder.serving(Running::start(late));
    assert_eq!(status(&folder, &serving, "master-1").await, 410);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_config_that_was_made_again_has_another_generation() {
    let folder = Folder::made();
    let serving = folder.serve(&[]);
    let old = folder.request("worker-0");
    folder.edit("ignition/worker-0.ign", "/etc/padding", "/etc/other");
    eventually("the old pointer is refused", async || {
        let reply = old.ask(&serving.client()).await;
        if reply.status == 409 {
            assert!(String::from_utf8_lossy(&reply.body).contains(&old.headers[1].1), "{:?}", reply.body);
        }
        reply.status == 409
    })
    .await;
    folder.create();
    assert_ne!(folder.request("worker-0"), old);
    assert_eq!(status(&folder, &serving, "worker-0").await, 200);
}

#[test]
fn it_does_not_begin_with_the_wrong_things() {
    let folder = Folder::made();
    for (args, code, says) in [
        (
            &["--plain-http", "--face", "pool"][..],
            2,
            "error[usage]: --plain-http only works with --face host",
        ),
        (&["--plain-http"], 2, "error[usage]: the pointers of the hosts say https://127.0.0.1:22624"),
        (&["--face", "hosted"], 2, "error[usage]: --face hosted needs a certificate"),
        (&["--certificate", "pki/root-ca.crt"], 2, "--key"),
        (&["--listen", "203.0.113.77:1"], 4, "error[serve-failed]: cannot listen on 203.0.113.77:1"),
        (
            &["--certificate", "pki/root-ca.crt", "--key", "secrets/ignition-server.key"],
            4,
            "error[serve-failed]: the key secrets/ignition-server.key does not match",
        ),
        (&["--window", "soon"], 2, "expected a duration such as 90m, 24h or 3d"),
    ] {
        let Ran { code: exit, stderr: said, .. } = folder.cannot_serve(args);
        assert!(exit == Some(code) && said.contains(says), "{args:?}: {exit:?}\n{said}");
    }
    folder.remove("pki/ignition-server.crt");
    let Ran { code: exit, stderr: said, .. } = folder.cannot_serve(&[]);
    assert!(
        exit == Some(2) && said.contains("error[serve-unprepared]: ./pki/ignition-server.crt does not exist"),
        "{said}"
    );
    folder.edit("inventory.yaml", "ignitionServer:\n  url: https://127.0.0.1:22624\n", "");
    let Ran { code: exit, stderr: said, .. } = folder.cannot_serve(&[]);
    assert!(exit == Some(2) && said.contains("ignitionServer.url is not set"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_is_served_at_its_own_address_unless_a_person_says_otherwise() {
    let folder = Folder::made();
    let allowed = || folder.read("journal.jsonl").contains("any-address-allowed");
    for said in [
        &["serve", "--listen", "127.0.0.1:0"][..],
        &["serve", "--listen", "127.0.0.1:0", "--only-from-own-address"],
    ] {
        let serving = folder.serving(Running::start(folder.command(said)));
        assert_eq!(status(&folder, &serving, "master-0").await, 403);
        assert!(!allowed());
    }
    let anybody = folder.serve(&[]);
    assert_eq!(status(&folder, &anybody, "master-0").await, 200);
    assert!(allowed(), "the journal says that addresses do not count");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bootstrap_host_gets_nothing_once_it_is_retired() {
    let folder = Folder::made();
    let serving = folder.serve(&[]);
    assert_eq!(status(&folder, &serving, "bootstrap").await, 200);
    let journal = Journal::open(&folder.path("journal.jsonl")).unwrap();
    #[expect(clippy::disallowed_methods, reason = "the program it talks to reads the real clock")]
    let now = jiff::Timestamp::now();
    journal.append(&[Entry::of(now, &MachineRetired { host: "bootstrap".to_owned() })]).unwrap();
    eventually("the retired machine's token is dead", async || {
        status(&folder, &serving, "bootstrap").await == 410
    })
    .await;
}
