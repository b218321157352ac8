//! Servers that run beside a command which boots machines meanwhile.

use std::sync::Arc;
use std::thread::JoinHandle;

use hardway_journal::Journal;
use hardway_machines::ignition_server::faces::HostTable;
use hardway_machines::ignition_server::{ConfigEvent, Happened};
use tokio::sync::oneshot;

use super::folder::{ServedFolder, ServedHosts};
use super::options::ServeOptions;
use super::prepare::prepare;
use super::service::{Listener, ServedJournal, Service, failed};
use crate::report::Report;
use crate::runtime;

/// What the server tells while it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ServerEvent {
    /// Machines are served from this address on.
    Serving(String),
    /// Machines that boot from the network find their scripts there.
    Booting(String),
    /// Somebody asked for a config; [`words`] says it.
    Happened(ConfigEvent),
    /// Something is wrong; what was good before stays in use.
    Trouble(String),
}

/// A server that runs beside the caller. When it is dropped it takes no more connections, lets the requests that are under
/// way end, and is gone.
#[derive(Debug)]
pub(crate) struct Background {
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    /// Begins to serve from a folder with everything made, as `hardway serve` with these arguments would. Returns once
    /// it listens: what can be wrong beforehand is an error here, and what goes wrong later is told. `tell` is called
    /// from the server's thread; while it takes its time, requests go on. Not to be called inside the runtime.
    pub(crate) fn start(
        folder: ServedFolder,
        journal: Arc<Journal>,
        options: &ServeOptions,
        tell: impl FnMut(ServerEvent) + Send + 'static,
    ) -> Result<Self, Report> {
        let mut listener = EventListener(tell);
        let mut early = Vec::new();
        let dir = folder.workdir.path("");
        let warnings = std::cell::RefCell::new(&mut early);
        let prepared =
            prepare(&dir, Some(folder), options, &|what| warnings.borrow_mut().push(what.to_owned()))?;
        early.iter().for_each(|what| listener.trouble(what));
        let log = ServedJournal::of(journal)?;
        let runtime = runtime::handle()?;
        let service = runtime.block_on(Service::start(prepared, options, Some(log), &mut listener))?;
        let (end, ended) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("serve".to_owned())
            .spawn(move || {
                // A word, or nobody left to say it: both mean the end.
                let ended = async { drop(ended.await) };
                if !runtime.block_on(service.run(ended, &mut listener)) {
                    listener.trouble("some requests did not finish in time and were aborted");
                }
            })
            .map_err(|error| failed(&error))?;
        Ok(Self { end: Some(end), thread: Some(thread) })
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // It has said what went wrong.
            let _ = thread.join();
        }
    }
}

/// Hands on what the service tells.
struct EventListener<F>(F);

impl<F: FnMut(ServerEvent)> Listener for EventListener<F> {
    fn serving(&mut self, url: &str) {
        (self.0)(ServerEvent::Serving(url.to_owned()));
    }

    fn booting(&mut self, url: &str) {
        (self.0)(ServerEvent::Booting(url.to_owned()));
    }

    fn happened(&mut self, event: &ConfigEvent) {
        (self.0)(ServerEvent::Happened(event.clone()));
    }

    /// Whoever wants to know reads the journal.
    fn hosts(&mut self, _: &ServedHosts, _: &HostTable, _: &hardway_journal::Hosts) {}

    fn trouble(&mut self, what: &str) {
        (self.0)(ServerEvent::Trouble(what.to_owned()));
    }
}

/// For a log or a view that says by itself when it was: who fetched its config, or was refused one.
pub(crate) fn words(event: &ConfigEvent) -> String {
    let ConfigEvent { who, source, .. } = event;
    match &event.what {
        Happened::Served { bytes, .. } => {
            format!("{who} fetched its config from {source} ({} kB)", bytes / 1000)
        }
        Happened::Refused { reason, .. } if who.is_empty() => format!("refused {source}: {reason}"),
        Happened::Refused { reason, .. } => format!("refused {source} the config of {who}: {reason}"),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;
    use std::path::Path;
    use std::sync::mpsc;
    use std::time::Duration;

    use hardway_journal::{FILE_NAME, IgnitionRedeemed, Record};

    use super::*;
    use crate::inputs::{InputFiles, Workdir};
    use crate::project::{Goal, MakeOptions, make};
    use crate::terminal::Output;

    /// A folder with everything made, for plain HTTP: the test brings no TLS client.
    fn made(dir: &Path) -> ServedFolder {
        let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hardway-assets/tests/scenarios/ha");
        fs_err::copy(scenario.join("install-config.yaml"), dir.join("install-config.yaml")).unwrap();
        let inventory = fs_err::read_to_string(scenario.join("inventory.yaml")).unwrap();
        let server = "ignitionServer: {url: \"http://127.0.0.1:22624\"}\n";
        fs_err::write(dir.join("inventory.yaml"), inventory + server).unwrap();
        let workdir = Workdir::open(dir).unwrap();
        let files = InputFiles::open(&workdir).unwrap();
        let out = Output::silent();
        make(&workdir, &files, &MakeOptions::default(), &out, Goal::IgnitionConfigs).unwrap();
        ServedFolder::open(dir, None, &Output::silent()).unwrap()
    }

    /// What a host's pointer makes Ignition send.
    fn request(dir: &Path, host: &str) -> String {
        let pointer = fs_err::read(dir.join(format!("ignition/pointers/{host}.ign"))).unwrap();
        let pointer: serde_json::Value = serde_json::from_slice(&pointer).unwrap();
        let headers = pointer["ignition"]["config"]["merge"][0]["httpHeaders"].as_array().unwrap();
        let mut text = format!("GET /ignition/{host} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n");
        for header in headers {
            let part = |name: &str| header[name].as_str().unwrap().to_owned();
            text += &format!("{}: {}\r\n", part("name"), part("value"));
        }
        text + "\r\n"
    }

    #[test]
    fn it_serves_beside_its_caller_and_ends_when_told() {
        let dir = tempfile::tempdir().unwrap();
        let folder = made(dir.path());
        let path = dir.path().join(FILE_NAME);
        let journal = Arc::new(Journal::open(&path).unwrap());
        let (tell, events) = mpsc::channel();
        let options = ServeOptions {
            listen: vec!["127.0.0.1:0".parse().unwrap()],
            plain_http: true,
            only_from_own_address: false,
            ..ServeOptions::default()
        };
        let server = Background::start(folder, journal, &options, move |what| drop(tell.send(what))).unwrap();
        let wait = Duration::from_secs(60);
        let address = loop {
            if let ServerEvent::Serving(url) = events.recv_timeout(wait).expect("it serves") {
                break url.strip_prefix("http://").unwrap().to_owned();
            }
        };

        let mut stream = TcpStream::connect(&address).unwrap();
        stream.write_all(request(dir.path(), "worker-0").as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        assert!(answer.ends_with(&fs_err::read(dir.path().join("ignition/worker-0.ign")).unwrap()));
        let facts = hardway_journal::read(&path).unwrap();
        let facts: Vec<_> = facts.iter().filter_map(Record::fact::<IgnitionRedeemed>).collect();
        assert_eq!((facts.len(), facts[0].as_ref().unwrap().host.as_str()), (1, "worker-0"));

        drop(server);
        assert!(TcpStream::connect(&address).is_err(), "it still listens");
        let events: Vec<ServerEvent> = std::iter::from_fn(|| events.recv_timeout(wait).ok()).collect();
        let is_served = |what: &ServerEvent| match what {
            ServerEvent::Happened(event) => {
                event.who == "worker-0" && matches!(event.what, Happened::Served { .. })
            }
            _ => false,
        };
        assert!(events.iter().any(is_served), "{events:?}");
    }

    #[test]
    fn what_is_wrong_beforehand_is_an_error_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let folder = made(dir.path());
        let journal = Arc::new(Journal::open(&dir.path().join(FILE_NAME)).unwrap());
        // The pointers say http.
        let report = Background::start(folder, journal, &ServeOptions::default(), |_| {}).unwrap_err();
        assert_eq!(report.code, crate::report::Code::Usage);
    }
}
