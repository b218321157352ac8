//! A web server with boot images that knows ranges, and cuts answers short when told to.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use crate::fixture::front::head;

/// Runs until the test ends.
#[derive(Clone, Default)]
pub(crate) struct MediaServer {
    port: u16,
    files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    /// Bytes of body after which each of the next answers ends, whatever its head says.
    cuts: Arc<Mutex<Vec<usize>>>,
    /// Path and range of each request.
    pub(crate) seen: Arc<Mutex<Vec<String>>>,
}

impl MediaServer {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self { port: listener.local_addr().unwrap().port(), ..Self::default() };
        let shared = server.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let _ = shared.serve(client);
            }
        });
        server
    }

    pub(crate) fn url(&self, name: &str) -> String {
        format!("http://127.0.0.1:{}/{name}", self.port)
    }

    pub(crate) fn put(&self, name: &str, bytes: &[u8]) {
        self.files.lock().unwrap().insert(format!("/{name}"), bytes.to_vec());
    }

    pub(crate) fn cut(&self, after: &[usize]) {
        *self.cuts.lock().unwrap() = after.to_vec();
    }

    pub(crate) fn take_seen(&self) -> Vec<String> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }

    fn serve(&self, mut client: TcpStream) -> std::io::Result<()> {
        let head = head(&mut client)?;
        let path = head.split(' ').nth(1).unwrap_or_default();
        let range = head.lines().find_map(|line| line.strip_prefix("range: bytes="));
        self.seen.lock().unwrap().push(format!("{path} {}", range.unwrap_or("all")));
        let Some(bytes) = self.files.lock().unwrap().get(path).cloned() else {
            client.write_all(b"HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")?;
            return client.shutdown(Shutdown::Both);
        };
        let from: usize =
            range.and_then(|range| range.trim_end_matches('-').parse().ok()).unwrap_or_default();
        let (status, body) = match bytes.get(from..).filter(|rest| !rest.is_empty() || from == 0) {
            Some(rest) if from == 0 => ("200 OK", rest),
            Some(rest) => ("206 Partial Content", rest),
            None => ("416 Range Not Satisfiable", &[][..]),
        };
        let ranges = format!("Content-Range: bytes {from}-{}/{}\r\n", bytes.len().max(1) - 1, bytes.len());
        let ranges = if from > 0 { ranges } else { String::new() };
        let length = body.len();
        write!(client, "HTTP/1.1 {status}\r\nConnection: close\r\n{ranges}Content-Length: {length}\r\n\r\n")?;
        let mut cuts = self.cuts.lock().unwrap();
        let end = if cuts.is_empty() { length } else { cuts.remove(0).min(length) };
        drop(cuts);
        client.write_all(&body[..end])?;
        client.shutdown(Shutdown::Both)
    }
}
