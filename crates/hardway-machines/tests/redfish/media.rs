//! The server of ISOs, with a client that sends exactly what it is told.

use std::collections::BTreeMap;

use hardway_machines::media_server::MediaServer;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

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
    let server = MediaServer::start("127.0.0.1:0".parse().unwrap(), BTreeMap::from(isos), Box::new(|_| ()))
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
