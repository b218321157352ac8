//! Asks for one thing over TLS, again and again, on many connections, and prints how many answers came each second.
//!
//!     tls_load ADDRESS CA-FILE CONNECTIONS keep|new SECONDS < REQUEST
//!
//! For `cargo xtask bench`: the same client for every server that is measured.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a tool for measuring only"
)]

use std::io::Read as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

struct Load {
    address: SocketAddr,
    connector: TlsConnector,
    request: Vec<u8>,
    is_kept: bool,
    answers: AtomicU64,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [address, ca, connections, mode, seconds] = &words[..] else { panic!("see the top of this file") };
    let mut request = Vec::new();
    std::io::stdin().read_to_end(&mut request).unwrap();
    let load = Arc::new(Load {
        address: address.parse().unwrap(),
        connector: connector(&std::fs::read(ca).unwrap()),
        request,
        is_kept: mode == "keep",
        answers: AtomicU64::new(0),
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let rate = runtime.block_on(measure(load, connections.parse().unwrap(), seconds.parse().unwrap()));
    println!("{rate:.1}");
}

/// Answers per second, counted after all connections had a moment to come up.
async fn measure(load: Arc<Load>, connections: usize, seconds: u64) -> f64 {
    for _ in 0..connections {
        tokio::spawn(ask_on(load.clone()));
    }
    tokio::time::sleep(Duration::from_secs(1 + connections as u64 / 500)).await;
    let (start, before) = (Instant::now(), load.answers.load(Ordering::Relaxed));
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    (load.answers.load(Ordering::Relaxed) - before) as f64 / start.elapsed().as_secs_f64()
}

async fn ask_on(load: Arc<Load>) {
    let mut buffer = vec![0; 64 << 10];
    let mut stream = None;
    loop {
        let open = match stream.take() {
            Some(open) => open,
            None => match connect(&load).await {
                Ok(open) => open,
                Err(_) => continue,
            },
        };
        if let Ok(open) = ask(open, &load, &mut buffer).await {
            load.answers.fetch_add(1, Ordering::Relaxed);
            stream = Some(open).filter(|_| load.is_kept);
        }
    }
}

async fn connect(load: &Load) -> std::io::Result<TlsStream<TcpStream>> {
    let stream = TcpStream::connect(load.address).await?;
    stream.set_nodelay(true)?;
    load.connector.connect(ServerName::from(load.address.ip()), stream).await
}

/// One answer, read to its end.
async fn ask(
    mut stream: TlsStream<TcpStream>,
    load: &Load,
    buffer: &mut [u8],
) -> std::io::Result<TlsStream<TcpStream>> {
    stream.write_all(&load.request).await?;
    stream.flush().await?;
    let (mut have, mut left) = (0, None);
    while left.is_none() {
        let count = stream.read(&mut buffer[have..]).await?;
        if count == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        have += count;
        left = body_left(&buffer[..have]);
    }
    let mut left = left.unwrap_or_default();
    while left > 0 {
        let most = left.min(buffer.len());
        let count = stream.read(&mut buffer[..most]).await?;
        if count == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        left -= count;
    }
    Ok(stream)
}

/// How much of the body is still to come, once the head is there. Anything but 200 is a mistake of the measurement.
fn body_left(bytes: &[u8]) -> Option<usize> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..end]).unwrap().to_ascii_lowercase();
    assert!(head.starts_with("http/1.1 200"), "{head}");
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    Some(length.parse::<usize>().unwrap() - (bytes.len() - end - 4))
}

fn connector(ca: &[u8]) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(ca).unwrap()).unwrap();
    let mut config =
        ClientConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
    // A machine that boots for the first time has no session to resume.
    config.resumption = Resumption::disabled();
    TlsConnector::from(Arc::new(config))
}
