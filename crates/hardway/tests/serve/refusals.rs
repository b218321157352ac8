//! What it refuses: to begin with the wrong things, and to serve at the wrong time.

use hardway_journal::{Entry, Journal, NodeJoined};

use crate::site::{Folder, Serving};

async fn status(folder: &Folder, serving: &Serving, host: &str) -> u16 {
    let (path, headers) = folder.request(host);
    let headers: Vec<(&str, &str)> =
        headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    serving.client().ask("GET", &path, &headers).await.status
}

async fn until(what: &str, mut check: impl AsyncFnMut() -> bool) {
    for _ in 0..600 {
        if check().await {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("never: {what}");
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
    until("the joined node's token is dead", async || status(&folder, &serving, "master-0").await == 410)
        .await;
    assert_eq!(status(&folder, &serving, "master-1").await, 200);
    assert_eq!(serving.end().0, Some(0));

    let mut late = folder.command(&["--listen", "127.0.0.1:0", "-o", "json"]);
    late.env("HARDWAY_NOW", "2099-01-01T00:00:00Z");
    let serving = Serving::from(late, &folder.read("pki/root-ca.crt"));
    assert_eq!(status(&folder, &serving, "master-1").await, 410);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_config_that_was_made_again_has_another_generation() {
    let folder = Folder::made();
    let serving = folder.serve(&[]);
    let old = folder.request("worker-0").1;
    let text = String::from_utf8(folder.read("ignition/worker-0.ign"))
        .unwrap()
        .replace("/etc/padding", "/etc/other");
    std::fs::write(folder.path("ignition/worker-0.ign"), text).unwrap();
    let headers: Vec<(&str, &str)> =
        old.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    until("the old pointer is refused", async || {
        let reply = serving.client().ask("GET", "/ignition/worker-0", &headers).await;
        if reply.status == 409 {
            assert!(String::from_utf8_lossy(&reply.body).contains(&old[1].1), "{:?}", reply.body);
        }
        reply.status == 409
    })
    .await;
    folder.create();
    assert_ne!(folder.request("worker-0").1, old);
    assert_eq!(status(&folder, &serving, "worker-0").await, 200);
}

#[test]
fn it_does_not_begin_with_the_wrong_things() {
    let folder = Folder::made();
    for (args, code, says) in [
        (&["--plain-http", "--face", "pool"][..], 2, "error[usage]: --plain-http goes with --face host only"),
        (&["--plain-http"], 2, "error[usage]: the pointers of the hosts say https://127.0.0.1:22624"),
        (&["--face", "hosted"], 2, "error[usage]: --face hosted needs a certificate"),
        (&["--certificate", "pki/root-ca.crt"], 2, "--key"),
        (&["--listen", "203.0.113.77:1"], 4, "error[serve-failed]: cannot listen on 203.0.113.77:1"),
        (
            &["--certificate", "pki/root-ca.crt", "--key", "secrets/ignition-server.key"],
            4,
            "error[serve-failed]: the key secrets/ignition-server.key does not fit",
        ),
        (&["--window", "soon"], 2, "write it like 90m, 24h or 3d"),
    ] {
        let (exit, said) = folder.refused(args);
        assert!(exit == Some(code) && said.contains(says), "{args:?}: {exit:?}\n{said}");
    }
    std::fs::remove_file(folder.path("pki/ignition-server.crt")).unwrap();
    let (exit, said) = folder.refused(&[]);
    assert!(
        exit == Some(2) && said.contains("error[serve-unprepared]: ./pki/ignition-server.crt is not there"),
        "{said}"
    );
    let inventory = String::from_utf8(folder.read("inventory.yaml")).unwrap();
    let without = inventory.replace("ignitionServer:\n  url: https://127.0.0.1:22624\n", "");
    std::fs::write(folder.path("inventory.yaml"), without).unwrap();
    let (exit, said) = folder.refused(&[]);
    assert!(exit == Some(2) && said.contains("does not say where hosts reach this server"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_can_be_held_to_its_address() {
    let folder = Folder::made();
    let serving = folder.serve(&["--only-from-own-address"]);
    assert_eq!(status(&folder, &serving, "master-0").await, 403);
}
