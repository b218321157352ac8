//! Many clients of the worst kind at once: the server stays up, its memory bounded, and good clients are served.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use hardway_testing::{Ran, eventually};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use super::site::{Folder, Serving};
use crate::client::{Client, PATIENCE, Reply};

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

/// Whoever is refused is let go: each of these is a connection of its own, from eight addresses.
#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_thousand_bad_tokens() {
    const ADDRESSES: u8 = 8;
    const REQUESTS: usize = 12_500;
    raise_file_limit();
    let folder = Folder::made();
    // A handshake each would be most of the work, and is not what this is about.
    folder.edit("inventory.yaml", "https://127.0.0.1:22624", "http://127.0.0.1:22624");
    folder.create();
    let serving = folder.serve(&["--plain-http"]);
    let bad = format!(
        "GET /ignition/worker-0 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\nHardway-Generation: 0123456789ab\r\n\r\n",
        "0".repeat(64)
    );
    let attackers = (1..=ADDRESSES).map(|number| {
        let (address, bad) = (serving.address, bad.clone());
        tokio::spawn(async move {
            let (mut told, mut limited) = (0, 0);
            for _ in 0..REQUESTS {
                let mut stream = connect_from([127, 0, 7, number].into(), address).await;
                stream.write_all(bad.as_bytes()).await.unwrap();
                let mut reply = Vec::new();
                stream.read_to_end(&mut reply).await.unwrap();
                let reply = Reply::read(&reply);
                assert_eq!(reply.header("connection"), Some("close"), "{}", reply.head);
                match reply.status {
                    401 => told += 1,
                    503 => limited += 1,
                    other => panic!("{other}"),
                }
            }
            (told, limited)
        })
    });
    let mut sums = (0, 0);
    for attacker in attackers.collect::<Vec<_>>() {
        let (told, limited) = tokio::time::timeout(PATIENCE * 5, attacker).await.unwrap().unwrap();
        sums = (sums.0 + told, sums.1 + limited);
    }
    assert_eq!(sums.0 + sums.1, usize::from(ADDRESSES) * REQUESTS);
    assert!(sums.0 >= 100 && sums.1 > sums.0, "{sums:?}: most are not even told");
    // A good token passes even from the same address.
    let mut stream = connect_from([127, 0, 7, 1].into(), serving.address).await;
    stream.write_all(folder.request("worker-0").text().as_bytes()).await.unwrap();
    let mut head = [0; 12];
    stream.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
    let held = serving.kilobytes("VmHWM");
    assert!(held < MOST_KILOBYTES, "{held} kB");
    tokio::time::sleep(Duration::from_millis(10)).await;
    let Ran { code, stdout: lines, .. } = serving.end();
    assert_eq!(code, Some(0));
    assert!(!lines.contains(&"0".repeat(64)), "a token, even a wrong one, is never shown");
}

/// Eight addresses take every place there is, in every way there is to hold one, and again whenever one is lost. A good host is served
/// all the same, each time it asks.
#[tokio::test(flavor = "multi_thread")]
async fn eight_addresses_that_hold_all_they_can_keep_nobody_out() {
    raise_file_limit();
    let folder = Folder::made();
    let serving = folder.serve(&["--max-connections", "64"]);
    let address = serving.address;
    let text = folder.request("worker-0").text();
    let is_over = Arc::new(AtomicBool::new(false));
    let opened = Arc::new(AtomicUsize::new(0));
    let attackers: Vec<_> = (0..128_u8)
        .map(|number| {
            let source = IpAddr::from([127, 0, 8, number % 8 + 1]);
            let (client, text) = (serving.client().from(source), text.clone());
            let (is_over, opened) = (Arc::clone(&is_over), Arc::clone(&opened));
            tokio::spawn(async move {
                while !is_over.load(Ordering::Relaxed) {
                    match number / 8 {
                        0 => hold_silently(source, address, &opened).await,
                        1 => hold(&client, &text[..text.len() / 2], &opened).await,
                        _ => hold(&client, &text, &opened).await,
                    }
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
            })
        })
        .collect();
    eventually("every place is taken", async || opened.load(Ordering::Relaxed) >= 128).await;
    for _ in 0..20 {
        good_client_is_served(&folder, &serving).await;
    }
    // Who lost a place needs a moment to notice: the good host asks on until it was taken again.
    eventually("places were given back, and taken again", async || {
        good_client_is_served(&folder, &serving).await;
        opened.load(Ordering::Relaxed) > 128
    })
    .await;
    is_over.store(true, Ordering::Relaxed);
    attackers.iter().for_each(tokio::task::JoinHandle::abort);
}

/// Holds a connection until it is closed, without a word.
async fn hold_silently(source: IpAddr, address: SocketAddr, opened: &AtomicUsize) {
    let mut stream = connect_from(source, address).await;
    opened.fetch_add(1, Ordering::Relaxed);
    let _ = stream.read(&mut [0]).await;
}

/// The same with a request, or half of one. What comes is read so slowly that it lasts for minutes, and so fast that it is not silence.
async fn hold(client: &Client, text: &str, opened: &AtomicUsize) {
    let Ok(mut stream) = client.connect_slowly().await else { return };
    opened.fetch_add(1, Ordering::Relaxed);
    if stream.write_all(text.as_bytes()).await.is_err() || stream.flush().await.is_err() {
        return;
    }
    let mut piece = [0; 2048];
    while stream.read(&mut piece).await.is_ok_and(|count| count > 0) {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

async fn connect_from(source: IpAddr, address: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::new(source, 0)).unwrap();
    socket.connect(address).await.unwrap()
}
