//! Serves a [`BootFolder`] over HTTP, and sends machines that are installed to their disks.
//!
//! A config goes to an address of its host's own, unless a person says that addresses do not count: whoever knows its path gets
//! nothing elsewhere. So it is the host's installer who comes for it, and from then on the host starts from its disk.
//!
//! Without encryption: iPXE knows no authorities but the public ones. A host's config goes over the same wire: a pointer,
//! whose token opens the whole config at the ignition server until the node has joined, or the whole config itself. So
//! everything is served under a path that nobody guesses, which DHCP names, and each config under one more, which only its
//! host's script names and which ends with what it is for ([`MediaPaths`]). Whoever listens on the wire, or asks DHCP and knows
//! the address of a host's card, reads it all the same: this belongs on the network of the machines and nowhere else.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hardway_base::{Secret, Tally, error_sentence};
use hardway_journal::{Hosts, InstallBegun, JournalError, Record};
use http::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use tokio::net::TcpStream;

use crate::file_body::FileBody;
use crate::ignition_server::listener::{Ending, Listeners, Serve};
use crate::ignition_server::{Activity, Limits, ServerError, http1};
use crate::install_media::{BootAnswer, BootFolder};
use crate::media_paths::{MediaPathError, MediaPaths};
use crate::trouble::{NoteError, Trouble, Troubles};

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
        lifetime: Duration::from_secs(6 * 3600),
        ..Limits::default()
    }
}

impl BootServer {
    /// Serves the folder. Hosts in `installed` start from their disks. Where hosts' own addresses are given, their configs are
    /// given only there.
    ///
    /// # Errors
    /// When the address is taken, or not one of this host.
    pub async fn start(
        address: SocketAddr,
        folder: BootFolder,
        paths: MediaPaths,
        installed: BTreeSet<String>,
        addresses: Option<Addresses>,
        note: Note,
        trouble: Trouble,
    ) -> Result<Self, ServerError> {
        let desk = Arc::new(Desk {
            folder,
            paths,
            installed: Mutex::new(installed),
            addresses: Mutex::new(addresses),
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

    /// From now on hosts have these addresses. Where addresses do not count, they go on not counting.
    pub fn set_addresses(&self, addresses: &Addresses) {
        if let Some(known) = self.desk.addresses().as_mut()
            && known != addresses
        {
            known.clone_from(addresses);
        }
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
    paths: MediaPaths,
    /// Held for a moment only: every request looks into it.
    installed: Mutex<BTreeSet<String>>,
    /// Held for a moment only, too.
    addresses: Mutex<Option<Addresses>>,
    strangers: Tally<String>,
    /// Held while an installation is written down, which takes as long as the disk does.
    beginning: Arc<tokio::sync::Mutex<()>>,
    note: Note,
    troubles: Troubles,
}

/// Strangers who asked for the config of one host that are all told.
const STRANGERS: u64 = 8;
/// What all files are.
const FILE: &str = "application/octet-stream";
/// All that a machine is told when something is wrong here.
const LATER: &str = "temporarily unavailable; see the log of this server\n";

impl Serve for Desk {
    async fn serve(
        self: Arc<Self>,
        stream: TcpStream,
        source: IpAddr,
        activity: Arc<Activity>,
        ending: Ending,
    ) {
        let answer = move |request| {
            let desk = self.clone();
            async move { desk.answer(&request, source).await }
        };
        http1::serve_plain(stream, activity, &limits(), ending, answer, is_file).await;
    }

    fn knows(&self, source: IpAddr) -> bool {
        self.addresses().as_ref().is_some_and(|hosts| hosts.values().flatten().any(|own| *own == source))
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
        let path = request.uri().path().trim_start_matches('/');
        let Some((_, path)) = path.split_once('/').filter(|(part, _)| self.paths.leads_to_boot(part)) else {
            return empty(StatusCode::NOT_FOUND);
        };
        if let Some((part, host)) = self.config_asked_for(path) {
            return self.config(part, host, is_head, source).await;
        }
        let answer = {
            let installed = self.installed();
            self.folder.answer(path, |host| installed.contains(host))
        };
        match answer {
            BootAnswer::Script(text) => {
                script(&self.folder.moved(&text, self.boot().expose_text(), None), is_head)
            }
            BootAnswer::Install { host, script: text } => self.install(&host, &text, is_head).await,
            BootAnswer::File(path) => self.file(&path, is_head).await,
            BootAnswer::NotFound => empty(StatusCode::NOT_FOUND),
        }
    }

    fn is_own(&self, host: &str, source: IpAddr) -> bool {
        let addresses = self.addresses();
        let Some(addresses) = addresses.as_ref() else { return true };
        addresses.get(host).is_some_and(|own| own.contains(&source.to_canonical()))
    }

    fn addresses(&self) -> MutexGuard<'_, Option<Addresses>> {
        self.addresses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell_of_stranger(&self, host: &str, source: IpAddr) {
        let Some(more) = self.strangers.count(host.to_owned()) else { return };
        let others = if more == 0 { String::new() } else { format!(" (and {more} more before)") };
        self.troubles.say(&format!(
            "refused {source} the config of {host}{others}: the inventory does not list this address for {host}; for hosts \
             behind NAT, use `serve --from-any-address`"
        ));
    }

    fn boot(&self) -> Secret {
        self.paths.boot()
    }

    /// What stands before the config of a host, if a path is of that form, and the host.
    fn config_asked_for<'p>(&self, path: &'p str) -> Option<(&'p str, &'p str)> {
        let (part, name) = path.split_once('/')?;
        let host = name.strip_suffix(".ign")?;
        self.folder.hosts().any(|(_, known)| known == host).then_some((part, host))
    }

    /// The script that installs a host, with the path that its config has now. A host that is not to be installed any more has
    /// none, and what the script names then is not there.
    async fn install(self: &Arc<Self>, host: &str, text: &str, is_head: bool) -> Response<FileBody> {
        let (desk, name) = (self.clone(), host.to_owned());
        let part = match self.look(host, move || desk.paths.of(&name, &desk.folder.config(&name))).await {
            Ok(part) => part,
            Err(answer) => return answer,
        };
        let config = part.as_ref().map(|part| (host, part.expose_text()));
        script(&self.folder.moved(text, self.boot().expose_text(), config), is_head)
    }

    /// The config of a host, for whoever has its path and its address. From then on the host is being installed.
    async fn config(
        self: &Arc<Self>,
        part: &str,
        host: &str,
        is_head: bool,
        source: IpAddr,
    ) -> Response<FileBody> {
        let (desk, asked, name) = (self.clone(), part.to_owned(), host.to_owned());
        let look = move || desk.paths.leads(&asked, &name, &desk.folder.config(&name));
        match self.look(host, look).await {
            Ok(true) => {}
            Ok(false) => return empty(StatusCode::NOT_FOUND),
            Err(answer) => return answer,
        }
        if !self.is_own(host, source) {
            self.tell_of_stranger(host, source);
            let why = format!("{source} is not an address of {host} in the inventory of this server\n");
            return whole_with(StatusCode::FORBIDDEN, "text/plain", why, is_head);
        }
        let answer = self.file(&self.folder.config(host), is_head).await;
        if is_head || answer.status() != StatusCode::OK {
            return answer;
        }
        match self.begin(InstallBegun { host: host.to_owned(), source }).await {
            Ok(()) => {
                self.troubles.is_well(host);
                answer
            }
            Err(reason) => {
                let what =
                    format!("not serving {host} its config, because the journal cannot be written: {reason}");
                self.troubles.tell(host, what);
                later()
            }
        }
    }

    /// Asks the disk whether a host's config is still needed. What cannot be told is told here as trouble.
    async fn look<T: Send + 'static>(
        &self,
        host: &str,
        look: impl FnOnce() -> Result<T, MediaPathError> + Send + 'static,
    ) -> Result<T, Response<FileBody>> {
        let looked = tokio::task::spawn_blocking(look).await.map_err(MediaPathError::from);
        looked.and_then(|looked| looked).map_err(|error| {
            let reason = error_sentence(&error);
            self.troubles.tell(host, format!("not serving {host} its config: {reason}"));
            later()
        })
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
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(FILE));
        headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes));
        response
    }
}

/// A config, or what a machine boots from.
fn is_file(response: &Response<FileBody>) -> bool {
    response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == FILE)
}

fn script(text: &str, is_head: bool) -> Response<FileBody> {
    whole("text/plain; charset=utf-8", text.to_owned(), is_head)
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
