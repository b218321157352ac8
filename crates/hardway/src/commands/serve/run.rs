//! The server, the looks at the folder, the signals.

use std::collections::BTreeSet;
use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hardway_journal::{Entry, Follower, Journal, JournalError};
use hardway_machines::boot_server::{BootServer, Note, installed};
use hardway_machines::ignition_server::faces::{HostFace, HostFolder, HostedFace};
use hardway_machines::ignition_server::hosted_tokens::HostedTokens;
use hardway_machines::ignition_server::{
    Certificates, Clock, Event, Faces, Listen, Recorder, Router, Server, token_watch,
};
use hardway_machines::install_media::BOOT_INDEX;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use super::line;
use super::prepare::{Boot, Hosts, Prepared};
use super::printer::Printer;
use super::view::View;
use crate::cli::{ServeArgs, ServeFormat};
use crate::clock;
use crate::output::Output;
use crate::report::{EXIT_INFRASTRUCTURE, Report};

/// How soon a new config, certificate or joined node is noticed.
const LOOK: Duration = Duration::from_millis(500);
/// Events that wait to be printed. More are counted and not shown.
const MOST_EVENTS: usize = 512;

/// Serves until SIGTERM or SIGINT.
pub(super) async fn run(prepared: Prepared, args: &ServeArgs, out: &Output) -> Result<u8, Report> {
    // Before anybody can be served: who is told to end then must end well.
    let signals = Signals::catch().map_err(|error| failed(&error))?;
    let clock = clock()?;
    let (events, told) = mpsc::channel(MOST_EVENTS);
    let mut watched =
        Watched { folder: None, face: None, certificates: None, boot: None, clock: clock.clone() };
    let mut faces = Faces { pool: prepared.pool.map(Arc::new), ..Faces::default() };
    let mut view = View::default();
    if let (Some(hosts), Some(journal)) = (prepared.hosts, &prepared.journal) {
        let mut folder = HostFolder::open(hosts.files.clone(), journal).map_err(|error| failed(&error))?;
        let table = folder.look(clock()).map_err(|error| failed(&error))?;
        view = View::new(&hosts.roles, &table, folder.history());
        faces.host = Some(host_face(hosts, args, table));
        (watched.face, watched.folder) = (faces.host.clone(), Some(folder));
    }
    let hosted = if prepared.is_hosted { Some(Hosted::connect(args).await?) } else { None };
    faces.hosted = hosted.as_ref().map(|hosted| HostedFace::new(hosted.tokens.clone()));
    let recorder = match &prepared.journal {
        Some(path) => {
            let journal = Journal::open(path).map_err(|error| failed(&error).fix(error.fix()))?;
            Recorder::into_journal(journal).map_err(|error| failed(&error))?
        }
        None => Recorder::nowhere(),
    };
    let mut router = Router::new(faces, recorder, events, clock, &prepared.limits);
    if let Some(hosted) = hosted {
        router = router.telling(hosted.spawn());
    }
    let listen = if prepared.certificates.is_empty() {
        out.warn("plain HTTP: whoever can listen between here and the hosts can read their keys");
        Listen::PlainHttp
    } else {
        let certificates = Certificates::load(prepared.certificates).map_err(|error| failed(&error))?;
        watched.certificates = Some(certificates.clone());
        Listen::Tls(certificates)
    };
    let server = Server::start(&prepared.addresses, &listen, prepared.limits, Arc::new(router))
        .await
        .map_err(|error| failed(&error).fix("choose another address with --listen, or end what has it"))?;
    let scheme = if matches!(listen, Listen::PlainHttp) { "http" } else { "https" };
    for address in server.addresses() {
        out.info(&format!("serving on {scheme}://{address}"));
    }
    if let Some(boot) = prepared.boot {
        watched.boot = Some(serve_boot(boot, args, prepared.journal.as_deref(), out).await?);
    }
    let printer = Printer::start().map_err(|error| failed(&error))?;
    let mut teller = Teller { told, view, watched, format: args.output, printer, drawn: 0 };
    teller.until_ended(signals, out).await;
    out.info("ending: no new connections, waiting for requests that are under way");
    if !server.end().await {
        out.warn("some requests did not end in time and were cut off");
    }
    teller.finish(out)?;
    Ok(0)
}

/// Machines that boot from the network; whose installer was here starts from its disk.
async fn serve_boot(
    boot: Boot,
    args: &ServeArgs,
    journal: Option<&Path>,
    out: &Output,
) -> Result<(BootServer, Option<Follower>), Report> {
    let mut done = BTreeSet::new();
    let mut note: Note = Box::new(|_| Ok(()));
    let mut follower = journal.map(Follower::new);
    if let (Some(path), Some(follower)) = (journal, &mut follower) {
        let damaged = |error: JournalError| failed(&error).fix(error.fix());
        done = installed(&follower.news().map_err(damaged)?);
        let (journal, clock) = (Journal::open(path).map_err(damaged)?, clock()?);
        note = Box::new(move |begun| {
            let entry = Entry::of(clock(), begun);
            journal.append(&[entry]).map(drop).map_err(|error| error.to_string())
        });
    }
    done.retain(|host| !args.reinstall.contains(host));
    let server = BootServer::start(boot.address, boot.folder, done, note)
        .await
        .map_err(|error| failed(&error).fix("choose another address with --boot, or end what has it"))?;
    out.info(&format!("machines boot from http://{}/{BOOT_INDEX}", server.address()));
    Ok((server, follower))
}

fn host_face(
    hosts: Hosts,
    args: &ServeArgs,
    table: hardway_machines::ignition_server::faces::HostTable,
) -> Arc<HostFace> {
    Arc::new(HostFace::new(hosts.key, args.window, args.only_from_own_address, table))
}

/// The program's clock. It was read once and worked; it will go on working.
fn clock() -> Result<Clock, Report> {
    let start = clock::now()?;
    Ok(Arc::new(move || clock::now().unwrap_or(start)))
}

fn failed(error: &dyn std::error::Error) -> Report {
    Report::from_error("serve-failed", error).exit(EXIT_INFRASTRUCTURE)
}

/// The management cluster of hosted workers.
struct Hosted {
    client: token_watch::Client,
    namespace: String,
    tokens: Arc<HostedTokens>,
}

impl Hosted {
    async fn connect(args: &ServeArgs) -> Result<Self, Report> {
        let (client, default) = token_watch::connect(args.kubeconfig.as_deref()).await.map_err(|error| {
            failed(&error).fix(
                "give --kubeconfig FILE of the management cluster, or run as a pod with a service account",
            )
        })?;
        let namespace = args.namespace.clone().unwrap_or(default);
        Ok(Self { client, namespace, tokens: Arc::default() })
    }

    /// Watches and marks as long as the program runs.
    fn spawn(self) -> mpsc::Sender<String> {
        let (sender, reached) = mpsc::channel(256);
        let Self { client, namespace, tokens } = self;
        let (watching, watched) = (client.clone(), namespace.clone());
        tokio::spawn(async move { token_watch::watch(watching, &watched, tokens, trouble).await });
        tokio::spawn(async move { token_watch::mark(client, &namespace, reached, trouble).await });
        sender
    }
}

/// From a task of its own, where there is no printer.
fn trouble(what: &str) {
    let _ = writeln!(anstream::stderr(), "warning: {what}");
}

/// What a server is told to end with.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn catch() -> std::io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn any(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// What is looked at again and again.
struct Watched {
    folder: Option<HostFolder>,
    face: Option<Arc<HostFace>>,
    certificates: Option<Arc<Certificates>>,
    /// With what the journal has not told yet.
    boot: Option<(BootServer, Option<Follower>)>,
    clock: Clock,
}

impl Watched {
    /// Takes note of what changed; says what went wrong. What was good stays in use.
    fn look(&mut self, view: &mut View) -> Vec<String> {
        let mut wrong = Vec::new();
        if let (Some(folder), Some(face)) = (&mut self.folder, &self.face) {
            match folder.look((self.clock)()) {
                Ok(table) => {
                    view.update(&table, folder.history());
                    face.replace(table);
                }
                Err(error) => wrong.push(Report::from_error("serve-failed", &error).what),
            }
        }
        if let Some((server, follower)) = &mut self.boot {
            match follower.as_mut().map(Follower::news).transpose() {
                Ok(records) => server.mark_installed(installed(records.iter().flatten())),
                Err(error) => wrong.push(Report::from_error("serve-failed", &error).what),
            }
        }
        if let Some(Err(error)) = self.certificates.as_ref().map(|certificates| certificates.refresh()) {
            wrong.push(Report::from_error("serve-failed", &error).what);
        }
        wrong
    }
}

/// Tells what happens: as a table that is drawn over itself, or line by line.
struct Teller {
    told: mpsc::Receiver<Event>,
    view: View,
    watched: Watched,
    format: ServeFormat,
    printer: Printer,
    /// Lines of the table on the screen.
    drawn: usize,
}

impl Teller {
    async fn until_ended(&mut self, mut signals: Signals, out: &Output) {
        let mut looks = tokio::time::interval(LOOK);
        let is_live =
            self.format == ServeFormat::Text && std::io::stdout().is_terminal() && self.view.has_hosts();
        let mut last_wrong = Vec::new();
        loop {
            tokio::select! {
                Some(event) = self.told.recv() => {
                    self.note(&event, is_live);
                }
                _ = looks.tick() => {
                    let wrong = self.watched.look(&mut self.view);
                    if wrong != last_wrong {
                        wrong.iter().for_each(|what| out.warn(what));
                        last_wrong = wrong;
                    }
                }
                () = signals.any() => return,
            }
            if is_live {
                self.draw();
            }
        }
    }

    fn note(&mut self, event: &Event, is_live: bool) {
        self.view.note(event);
        if !is_live {
            self.printer.print(line::event(event, self.format));
        }
    }

    /// What happened while requests were ending is told as well.
    fn finish(mut self, out: &Output) -> Result<(), Report> {
        while let Ok(event) = self.told.try_recv() {
            self.note(&event, self.drawn > 0);
        }
        match self.printer.end() {
            Ok(0) => {}
            Ok(lost) => out.warn(&format!("{lost} events were not printed: nobody read them")),
            Err(error) => return Err(failed(&error)),
        }
        Ok(())
    }

    fn draw(&mut self) {
        let lines = self.view.lines();
        let up = if self.drawn == 0 { String::new() } else { format!("\x1b[{}A", self.drawn) };
        self.printer.print(format!("{up}\x1b[J{}\n", lines.join("\n")));
        self.drawn = lines.len();
    }
}
