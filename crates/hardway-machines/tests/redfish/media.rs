//! The server of ISOs, with a client that sends exactly what it is told.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hardway_assets::ignition::TokenKey;
use hardway_base::Secret;
use hardway_journal::{Entry, Journal, MachineRetired, NodeJoined};
use hardway_machines::Trouble;
use hardway_machines::media_paths::MediaPaths;
use hardway_machines::media_server::{MediaServer, Noted};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const PATIENCE: Duration = Duration::from_secs(120);

fn silently() -> Noted {
    Box::new(|_| Ok(()))
}

fn quietly() -> Trouble {
    Box::new(|what| panic!("{what}"))
}

/// Of the folder; its journal need not be there.
fn paths(folder: &Path) -> MediaPaths {
    MediaPaths::new(TokenKey::new(&Secret::new("key")), &folder.join("journal.jsonl"))
}

/// Where the medium of a host is served.
fn at(folder: &Path, host: &str) -> String {
    let name = format!("{host}.iso");
    let path = paths(folder).of(host, &folder.join(&name)).unwrap().expect("a medium that is needed");
    format!("/{}/{name}", path.expose_text())
}

async fn ask(server: &MediaServer, head: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(format!("{head}\r\nHost: x\r\nConnection: close\r\n\r\n").as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
    (String::from_utf8(answer[..end].to_vec()).unwrap().to_lowercase(), answer[end + 4..].to_vec())
}

#[tokio::test]
async fn isos_are_served_whole_and_in_pieces_to_who_knows_the_path() {
    let folder = tempfile::tempdir().unwrap();
    let content: Vec<u8> = (0..1_000_000_u32).map(|n| u8::try_from(n % 251).unwrap()).collect();
    let path = |name: &str| folder.path().join(name);
    fs_err::write(path("master-0.iso"), &content).unwrap();
    fs_err::write(path("secret.iso"), "not of a host").unwrap();
    let isos = ["master-0", "master-1"].map(|host| (host.to_owned(), path(&format!("{host}.iso"))));
    let server = MediaServer::start(
        "127.0.0.1:0".parse().unwrap(),
        BTreeMap::from(isos),
        paths(folder.path()),
        silently(),
        quietly(),
    )
    .await
    .unwrap();
    let at = at(folder.path(), "master-0");

    let (head, body) = ask(&server, &format!("GET {at} HTTP/1.1")).await;
    assert!(head.starts_with("http/1.1 200") && head.contains("accept-ranges: bytes"), "{head}");
    assert!(body == content);
    let (head, body) = ask(&server, &format!("GET {at} HTTP/1.1\r\nRange: bytes=32768-34815")).await;
    assert!(
        head.starts_with("http/1.1 206") && head.contains("content-range: bytes 32768-34815/1000000"),
        "{head}"
    );
    assert!(body == content[32768..34816]);
    let (head, body) = ask(&server, &format!("HEAD {at} HTTP/1.1")).await;
    assert!(head.contains("content-length: 1000000") && body.is_empty(), "{head}");
    let (head, _) = ask(&server, &format!("GET {at} HTTP/1.1\r\nRange: bytes=1000000-")).await;
    assert!(head.starts_with("http/1.1 416") && head.contains("bytes */1000000"), "{head}");
    let part = at.split('/').nth(1).unwrap();
    for path in [
        "/master-0.iso".to_owned(),
        format!("/{}/master-0.iso", "0".repeat(32)),
        format!("/{}/master-0.iso", part.to_uppercase()),
        format!("/{part}/secret.iso"),
        format!("/{part}/master-1.iso"),
        format!("/{part}/../{part}/master-0.iso"),
        format!("//{part}/master-0.iso"),
        format!("/{part}"),
        "/".to_owned(),
    ] {
        let (head, _) = ask(&server, &format!("GET {path} HTTP/1.1")).await;
        assert!(head.starts_with("http/1.1 404"), "{path}: {head}");
    }
    let (head, _) = ask(&server, &format!("PUT {at} HTTP/1.1")).await;
    assert!(head.starts_with("http/1.1 405"), "{head}");
}

#[tokio::test]
async fn nobody_gets_a_medium_that_its_host_does_not_need_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let hosts = ["bootstrap", "master-0", "master-1"];
    for host in hosts {
        fs_err::write(folder.path().join(format!("{host}.iso")), host).unwrap();
    }
    let isos = hosts.map(|host| (host.to_owned(), folder.path().join(format!("{host}.iso"))));
    let server = MediaServer::start(
        "127.0.0.1:0".parse().unwrap(),
        BTreeMap::from(isos),
        paths(folder.path()),
        silently(),
        quietly(),
    )
    .await
    .unwrap();
    let [bootstrap, first, second] = hosts.map(|host| at(folder.path(), host));
    let status = async |path: &str| {
        let (head, body) = ask(&server, &format!("GET {path} HTTP/1.1")).await;
        (head[9..12].to_owned(), String::from_utf8(body).unwrap())
    };
    assert_eq!(status(&bootstrap).await, ("200".to_owned(), "bootstrap".to_owned()));
    assert_eq!(status(&first).await, ("200".to_owned(), "master-0".to_owned()));

    let journal = Journal::open(&folder.path().join("journal.jsonl")).unwrap();
    #[expect(clippy::disallowed_methods, reason = "files are made by the real clock")]
    let now = jiff::Timestamp::now();
    journal.append(&[Entry::of(now, &NodeJoined { host: "master-0".to_owned() })]).unwrap();
    journal.append(&[Entry::of(now, &MachineRetired { host: "bootstrap".to_owned() })]).unwrap();
    assert_eq!(status(&first).await.0, "404");
    assert_eq!(status(&bootstrap).await.0, "404");
    assert_eq!(status(&second).await, ("200".to_owned(), "master-1".to_owned()));

    // For the next machine of that name another medium is made; what was known of the last one opens nothing.
    let remade = folder.path().join("master-0.iso");
    fs_err::write(&remade, "again").unwrap();
    let later = std::time::SystemTime::from(now) + Duration::from_secs(60);
    std::fs::File::options().write(true).open(&remade).unwrap().set_modified(later).unwrap();
    assert_eq!(status(&first).await.0, "404");
    assert_eq!(status(&at(folder.path(), "master-0")).await, ("200".to_owned(), "again".to_owned()));
}

#[tokio::test]
async fn the_operator_is_told_why_and_the_controller_only_that() {
    let folder = tempfile::tempdir().unwrap();
    let path = |host: &str| folder.path().join(format!("{host}.iso"));
    fs_err::os::unix::fs::symlink(path("master-0"), path("master-0")).unwrap();
    fs_err::write(path("master-1"), "an image").unwrap();
    let isos = ["master-0", "master-1"].map(|host| (host.to_owned(), path(host)));
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let told = heard.clone();
    let server = MediaServer::start(
        "127.0.0.1:0".parse().unwrap(),
        BTreeMap::from(isos),
        paths(folder.path()),
        Box::new(|_| Err(std::io::Error::other("the disk is full").into())),
        Box::new(move |what| told.lock().unwrap().push(what.to_owned())),
    )
    .await
    .unwrap();
    let there = at(folder.path(), "master-1");
    let wrong = there.replace("master-1", "master-0");
    for _ in 0..2 {
        let (head, body) = ask(&server, &format!("GET {wrong} HTTP/1.1")).await;
        assert!(head.starts_with("http/1.1 503") && body.is_empty(), "{head}");
    }
    assert_eq!(ask(&server, &format!("GET {there} HTTP/1.1")).await.1, b"an image");
    let heard = heard.lock().unwrap().clone();
    assert_eq!(heard.len(), 2, "{heard:?}");
    assert!(heard[0].starts_with("not serving the medium of master-0: "), "{heard:?}");
    assert!(heard[0].contains(&path("master-0").display().to_string()), "{heard:?}");
    let secret = there.split('/').nth(1).unwrap();
    assert!(heard.iter().all(|told| !told.contains(secret)), "{heard:?}");
    assert_eq!(
        heard[1],
        "cannot record in the journal that 127.0.0.1 reads the medium of master-1: the journal cannot be used: the disk is full"
    );
}

/// An image that no buffer holds, and a server that has it.
async fn large(folder: &Path) -> (MediaServer, Vec<u8>) {
    let content: Vec<u8> = (0..40_000_000_u32).map(|n| u8::try_from(n % 251).unwrap()).collect();
    let path = folder.join("master-0.iso");
    fs_err::write(&path, &content).unwrap();
    let isos = BTreeMap::from([("master-0".to_owned(), path)]);
    let paths = paths(folder);
    let server = MediaServer::start("127.0.0.1:0".parse().unwrap(), isos, paths, silently(), quietly());
    (server.await.unwrap(), content)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_controller_reads_at_the_end_it_gets_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (server, content) = large(folder.path()).await;
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    let at = at(folder.path(), "master-0");
    stream.write_all(format!("GET {at} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).await.unwrap();
    let mut received = vec![0; 1_000_000];
    stream.read_exact(&mut received).await.unwrap();
    let ending = tokio::spawn(server.end());
    tokio::time::timeout(PATIENCE, stream.read_to_end(&mut received)).await.unwrap().unwrap();
    assert!(received.ends_with(&content));
    assert!(ending.await.unwrap(), "it was cut off");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_dropped_lets_go_of_who_waits() {
    let folder = tempfile::tempdir().unwrap();
    let (server, _) = large(folder.path()).await;
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    let at = at(folder.path(), "master-0");
    stream.write_all(format!("HEAD {at} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).await.unwrap();
    let mut received = vec![0; 12];
    stream.read_exact(&mut received).await.unwrap();
    drop(server);
    let rest = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut received)).await;
    assert!(rest.is_ok(), "the connection outlives its server");
}
