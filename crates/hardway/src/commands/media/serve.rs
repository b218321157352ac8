//! `hardway media serve`

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

use hardway_journal::{Entry, FILE_NAME, Journal, MediumRead};
use hardway_machines::ignition_server::ServerError;
use hardway_machines::media_server::MediaServer;

use super::urls::ServedHosts;
use crate::cli::Global;
use crate::clock;
use crate::inputs::Workdir;
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
    let ServedHosts { hosts, media_url } = ServedHosts::of(&workdir, release_dir, out)?;
    let isos: BTreeMap<_, _> = hosts.into_iter().map(|host| (host.clone(), iso(&workdir, &host))).collect();
    let is_named = media_url?.is_some();
    let paths = media_paths(&workdir)?;
    let journal = Journal::open(&workdir.path(FILE_NAME))
        .map_err(|error| Report::from_error(Code::WorkdirUnusable, &error).fix(error.fix()))?;
    let note = move |read: &MediumRead| journal.append(&[Entry::of(clock::now(), read)]).map(drop);
    let tell = out.warn_callback();
    let trouble = move |what: &str| tell(what);
    out.warn("ISOs contain the hosts' configs and are served unencrypted: use the management controllers' network, and stop \
     serving after the install");
    let server = MediaServer::start(listen, isos, paths, Box::new(note), Box::new(trouble));
    runtime::run_to_its_end(serve(server, is_named, out))
}

async fn serve(
    server: impl Future<Output = Result<MediaServer, ServerError>>,
    is_named: bool,
    out: &Output,
) -> Result<Exit, Report> {
    let failed = |error: &dyn std::error::Error| Report::from_error(Code::ServeFailed, error);
    // Before anybody can be served: a signal that comes as early as that must still end the server cleanly.
    let mut stops = Stops::listen().map_err(|error| failed(&error))?;
    let server = server.await.map_err(|error| failed(&error))?;
    let address = server.address();
    // Where the inventory does not say how controllers come here, a person has to.
    let url = match (is_named, address.ip().is_unspecified()) {
        (true, _) => String::new(),
        (false, true) => format!(" --url http://ADDRESS:{}", address.port()),
        (false, false) => format!(" --url http://{address}"),
    };
    out.info(&format!(
        "serving http://{address}, each medium at its own path: `hardway media urls{url}` prints them"
    ));
    let ended_by = stops.next().await;
    if !server.end().await {
        out.warn("some requests did not finish in time and were aborted");
    }
    match ended_by {
        Stop::Interrupted => Err(runtime::interrupted("serving")),
        Stop::Terminated => Ok(Exit::Done),
    }
}
