//! The server of ISOs, with a client that sends exactly what it is told.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hardway_machines::Trouble;
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

async fn ask(server: &MediaServer, head: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(format!("{head}\r\nHost: x\r\nConnection: close\r\n\r\n").as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
    (String::from_utf8(answer[..end].to_vec()).unwrap().to_lowercase(), answer[end + 4..].to_vec())
}

#[tokio::test]
async fn isos_are_served_whole_and_in_pieces_to_who_knows_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let content: Vec<u8> = (0..1_000_000_u32).map(|n| u8::try_from(n % 251).unwrap()).collect();
    let path = |name: &str| folder.path().join(name);
    fs_err::write(path("master-0.iso"), &content).unwrap();
    fs_err::write(path("secret.iso"), "not of a host").unwrap();
    let isos = ["master-0", "master-1"].map(|host| (host.to_owned(), path(&format!("{host}.iso"))));
    let server =
        MediaServer::start("127.0.0.1:0".parse().unwrap(), BTreeMap::from(isos), silently(), quietly())
            .await
            .unwrap();

    let (head, body) = ask(&server, "GET /master-0.iso HTTP/1.1").await;
    assert!(head.starts_with("http/1.1 200") && head.contains("accept-ranges: bytes"), "{head}");
    assert!(body == content);
    let (head, body) = ask(&server, "GET /master-0.iso HTTP/1.1\r\nRange: bytes=32768-34815").await;
    assert!(
        head.starts_with("http/1.1 206") && head.contains("content-range: bytes 32768-34815/1000000"),
        "{head}"
    );
    assert!(body == content[32768..34816]);
    let (head, body) = ask(&server, "HEAD /master-0.iso HTTP/1.1").await;
    assert!(head.contains("content-length: 1000000") && body.is_empty(), "{head}");
    let (head, _) = ask(&server, "GET /master-0.iso HTTP/1.1\r\nRange: bytes=1000000-").await;
    assert!(head.starts_with("http/1.1 416") && head.contains("bytes */1000000"), "{head}");
    for path in ["/secret.iso", "/master-1.iso", "/../master-0.iso", "/", "/master-0"] {
        let (head, _) = ask(&server, &format!("GET {path} HTTP/1.1")).await;
        assert!(head.starts_with("http/1.1 404"), "{path}: {head}");
    }
    let (head, _) = ask(&server, "PUT /master-0.iso HTTP/1.1").await;
    assert!(head.starts_with("http/1.1 405"), "{head}");
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
        Box::new(|_| Err(std::io::Error::other("the disk is full").into())),
        Box::new(move |what| told.lock().unwrap().push(what.to_owned())),
    )
    .await
    .unwrap();
    for _ in 0..2 {
        let (head, body) = ask(&server, "GET /master-0.iso HTTP/1.1").await;
        assert!(head.starts_with("http/1.1 503") && body.is_empty(), "{head}");
    }
    assert_eq!(ask(&server, "GET /master-1.iso HTTP/1.1").await.1, b"an image");
    let heard = heard.lock().unwrap().clone();
    assert_eq!(heard.len(), 2, "{heard:?}");
    assert!(heard[0].starts_with(&format!("{} cannot be read: ", path("master-0").display())), "{heard:?}");
    assert_eq!(
        heard[1],
        "that 127.0.0.1 reads the medium of master-1 is not in the journal: the journal cannot be used: the disk is full"
    );
}

/// An image that no buffer holds, and a server that has it.
async fn large(folder: &std::path::Path) -> (MediaServer, Vec<u8>) {
    let content: Vec<u8> = (0..40_000_000_u32).map(|n| u8::try_from(n % 251).unwrap()).collect();
    let path = folder.join("master-0.iso");
    fs_err::write(&path, &content).unwrap();
    let isos = BTreeMap::from([("master-0".to_owned(), path)]);
    let server = MediaServer::start("127.0.0.1:0".parse().unwrap(), isos, silently(), quietly());
    (server.await.unwrap(), content)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_controller_reads_at_the_end_it_gets_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (server, content) = large(folder.path()).await;
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(b"GET /master-0.iso HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
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
    stream.write_all(b"HEAD /master-0.iso HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut received = vec![0; 12];
    stream.read_exact(&mut received).await.unwrap();
    drop(server);
    let rest = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut received)).await;
    assert!(rest.is_ok(), "the connection outlives its server");
}
