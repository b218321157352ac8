//! `hardway media serve`

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

use hardway_journal::{Entry, FILE_NAME, Journal, MediumRead};
use hardway_machines::ignition_server::ServerError;
use hardway_machines::media_server::MediaServer;

use crate::cli::Global;
use crate::clock;
use crate::inputs::Workdir;
use crate::project::Checked;
use crate::release::Reach;
use crate::report::{Code, Exit, Report};
use crate::runtime::{self, Stop, Stops};
use crate::server::{iso, media_paths};
use crate::terminal::Output;

/// Serves the hosts' ISOs until told to end; ends with 0 then.
pub(super) fn run(
    global: &Global,
    listen: SocketAddr,
    release_dir: Option<&Path>,
    out: &Output,
) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let checked = Checked::load(&workdir, Reach::Here(release_dir), out)?;
    let hosts = checked.inventory.hosts.iter();
    let isos: BTreeMap<_, _> = hosts.map(|host| (host.name.clone(), iso(&workdir, &host.name))).collect();
    let paths = media_paths(&workdir)?;
    let journal = Journal::open(&workdir.path(FILE_NAME))
        .map_err(|error| Report::from_error(Code::WorkdirUnusable, &error).fix(error.fix()))?;
    let note = move |read: &MediumRead| journal.append(&[Entry::of(clock::now(), read)]).map(drop);
    let tell = out.teller();
    let trouble = move |what: &str| tell(what);
    out.warn("ISOs hold their hosts' configs, and whoever listens on the wire reads them: only on the controllers' network, and only while machines are installed");
    let server = MediaServer::start(listen, isos, paths, Box::new(note), Box::new(trouble));
    runtime::run_to_its_end(serve(server, out))
}

async fn serve(
    server: impl Future<Output = Result<MediaServer, ServerError>>,
    out: &Output,
) -> Result<Exit, Report> {
    let failed = |error: &dyn std::error::Error| Report::from_error(Code::ServeFailed, error);
    // Before anybody can be served: a signal that comes as early as that must still end the server cleanly.
    let mut stops = Stops::listen().map_err(|error| failed(&error))?;
    let server = server.await.map_err(|error| failed(&error))?;
    out.info(&format!(
        "serving http://{}, each medium under a path of its own: `hardway media urls` prints them",
        server.address()
    ));
    let ended_by = stops.next().await;
    if !server.end().await {
        out.warn("some requests did not end in time and were cut off");
    }
    match ended_by {
        Stop::Interrupted => Err(runtime::interrupted("serving")),
        Stop::Terminated => Ok(Exit::Done),
    }
}
