//! Many clients of the worst kind at once: the server stays up, its memory bounded, and good clients are served.

use std::time::Duration;

use hardway_testing::Ran;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::site::{Folder, Serving};
use crate::client::{PATIENCE, Reply};

/// Far above what it takes, far below what a leak would: 1,000 clients times 438 KB are 438 MB.
const MOST_KILOBYTES: u64 = 96 << 10;

async fn good_client_is_served(folder: &Folder, serving: &Serving) {
    let reply = folder.request("worker-0").ask(&serving.client()).await;
    assert_eq!(reply.status, 200, "{}", reply.head);
    assert!(reply.body == folder.read("ignition/worker-0.ign").as_bytes(), "{} bytes", reply.body.len());
}

/// A test may hold more files than a process usually does.
fn raise_file_limit() {
    let most = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let raised = rustix::process::Rlimit { current: most.maximum, maximum: most.maximum };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, raised).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_slow_readers_beside_good_ones() {
    raise_file_limit();
    let folder = Folder::made();
    let serving = folder.serve(&[]);
    let text = folder.request("worker-0").text();
    let mut readers = Vec::new();
    for _ in 0..20 {
        let starts = (0..50).map(|_| async {
            let mut stream = serving.client().connect_slowly().await.unwrap();
            stream.write_all(text.as_bytes()).await.unwrap();
            stream.flush().await.unwrap();
            let mut head = [0; 12];
            stream.read_exact(&mut head).await.unwrap();
            assert_eq!(&head, b"HTTP/1.1 200");
            stream
        });
        readers.extend(tokio::time::timeout(PATIENCE, futures_util::future::join_all(starts)).await.unwrap());
    }
    assert_eq!(readers.len(), 1000);
    good_client_is_served(&folder, &serving).await;
    let held = serving.kilobytes("VmHWM");
    assert!(held < MOST_KILOBYTES, "{held} kB with 1,000 slow readers");

    // They were held, not dropped: each can still read on.
    for stream in readers.iter_mut().step_by(50) {
        let mut more = vec![0; 200_000];
        tokio::time::timeout(PATIENCE, stream.read_exact(&mut more)).await.unwrap().unwrap();
    }
    drop(readers);
    good_client_is_served(&folder, &serving).await;
    assert_eq!(serving.end().code, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn half_requests_garbage_and_too_much() {
    raise_file_limit();
    let folder = Folder::made();
    let serving = folder.serve(&[]);
    let mut loris = Vec::new();
    for _ in 0..200 {
        let mut stream = serving.client().connect().await.unwrap();
        stream.write_all(b"GET /ignition/worker-0 HTTP/1.1\r\nX: ").await.unwrap();
        stream.flush().await.unwrap();
        loris.push(stream);
    }
    let mut silent = Vec::new();
    for i in 0..200_u8 {
        let mut stream = TcpStream::connect(serving.address).await.unwrap();
        if i % 2 == 0 {
            stream.write_all(&[i; 300]).await.unwrap();
        }
        silent.push(stream);
    }
    for _ in 0..20 {
        let big = format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "x".repeat(100_000));
        // Refused, or cut off while it is still being sent.
        if let Ok(reply) = serving.client().send(&big).await {
            assert!(matches!(reply.status, 0 | 431), "{}", reply.head);
        }
    }
    for text in [
        "\r\n\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "\u{0}\u{1}\u{2}\r\n\r\n",
        "GET /a b c HTTP/1.1\r\n\r\n",
    ] {
        if let Ok(reply) = serving.client().send(text).await {
            assert!(matches!(reply.status, 0 | 400..500), "{text:?}: {}", reply.head);
        }
    }
    good_client_is_served(&folder, &serving).await;
    let held = serving.kilobytes("VmHWM");
    assert!(held < MOST_KILOBYTES, "{held} kB");

    // A request that never ends is not waited for.
    for mut stream in loris {
        let mut rest = Vec::new();
        let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut rest)).await.expect("it is closed");
    }
    for mut stream in silent {
        let mut rest = Vec::new();
        let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut rest)).await.expect("it is closed");
    }
    good_client_is_served(&folder, &serving).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_thousand_bad_tokens() {
    const CONNECTIONS: usize = 10;
    const REQUESTS: usize = 10_000;
    let folder = Folder::made();
    let serving = folder.serve(&[]);
    let bad = format!(
        "GET /ignition/worker-0 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\nHardway-Generation: 0123456789ab\r\n\r\n",
        "0".repeat(64)
    );
    let attackers = (0..CONNECTIONS).map(|_| {
        let (client, bad) = (serving.client(), bad.clone());
        tokio::spawn(async move {
            let stream = client.connect().await.unwrap();
            let (mut reading, mut writing) = tokio::io::split(stream);
            let writer = tokio::spawn(async move {
                for _ in 0..REQUESTS / 50 {
                    writing.write_all(bad.repeat(50).as_bytes()).await.unwrap();
                    writing.flush().await.unwrap();
                }
                writing
            });
            let (mut bytes, mut told, mut limited) = (vec![0; 64 << 10], 0, 0);
            let mut rest = String::new();
            while told + limited < REQUESTS {
                let count = reading.read(&mut bytes).await.unwrap();
                assert!(count > 0, "closed after {told} + {limited}");
                rest += std::str::from_utf8(&bytes[..count]).unwrap();
                while let Some((head, tail)) = rest.split_once("\r\n\r\n") {
                    let reply = Reply::read(head.as_bytes());
                    let length: usize = reply.header("content-length").unwrap().parse().unwrap();
                    if tail.len() < length {
                        break;
                    }
                    match reply.status {
                        401 => told += 1,
                        503 => limited += 1,
                        other => panic!("{other}"),
                    }
                    rest = tail[length..].to_owned();
                }
            }
            drop(writer.await.unwrap());
            (told, limited)
        })
    });
    let mut sums = (0, 0);
    for attacker in attackers.collect::<Vec<_>>() {
        let (told, limited) = tokio::time::timeout(PATIENCE * 5, attacker).await.unwrap().unwrap();
        sums = (sums.0 + told, sums.1 + limited);
    }
    assert_eq!(sums.0 + sums.1, CONNECTIONS * REQUESTS);
    assert!(sums.0 >= 100 && sums.1 > sums.0, "{sums:?}: most are not even told");
    // A good token passes even from the same address.
    good_client_is_served(&folder, &serving).await;
    let held = serving.kilobytes("VmHWM");
    assert!(held < MOST_KILOBYTES, "{held} kB");
    tokio::time::sleep(Duration::from_millis(10)).await;
    let Ran { code, stdout: lines, .. } = serving.end();
    assert_eq!(code, Some(0));
    assert!(!lines.contains(&"0".repeat(64)), "a token, even a wrong one, is never shown");
}
