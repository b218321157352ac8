//! Serves a [`BootFolder`] over HTTP, and sends machines that are installed to their disks.
//!
//! Anybody can fetch a config here, and a machine whose disk is empty must not be sent to it because somebody did. So only a
//! request from an address of the host's own counts as its installer; else that it redeemed its token or joined shows it.
//!
//! Without encryption: iPXE knows no authorities but the public ones. A host's config goes over the same wire: a pointer,
//! whose token opens the whole config at the ignition server until the node has joined, or the whole config itself. So
//! this belongs on the network of the machines and nowhere else.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hardway_journal::{Hosts, InstallBegun, JournalError, Record};
use http::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::file_body::FileBody;
use crate::ignition_server::listener::{Ending, Listeners, Serve};
use crate::ignition_server::{Limits, ServerError, TimedIo, http1};
use crate::install_media::{BootAnswer, BootFolder};
use crate::note_error::NoteError;
use crate::tally::Tally;
use crate::trouble::{Trouble, Troubles};

/// The addresses of hosts, by name.
pub type Addresses = BTreeMap<String, Vec<IpAddr>>;

/// Told of every installation before its config is sent. An error keeps the config back, and is told as trouble.
/// It may block.
pub type Note = Box<dyn Fn(&InstallBegun) -> Result<(), JournalError> + Send + Sync>;

/// A server that takes connections until it ends or is dropped.
pub struct BootServer {
    listeners: Listeners,
    desk: Arc<Desk>,
}

/// A whole machine room at once; each machine has one connection or two. A root file system is a gigabyte, and somebody
/// may have a slow line; but something must move.
fn limits() -> Limits {
    Limits {
        connections: 1024,
        connections_per_source: 768,
        header: Duration::from_secs(60),
        lifetime: Duration::from_secs(6 * 3600),
        ..Limits::default()
    }
}

impl BootServer {
    /// Serves the folder. Hosts in `installed` start from their disks. Where hosts' own addresses are given, an installer counts
    /// as one only there.
    ///
    /// # Errors
    /// When the address is taken, or not one of this host.
    pub async fn start(
        address: SocketAddr,
        folder: BootFolder,
        installed: BTreeSet<String>,
        addresses: Option<Addresses>,
        note: Note,
        trouble: Trouble,
    ) -> Result<Self, ServerError> {
        let desk = Arc::new(Desk {
            folder,
            installed: Mutex::new(installed),
            addresses,
            strangers: Tally::new(STRANGERS),
            beginning: Arc::default(),
            note,
            troubles: Troubles::new(trouble),
        });
        Ok(Self { listeners: Listeners::open(&[address], &limits(), &desk)?, desk })
    }

    /// Where it listens, with the port that was given out.
    pub fn address(&self) -> SocketAddr {
        self.listeners.addresses()[0]
    }

    /// Takes no more connections, lets downloads that are under way end, and returns. False when some did not end in time
    /// and were cut off.
    pub async fn end(self) -> bool {
        self.listeners.end().await
    }

    /// From now on these start from their disks.
    pub fn mark_installed(&self, hosts: BTreeSet<String>) {
        self.desk.installed().extend(hosts);
    }
}

/// The hosts that start from their disks: their installers came for their configs, their disks' systems for theirs, or their
/// nodes have joined.
pub fn installed<'r>(records: impl IntoIterator<Item = &'r Record>) -> BTreeSet<String> {
    let mut hosts = Hosts::default();
    records.into_iter().for_each(|record| hosts.note(record));
    hosts.installed().clone()
}

struct Desk {
    folder: BootFolder,
    /// Held for a moment only: every request looks into it.
    installed: Mutex<BTreeSet<String>>,
    addresses: Option<Addresses>,
    strangers: Tally<String>,
    /// Held while an installation is written down, which takes as long as the disk does.
    beginning: Arc<tokio::sync::Mutex<()>>,
    note: Note,
    troubles: Troubles,
}

/// Strangers who fetched the config of one host that are all told.
const STRANGERS: u64 = 8;
/// All that a machine is told when something is wrong here.
const LATER: &str = "not now; the operator of this server is told why\n";

impl Serve for Desk {
    async fn serve(self: Arc<Self>, stream: TcpStream, source: IpAddr, ending: Ending) {
        let service = service_fn(move |request: Request<Incoming>| {
            let desk = self.clone();
            async move { Ok::<_, Infallible>(desk.answer(&request, source).await) }
        });
        let limits = limits();
        let stream = TokioIo::new(TimedIo::new(stream, limits.idle, limits.lifetime));
        http1::serve(stream, service, &limits, ending).await;
    }
}

impl Desk {
    async fn answer<B>(self: &Arc<Self>, request: &Request<B>, source: IpAddr) -> Response<FileBody> {
        if ![Method::GET, Method::HEAD].contains(request.method()) {
            let mut refused = empty(StatusCode::METHOD_NOT_ALLOWED);
            refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return refused;
        }
        let is_head = request.method() == Method::HEAD;
        let answer = {
            let installed = self.installed();
            self.folder.answer(request.uri().path(), |host| installed.contains(host))
        };
        match answer {
            BootAnswer::Script(text) => whole("text/plain; charset=utf-8", text, is_head),
            BootAnswer::File(path) => self.file(&path, is_head).await,
            BootAnswer::Config { host, path } => {
                let answer = self.file(&path, is_head).await;
                if is_head || answer.status() != StatusCode::OK {
                    return answer;
                }
                if !self.is_own(&host, source) {
                    self.tell_of_stranger(&host, source);
                    return answer;
                }
                match self.begin(InstallBegun { host: host.clone(), source }).await {
                    Ok(()) => {
                        self.troubles.is_well(&host);
                        answer
                    }
                    Err(reason) => {
                        let what = format!(
                            "{host} is not given its config, because that cannot be written down: {reason}"
                        );
                        self.troubles.tell(&host, what);
                        later()
                    }
                }
            }
            BootAnswer::NotFound => empty(StatusCode::NOT_FOUND),
        }
    }

    fn is_own(&self, host: &str, source: IpAddr) -> bool {
        let Some(addresses) = &self.addresses else { return true };
        addresses.get(host).is_some_and(|own| own.contains(&source.to_canonical()))
    }

    fn tell_of_stranger(&self, host: &str, source: IpAddr) {
        let Some(more) = self.strangers.count(host.to_owned()) else { return };
        let others = if more == 0 { String::new() } else { format!(", as {more} others did before") };
        self.troubles.say(&format!(
            "{source} fetched the config of {host}{others}; it is no address of {host} in the inventory, so {host} does not \
             count as installed"
        ));
    }

    /// Written down once: the installer may come again, and so may anybody else. Also when the client goes away meanwhile.
    async fn begin(self: &Arc<Self>, begun: InstallBegun) -> Result<(), NoteError> {
        let (desk, turn) = (self.clone(), self.beginning.clone().lock_owned().await);
        let noting = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            if !desk.installed().contains(&begun.host) {
                (desk.note)(&begun)?;
                desk.installed().insert(begun.host);
            }
            Ok(())
        });
        noting.await?
    }

    fn installed(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.installed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn file(&self, path: &Path, is_head: bool) -> Response<FileBody> {
        let thing = path.display().to_string();
        let (body, bytes) = match FileBody::open(path).await {
            Ok(opened) => opened,
            Err(error) if error.kind() == ErrorKind::NotFound => return empty(StatusCode::NOT_FOUND),
            Err(error) => {
                self.troubles.tell(&thing, format!("{thing} cannot be read: {error}"));
                return later();
            }
        };
        self.troubles.is_well(&thing);
        let mut response = Response::new(if is_head { FileBody::empty() } else { body });
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
        headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes));
        response
    }
}

fn later() -> Response<FileBody> {
    whole_with(StatusCode::SERVICE_UNAVAILABLE, "text/plain", LATER.to_owned(), false)
}

fn whole(kind: &'static str, text: String, is_head: bool) -> Response<FileBody> {
    whole_with(StatusCode::OK, kind, text, is_head)
}

fn whole_with(status: StatusCode, kind: &'static str, text: String, is_head: bool) -> Response<FileBody> {
    let bytes = text.len();
    let mut response = Response::new(if is_head { FileBody::empty() } else { FileBody::whole(text) });
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes));
    response
}

fn empty(status: StatusCode) -> Response<FileBody> {
    whole_with(status, "text/plain", String::new(), false)
}
