//! Serves the ISO of each host over plain HTTP to management controllers, in pieces, as they ask for it.
//!
//! Without encryption: most controllers know no authorities but the public ones, and many speak nothing else. An ISO holds
//! the host's pointer, whose token opens the whole config until the node has joined, or the whole config itself. So each is
//! served under a path that nobody guesses, and only while its host needs it ([`MediaPaths`]). Whoever listens on the wire
//! reads it all the same: this belongs on the network of the controllers, and only while machines are installed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hardway_base::byte_range::{Piece, Unsatisfiable, piece};
use hardway_base::{Tally, error_sentence};
use hardway_journal::{JournalError, MediumRead};
use http::header::{ACCEPT_RANGES, ALLOW, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, RANGE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use tokio::net::TcpStream;

use crate::file_body::FileBody;
use crate::ignition_server::listener::{Ending, Listeners, Serve};
use crate::ignition_server::{Activity, Limits, ServerError, http1};
use crate::media_paths::{MediaPathError, MediaPaths};
use crate::trouble::{NoteError, Trouble, Troubles};

/// Told of new readers. An error holds nobody up, and is told as trouble. It may block.
pub type Noted = Box<dyn Fn(&MediumRead) -> Result<(), JournalError> + Send + Sync>;

/// A server that takes connections until it ends or is dropped.
pub struct MediaServer(Listeners);

/// A whole machine room at once; a controller has a few connections. It reads as the machine boots: there may be long
/// pauses, within an image and between two pieces of it.
fn limits() -> Limits {
    const PAUSE: Duration = Duration::from_secs(15 * 60);
    Limits {
        connections: 1024,
        connections_per_source: 768,
        header: PAUSE,
        idle: PAUSE,
        lifetime: Duration::from_secs(24 * 3600),
        ..Limits::default()
    }
}

impl MediaServer {
    /// Serves these files by their paths and the names of their hosts: `/<path>/master-0.iso`. They need not be there yet.
    ///
    /// # Errors
    /// When the address is taken, or not one of this host.
    pub async fn start(
        address: SocketAddr,
        isos: BTreeMap<String, PathBuf>,
        paths: MediaPaths,
        note: Noted,
        trouble: Trouble,
    ) -> Result<Self, ServerError> {
        let shelf = Arc::new(Shelf::new(isos, paths, note, trouble));
        Ok(Self(Listeners::open(&[address], &limits(), &shelf)?))
    }

    /// Where it listens, with the port that was given out.
    pub fn address(&self) -> SocketAddr {
        self.0.addresses()[0]
    }

    /// Takes no more connections, lets requests that are under way end, and returns. False when some did not end in time
    /// and were cut off.
    pub async fn end(self) -> bool {
        self.0.end().await
    }
}

struct Shelf {
    isos: BTreeMap<String, PathBuf>,
    paths: MediaPaths,
    /// By host.
    readers: Mutex<BTreeMap<String, BTreeSet<IpAddr>>>,
    others: Tally<String>,
    note: Noted,
    troubles: Troubles,
}

/// Readers of one medium that are written down: a host has a controller or two. Others are counted.
const READERS: usize = 16;

impl Serve for Shelf {
    async fn serve(
        self: Arc<Self>,
        stream: TcpStream,
        source: IpAddr,
        activity: Arc<Activity>,
        ending: Ending,
    ) {
        let answer = move |request| {
            let shelf = self.clone();
            async move { shelf.answer(&request, source).await }
        };
        http1::serve_plain(stream, activity, &limits(), ending, answer, is_file).await;
    }
}

impl Shelf {
    fn new(isos: BTreeMap<String, PathBuf>, paths: MediaPaths, note: Noted, trouble: Trouble) -> Self {
        Self {
            isos,
            paths,
            readers: Mutex::default(),
            others: Tally::new(0),
            note,
            troubles: Troubles::new(trouble),
        }
    }

    async fn answer<B>(self: &Arc<Self>, request: &Request<B>, source: IpAddr) -> Response<FileBody> {
        if ![Method::GET, Method::HEAD].contains(request.method()) {
            let mut refused = empty(StatusCode::METHOD_NOT_ALLOWED);
            refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return refused;
        }
        let Some((host, path)) = self.asked_for(request.uri().path()) else {
            return empty(StatusCode::NOT_FOUND);
        };
        match self.leads(request.uri().path().to_owned(), host.to_owned(), path.to_owned()).await {
            Ok(true) => {}
            Ok(false) => return empty(StatusCode::NOT_FOUND),
            Err(error) => {
                let reason = error_sentence(&error);
                self.troubles.tell(host, format!("not serving the medium of {host}: {reason}"));
                return empty(StatusCode::SERVICE_UNAVAILABLE);
            }
        }
        let length = match tokio::fs::metadata(path).await {
            Ok(metadata) => metadata.len(),
            Err(error) if error.kind() == ErrorKind::NotFound => return empty(StatusCode::NOT_FOUND),
            Err(error) => return self.unreadable(path, &error),
        };
        let range = request.headers().get(RANGE).and_then(|value| value.to_str().ok());
        let (status, piece) = match range.map(|text| piece(text, length)) {
            Some(Some(Ok(piece))) => (StatusCode::PARTIAL_CONTENT, piece),
            Some(Some(Err(Unsatisfiable))) => return unsatisfiable(length),
            // No range, or one that may be passed over: all of it.
            Some(None) | None => (StatusCode::OK, Piece { first: 0, length }),
        };
        let is_head = request.method() == Method::HEAD;
        let body = match FileBody::open_at(path, piece.first, piece.length).await {
            Ok(_) if is_head => FileBody::empty(),
            Ok(body) => body,
            Err(error) => return self.unreadable(path, &error),
        };
        self.troubles.is_well(&path.display().to_string());
        if !is_head {
            self.note(host, source).await;
        }
        let mut response = Response::new(body);
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
        headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        headers.insert(CONTENT_LENGTH, HeaderValue::from(piece.length));
        if status == StatusCode::PARTIAL_CONTENT {
            let last = piece.first + piece.length - 1;
            headers.insert(CONTENT_RANGE, text(&format!("bytes {}-{last}/{length}", piece.first)));
        }
        response
    }

    /// The host and its medium that a path names, whatever stands before the name.
    fn asked_for(&self, path: &str) -> Option<(&String, &PathBuf)> {
        let (_, name) = path.strip_prefix('/')?.split_once('/')?;
        self.isos.get_key_value(name.strip_suffix(".iso")?)
    }

    /// Whether it is the path of that medium. Asks the disk.
    async fn leads(
        self: &Arc<Self>,
        path: String,
        host: String,
        medium: PathBuf,
    ) -> Result<bool, MediaPathError> {
        let shelf = self.clone();
        let look = move || {
            let part = path.trim_start_matches('/').split('/').next().unwrap_or_default();
            shelf.paths.leads(part, &host, &medium)
        };
        tokio::task::spawn_blocking(look).await?
    }

    /// The controller is told nothing but that it does not go on.
    fn unreadable(&self, path: &Path, error: &io::Error) -> Response<FileBody> {
        let thing = path.display().to_string();
        self.troubles.tell(&thing, format!("{thing} cannot be read: {error}"));
        empty(StatusCode::SERVICE_UNAVAILABLE)
    }

    /// How many had no line since the last, where this reader is worth one: once for each, as long as they are few.
    fn worth_noting(&self, host: &str, source: IpAddr) -> Option<u64> {
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        let known = readers.entry(host.to_owned()).or_default();
        if known.contains(&source) {
            return None;
        }
        if known.len() < READERS {
            known.insert(source);
            return Some(0);
        }
        self.others.count(host.to_owned())
    }

    async fn note(self: &Arc<Self>, host: &str, source: IpAddr) {
        let Some(more) = self.worth_noting(host, source) else { return };
        let (shelf, read) = (self.clone(), MediumRead { host: host.to_owned(), source, more });
        let noting = tokio::task::spawn_blocking(move || (shelf.note)(&read));
        let noted = noting.await.map_err(NoteError::from).and_then(|noted| Ok(noted?));
        if let Err(reason) = noted {
            let what =
                format!("cannot record in the journal that {source} reads the medium of {host}: {reason}");
            self.troubles.tell(host, what);
        }
    }
}

/// All of a medium, or a piece of it.
fn is_file(response: &Response<FileBody>) -> bool {
    matches!(response.status(), StatusCode::OK | StatusCode::PARTIAL_CONTENT)
}

fn unsatisfiable(length: u64) -> Response<FileBody> {
    let mut response = empty(StatusCode::RANGE_NOT_SATISFIABLE);
    response.headers_mut().insert(CONTENT_RANGE, text(&format!("bytes */{length}")));
    response
}

fn empty(status: StatusCode) -> Response<FileBody> {
    let mut response = Response::new(FileBody::empty());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(0));
    response
}

fn text(value: &str) -> HeaderValue {
    HeaderValue::from_str(value).expect("digits are taken by a header")
}

#[cfg(test)]
mod tests {
    use hardway_assets::ignition::TokenKey;
    use hardway_base::Secret;

    use super::*;

    /// 16 of each host, and the logarithm of all others.
    #[tokio::test]
    async fn ten_thousand_strangers_leave_few_lines() {
        let dir = tempfile::tempdir().unwrap();
        let iso = dir.path().join("master-0.iso");
        fs_err::write(&iso, "medium").unwrap();
        let noted: Arc<Mutex<Vec<MediumRead>>> = Arc::default();
        let note = noted.clone();
        let note = Box::new(move |read: &MediumRead| {
            note.lock().unwrap().push(read.clone());
            Ok(())
        });
        let paths = MediaPaths::new(TokenKey::new(&Secret::new("key")), &dir.path().join("journal.jsonl"));
        let part = paths.of("master-0", &iso).unwrap().unwrap();
        let isos = BTreeMap::from([("master-0".to_owned(), iso)]);
        let shelf = Arc::new(Shelf::new(isos, paths, note, Box::new(|what| panic!("{what}"))));
        for number in 0..10_000_u16 {
            let source = IpAddr::from([10, 9, number.to_be_bytes()[0], number.to_be_bytes()[1]]);
            for path in [format!("/{}/master-0.iso", part.expose_text()), format!("/{number}/master-0.iso")] {
                let request = Request::get(path).body(()).unwrap();
                shelf.answer(&request, source).await;
            }
        }
        let noted = noted.lock().unwrap();
        assert_eq!(noted.len(), 16 + 14, "{noted:?}");
        let told: u64 = noted.iter().map(|read| 1 + read.more).sum();
        assert!(told > 5_000 && told <= 10_000, "{told}");
    }
}
