//! Ending well: who is being served is served to the end.

use hardway_testing::Running;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::site::Folder;
use crate::client::PATIENCE;

#[tokio::test(flavor = "multi_thread")]
async fn a_download_that_is_under_way_ends_whole() {
    let folder = Folder::made();
    let mut serving = folder.serve(&[]);
    let mut stream = serving.client().connect().await.unwrap();
    stream.write_all(folder.request("worker-0").text().as_bytes()).await.unwrap();
    stream.flush().await.unwrap();
    let mut received = vec![0; 50_000];
    stream.read_exact(&mut received).await.unwrap();
    serving.signal("TERM");
    let refused = async {
        while TcpStream::connect(serving.address).await.is_ok() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, refused).await.expect("nobody new is let in");
    let mut rest = Vec::new();
    tokio::time::timeout(PATIENCE, stream.read_to_end(&mut rest)).await.unwrap().unwrap();
    received.extend(rest);
    assert!(received.ends_with(folder.read("ignition/worker-0.ign").as_bytes()), "{} bytes", received.len());
    assert_eq!(serving.exit(), Some(0));
}

/// Both ends are clean; a script can tell them apart.
#[test]
fn a_person_ends_it_as_well_as_a_service_manager() {
    let folder = Folder::made();
    for (signal, exit) in [("INT", 8), ("TERM", 0)] {
        let mut serving = folder.serve(&["--face", "host", "--face", "pool"]);
        // Both doors are opened by a person, who hears what that means.
        for door in
            ["--from-any-address: anyone with a host's pointer", "--face pool: anyone who reaches this port"]
        {
            assert!(serving.said().contains(&format!("warning: {door}")), "{}", serving.said());
        }
        serving.signal(signal);
        assert_eq!(serving.exit(), Some(exit), "{signal}");
    }
}

/// Else it would begin a new journal, and hand out the configs of a cluster that is gone.
#[tokio::test(flavor = "multi_thread")]
async fn while_it_runs_the_journal_is_not_put_away() {
    let folder = Folder::made();
    let serving = folder.serve(&[]);
    assert_eq!(folder.request("master-0").ask(&serving.client()).await.status, 200);
    let ran = folder.refused(1, &["destroy", "--yes"]);
    ran.says(&format!(
        "error[workdir-locked]: hardway serve (process {}) hands out configs from",
        serving.id()
    ))
    .says("fix: end it first");
    assert!(folder.exists("journal.jsonl"));
    serving.end().expect(0);
    let ran = folder.ok(&["destroy", "--dry-run"]);
    assert!(ran.stdout.contains("would be forgotten: master-0. "), "{}", ran.stdout);
    folder.ok(&["destroy", "--yes"]).says("the journal was renamed to");
    assert!(!folder.exists("journal.jsonl"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happened_is_one_line_each() {
    let folder = Folder::made();
    let serving = folder.serve(&[]);
    let request = folder.request("master-0");
    assert_eq!(request.ask(&serving.client()).await.status, 200);
    assert_eq!(request.ask_for(&serving.client(), "/ignition/master-1").await.status, 401);
    let text = serving.end().expect(0).stdout;
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().any(|line| line["event"] == "served" && line["who"] == "master-0"), "{text}");
    assert!(lines.iter().any(|line| line["event"] == "refused" && line["status"] == 401), "{text}");
    for (_, value) in request.headers {
        let token = value.trim_start_matches("Bearer ");
        assert!(token.len() < 20 || !text.contains(token), "a token shows:\n{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_does_not_read_stops_nothing() {
    let folder = Folder::made();
    let mut command = folder.serve_command();
    // A pipe that is full after 64 KB: `sleep` holds its other end.
    let sleeper =
        std::process::Command::new("sleep").arg("600").stdin(std::process::Stdio::piped()).spawn().unwrap();
    let mut sleeper = Sleeper(sleeper);
    command.stdout(sleeper.0.stdin.take().unwrap());
    let mut serving = folder.serving(Running::with_its_own_output(command));
    let request = folder.request("master-0");
    for _ in 0..800 {
        assert_eq!(request.ask(&serving.client()).await.status, 200);
    }
    serving.signal("TERM");
    assert_eq!(serving.exit(), Some(0));
}

struct Sleeper(std::process::Child);

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
