//! `hardway media serve`

use std::collections::BTreeMap;
use std::net::SocketAddr;

use hardway_journal::{Entry, FILE_NAME, Journal, MediumRead};
use hardway_machines::Trouble;
use hardway_machines::media_server::{MediaServer, Noted};
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::Global;
use crate::clock;
use crate::inputs::Workdir;
use crate::machines::media::FOLDER;
use crate::project::Checked;
use crate::release::Reach;
use crate::report::{Code, Exit, Report};
use crate::runtime::{self, Listener, Stop};
use crate::terminal::Output;

/// Serves the hosts' ISOs until told to end; ends with 0 then.
pub(super) fn run(global: &Global, listen: SocketAddr, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let checked = Checked::load(&workdir, Reach::Here(None), out)?;
    let folder = workdir.path(FOLDER);
    let isos: BTreeMap<_, _> = checked
        .inventory
        .hosts
        .iter()
        .map(|host| (host.name.clone(), folder.join(format!("{}.iso", host.name))))
        .collect();
    let journal = Journal::open(&workdir.path(FILE_NAME))
        .map_err(|error| Report::from_error(Code::WorkdirUnusable, &error).fix(error.fix()))?;
    let note = move |read: &MediumRead| journal.append(&[Entry::of(clock::now(), read)]).map(drop);
    let tell = out.teller();
    let trouble = move |what: &str| tell(what);
    out.warn("ISOs hold their hosts' configs and are served to whoever asks: only on the controllers' network, and only while machines are installed");
    runtime::run_to_its_end(serve(listen, isos, Box::new(note), Box::new(trouble), out))
}

async fn serve(
    listen: SocketAddr,
    isos: BTreeMap<String, std::path::PathBuf>,
    note: Noted,
    trouble: Trouble,
    out: &Output,
) -> Result<Exit, Report> {
    let failed = |error: &dyn std::error::Error| Report::from_error(Code::ServeFailed, error);
    // Before anybody can be served: a signal that comes as early as that must still end the server cleanly.
    let mut terminate = signal(SignalKind::terminate()).map_err(|error| failed(&error))?;
    let mut presses = Listener::new();
    let server = MediaServer::start(listen, isos, note, trouble).await.map_err(|error| failed(&error))?;
    out.info(&format!("serving http://{}/HOST.iso", server.address()));
    let ended_by = tokio::select! {
        _ = terminate.recv() => Stop::Terminated,
        () = presses.pressed() => Stop::Interrupted,
    };
    if !server.end().await {
        out.warn("some requests did not end in time and were cut off");
    }
    match ended_by {
        Stop::Interrupted => Err(runtime::interrupted("serving")),
        Stop::Terminated => Ok(Exit::Done),
    }
}
