//! The servers and what they look at again and again, whoever waits for their end.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hardway_base::redaction::HIDDEN;
use hardway_journal::{Entry, Follower, Journal, JournalError, Now, Record};
use hardway_machines::boot_server::{Addresses, BootServer, Note, installed};
use hardway_machines::ignition_server::faces::{HostTable, HostedFace};
use hardway_machines::ignition_server::{
    CertificateFiles, Certificates, ConfigEvent, Faces, Listen, Recorder, Router, Server,
};
use hardway_machines::install_media::BOOT_INDEX;
use tokio::sync::mpsc;

use super::folder::ServedHosts;
use super::hosted::Hosted;
use super::options::ServeOptions;
use super::prepare::{NetworkBoot, Prepared};
use super::watch_list::{HostWatch, WatchList};
use crate::clock;
use crate::report::{Code, Report};

/// How soon a new config, certificate, host or joined node is noticed.
const LOOK: Duration = Duration::from_millis(500);
/// Events that wait to be told. More are counted and not shown.
const MOST_EVENTS: usize = 512;

/// Whoever is told what happens.
pub(crate) trait Listener {
    /// An address is served from now on.
    fn serving(&mut self, url: &str);
    /// Machines can boot from there. The path is left out: it is a secret.
    fn booting(&mut self, url: &str);
    /// Somebody asked.
    fn happened(&mut self, event: &ConfigEvent);
    /// The hosts, as they are now.
    fn hosts(&mut self, hosts: &ServedHosts, table: &HostTable, told: &hardway_journal::Hosts);
    /// Something is wrong, and stays so until it is told again or not.
    fn trouble(&mut self, what: &str);
    /// Everything of this turn is told.
    fn turn(&mut self) {}
    /// No new connections; requests under way go on.
    fn ending(&mut self) {}
}

/// The journal that is written, what was in it, and what comes.
pub(crate) struct ServedJournal {
    pub(crate) journal: Arc<Journal>,
    pub(crate) records: Vec<Record>,
    pub(crate) follower: Follower,
}

impl ServedJournal {
    /// Reads a journal that others have open.
    pub(crate) fn of(journal: Arc<Journal>) -> Result<Self, Report> {
        let mut follower = Follower::new(journal.path());
        let records = follower.news().map_err(|error| damaged(&error))?.records;
        Ok(Self { journal, records, follower })
    }

    /// Opens the journal of a folder.
    pub(crate) fn open(path: &Path) -> Result<Self, Report> {
        let (journal, records, follower) = Journal::open_following(path).map_err(|error| damaged(&error))?;
        Ok(Self { journal: Arc::new(journal), records, follower })
    }
}

/// Servers that run.
pub(crate) struct Service {
    server: Server,
    is_tls: bool,
    told: mpsc::Receiver<ConfigEvent>,
    /// Of the boot server.
    troubles: mpsc::Receiver<String>,
    watch_list: WatchList,
}

impl Service {
    /// Begins to serve. Without a log nothing is written down: a replica of face hosted has no disk.
    pub(crate) async fn start(
        prepared: Prepared,
        options: &ServeOptions,
        log: Option<ServedJournal>,
        listener: &mut dyn Listener,
    ) -> Result<Self, Report> {
        let clock: Now = Arc::new(clock::now);
        let (events, told) = mpsc::channel(MOST_EVENTS);
        let (trouble, troubles) = mpsc::channel(MOST_EVENTS);
        let journal = log.as_ref().map(|log| log.journal.clone());
        let mut done = BTreeSet::new();
        // Where a person says that addresses do not count, whoever knows where a config is gets it and is taken for its host's installer.
        let folder = prepared.folder.as_ref().filter(|_| options.only_from_own_address);
        let addresses = folder.map(|folder| folder.hosts().addresses());
        let mut watch_list = WatchList::new(clock.clone());
        let mut faces = Faces { pool: prepared.pool.map(Arc::new), ..Faces::default() };
        if let Some(log) = log {
            done = installed(&log.records);
            if !options.only_from_own_address && (prepared.token_key.is_some() || prepared.boot.is_some()) {
                watch_list.allows_any = Some(log.journal.clone());
                watch_list.say_what_is_allowed().map_err(|error| damaged(&error))?;
            }
            if let (Some(key), Some(folder)) = (prepared.token_key, &prepared.folder) {
                let watch = HostWatch::start(folder, &log, key, options, clock());
                let watch = watch.map_err(|error| damaged(&error))?;
                faces.host = Some(watch.face());
                watch_list.hosts = Some(watch);
            }
            watch_list.follower = Some(log.follower);
        }
        let hosted = if prepared.is_hosted { Some(Hosted::connect(options).await?) } else { None };
        faces.hosted = hosted.as_ref().map(|hosted| HostedFace::new(hosted.tokens.clone()));
        let recorder = match &journal {
            Some(journal) => Recorder::into_journal(journal.clone()).map_err(|error| failed(&error))?,
            None => Recorder::nowhere(),
        };
        watch_list.recorder = Some(recorder.clone());
        let mut router = Router::new(faces, recorder, events, clock.clone(), &prepared.limits)
            .knowing(prepared.workers.iter().copied());
        if let Some(hosted) = hosted {
            router = router.telling(hosted.spawn(trouble.clone()));
        }
        let listen = listen(prepared.certificates, listener)?;
        if let Listen::Tls(certificates) = &listen {
            watch_list.certificates = Some(certificates.clone());
        }
        let server = Server::start(&prepared.addresses, &listen, prepared.limits, Arc::new(router))
            .await
            .map_err(|error| {
                failed(&error).fix("choose another address with --listen, or stop the process that uses it")
            })?;
        if let Some(boot) = prepared.boot {
            done.retain(|host| !options.reinstall.contains(host));
            watch_list.boot = Some(serve_boot(boot, done, addresses, journal, clock, trouble).await?);
        }
        let service = Self { server, is_tls: matches!(listen, Listen::Tls(_)), told, troubles, watch_list };
        service.introduce(listener);
        Ok(service)
    }

    fn introduce(&self, listener: &mut dyn Listener) {
        self.urls().iter().for_each(|url| listener.serving(url));
        if let Some(boot) = &self.watch_list.boot {
            listener.booting(&format!("http://{}/{HIDDEN}/{BOOT_INDEX}", boot.address()));
        }
        if let Some(watch) = &self.watch_list.hosts {
            watch.tell(listener);
        }
    }

    /// Where it serves, with the ports that were given out.
    fn urls(&self) -> Vec<String> {
        let scheme = if self.is_tls { "https" } else { "http" };
        self.server.addresses().iter().map(|address| format!("{scheme}://{address}")).collect()
    }

    /// Serves and tells until `ended` is. False when some requests did not finish in time and were aborted.
    pub(crate) async fn run(mut self, ended: impl Future<Output = ()>, listener: &mut dyn Listener) -> bool {
        let mut looks = tokio::time::interval(LOOK);
        let mut last_wrong = Vec::new();
        tokio::pin!(ended);
        loop {
            tokio::select! {
                Some(event) = self.told.recv() => listener.happened(&event),
                Some(what) = self.troubles.recv() => listener.trouble(&what),
                _ = looks.tick() => {
                    let wrong = self.watch_list.look(listener);
                    if wrong != last_wrong {
                        wrong.iter().for_each(|what| listener.trouble(what));
                        last_wrong = wrong;
                    }
                }
                () = &mut ended => break,
            }
            listener.turn();
        }
        listener.ending();
        let boot = self.watch_list.boot.take();
        let boot = async { if let Some(boot) = boot { boot.end().await } else { true } };
        let (configs, downloads) = tokio::join!(self.server.end(), boot);
        // What happened while requests were ending is told as well.
        while let Ok(event) = self.told.try_recv() {
            listener.happened(&event);
        }
        while let Ok(what) = self.troubles.try_recv() {
            listener.trouble(&what);
        }
        configs && downloads
    }
}

/// With these certificates, or in the clear.
fn listen(certificates: Vec<CertificateFiles>, listener: &mut dyn Listener) -> Result<Listen, Report> {
    if certificates.is_empty() {
        listener.trouble("plain HTTP: anyone on the network between here and the hosts can read their keys");
        return Ok(Listen::PlainHttp);
    }
    Certificates::load(certificates).map(Listen::Tls).map_err(|error| failed(&error))
}

/// Machines that boot from the network; whose installer was here starts from its disk.
async fn serve_boot(
    boot: NetworkBoot,
    done: BTreeSet<String>,
    addresses: Option<Addresses>,
    journal: Option<Arc<Journal>>,
    clock: Now,
    trouble: mpsc::Sender<String>,
) -> Result<BootServer, Report> {
    let note: Note = match journal {
        Some(journal) => Box::new(move |begun| {
            let entry = Entry::of(clock(), begun);
            journal.append(&[entry]).map(drop)
        }),
        None => Box::new(|_| Ok(())),
    };
    // A full channel means that there is plenty to read already.
    let trouble = Box::new(move |what: &str| drop(trouble.try_send(what.to_owned())));
    BootServer::start(boot.address, boot.folder, boot.paths, done, addresses, note, trouble).await.map_err(
        |error| failed(&error).fix("choose another address with --boot, or stop the process that uses it"),
    )
}

/// A server that cannot begin, or go on.
pub(crate) fn failed(error: &dyn std::error::Error) -> Report {
    Report::from_error(Code::ServeFailed, error)
}

fn damaged(error: &JournalError) -> Report {
    failed(error).fix(error.fix())
}
