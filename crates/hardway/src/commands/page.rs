//! `hardway page`

use std::io::{BufRead as _, BufReader, IsTerminal as _};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use hardway_assets::inventory::KeyAlgorithm;
use hardway_assets::pki::{San, Subject, Template, Usage, issue};
use hardway_assets::secrets::{KeyError, PrivateKey, Random};
use hardway_base::{Secret, files, hex};
use hardway_cluster::csr_policy::{RULES, ReasonCode};
use hardway_cluster::diagnosis::ROWS as FAILURES;
use hardway_page::{PageCertificate, PageOptions, PageServer, export};
use jiff::SignedDuration;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;

use super::explain::explained;
use crate::cli::{Global, PageArgs};
use crate::clock;
use crate::cluster::diagnosis;
use crate::inputs::{Workdir, at};
use crate::page::{Feed, Look, bundle, document, looks};
use crate::report::{Code, Exit, ROWS, Report};
use crate::runtime::{self, Stop, Stops};
use crate::terminal::Output;

/// Shows the folder until told to end, or writes it into one file.
pub(crate) fn run(global: &Global, args: &PageArgs, out: &Output) -> Result<Exit, Report> {
    if args.look {
        return runtime::run("looking at the cluster", looks::take(&global.dir, out)).map(|()| Exit::Done);
    }
    let feed = feed(&global.dir, args.bundle.as_deref(), out)?;
    if let Some(path) = &args.export {
        write(path, &export(&feed.content()))?;
        out.info(&format!(
            "wrote {}: open it in any browser; it loads nothing from the network",
            path.display()
        ));
        return Ok(Exit::Done);
    }
    runtime::run_to_its_end(serve(feed, &global.dir, args, out))
}

/// Whoever names a file answers for it.
fn write(path: &Path, text: &str) -> Result<(), Report> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let unusable = |what: String| {
        Report::new(Code::Usage, what).fix("name a file in a folder that exists, with --export")
    };
    if !folder.is_dir() {
        return Err(unusable(format!("{} is not a folder", folder.display())));
    }
    if path.is_dir() {
        return Err(unusable(format!("{} is a folder", path.display())));
    }
    files::replace(path, 0o600, text.as_bytes()).map_err(|error| at(path, &error))
}

/// What there is to show.
fn feed(dir: &Path, file: Option<&Path>, out: &Output) -> Result<Feed, Report> {
    let workdir = Workdir::open(dir)?;
    let evidence = file.map(|file| diagnosis::of_bundle(&workdir, file, None, out)).transpose()?;
    let gathered = evidence.as_ref().zip(file).map(|(evidence, file)| {
        let name = file.file_name().unwrap_or(file.as_os_str());
        bundle(&name.to_string_lossy(), evidence)
    });
    let (made_of, dir) = (workdir.clone(), dir.to_owned());
    let make = move || {
        let mut document = document(&made_of, &Output::silent());
        if let Some(gathered) = &gathered {
            if document.cluster.is_none() {
                document.value["title"] = gathered["name"].clone();
            }
            document.value["bundle"] = gathered.clone();
        }
        let rules = RULES.iter().flat_map(|group| group.iter()).map(|rule| rule.name.to_owned());
        let reasons = ReasonCode::ALL.iter().map(|reason| reason.word().to_owned());
        let codes = ROWS.iter().map(|(code, _)| (*code).to_owned());
        let failures = FAILURES.iter().map(|row| format!("E-{}", row.id));
        let names = document.names.iter().cloned().chain(rules).chain(reasons).chain(codes).chain(failures);
        let explanations = json!(explained(&dir, names));
        (document, explanations)
    };
    let feed = Feed::open(workdir, Box::new(make))?;
    if let Some(evidence) = &evidence {
        feed.set_seen(json!(Look::of(evidence)));
    }
    Ok(feed)
}

/// A page of its own process beside an install, which may go on in another network than that of the browser. It ends with the
/// process that has this number, whatever becomes of it.
pub(super) fn beside(dir: &Path, out: &Output) -> Result<(), Report> {
    let failed = |error: &dyn std::error::Error| Report::from_error(Code::ServeFailed, error);
    let program = std::env::current_exe().map_err(|error| failed(&error))?;
    let mut command = Command::new(program);
    command.arg("--dir").arg(dir).args(["page", "--beside", &std::process::id().to_string()]);
    let child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(|error| failed(&error))?;
    let mut url = String::new();
    let read = child.stdout.map(|stdout| BufReader::new(stdout).read_line(&mut url));
    match read.transpose().map_err(|error| failed(&error))? {
        None | Some(0) => out.warn("the page could not be started: `hardway page` says why"),
        Some(_) => out.info(&format!("the page is at {}", url.trim())),
    }
    Ok(())
}

/// Done when the process that this page is for has ended.
async fn ended(process: Option<u32>) {
    let Some(process) = process else { return std::future::pending().await };
    while Path::new("/proc").join(process.to_string()).exists() {
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

async fn serve(feed: Feed, dir: &Path, args: &PageArgs, out: &Output) -> Result<Exit, Report> {
    let failed = |error: &dyn std::error::Error| Report::from_error(Code::ServeFailed, error);
    // Before anybody can be served: a signal that comes as early as that must still end the server cleanly.
    let mut stops = Stops::listen().map_err(|error| failed(&error))?;
    let (server, url) = start(&feed, args.address(), out).await?;
    match args.beside {
        Some(_) => out.data(&format!("{url}\n")),
        None => out.info(&format!("the page is at {url}")),
    }
    // Everybody on this computer sees what programs are called with: an address with a token in it is for whoever it was printed to.
    if !args.no_browser && args.address().ip().is_loopback() {
        open_browser(&url);
    }
    let ending = CancellationToken::new();
    let content = feed.content();
    let asks = !args.offline && args.bundle.is_none();
    let mut looking = std::pin::pin!(looks::follow(dir, &content));
    let mut following = std::pin::pin!(feed.follow(ending.clone()));
    let ended_by = loop {
        tokio::select! {
            stop = stops.next() => break stop,
            () = &mut looking, if asks => {}
            () = ended(args.beside) => break Stop::Terminated,
            followed = &mut following, if !ending.is_cancelled() => {
                // What was read can still be looked at.
                ending.cancel();
                if let Err(report) = followed {
                    out.warn(&format!("the page is not updated: {}", report.what));
                }
            }
        }
    };
    server.end().await;
    match ended_by {
        Stop::Interrupted => Err(runtime::interrupted("serving the page")),
        Stop::Terminated => Ok(Exit::Done),
    }
}

/// On loopback as it is; elsewhere with TLS and a token.
async fn start(feed: &Feed, address: SocketAddr, out: &Output) -> Result<(PageServer, String), Report> {
    let failed = |error: &dyn std::error::Error| Report::from_error(Code::ServeFailed, error);
    let is_local = address.ip().is_loopback();
    let (certificate, token) = match is_local {
        true => (None, None),
        false => {
            let certificate = certificate(address).map_err(|error| failed(&error))?;
            let print = hex::encode(Sha256::digest(&certificate.certificate));
            out.info(&format!("the browser will warn about the certificate; its SHA-256 is {print}"));
            (Some(certificate), Some(Secret::new(hex::encode(Random::default().bytes::<16>()))))
        }
    };
    let fragment = token.as_ref().map(|token| format!("#token={}", token.expose_text())).unwrap_or_default();
    let options = PageOptions { address, token, certificate };
    let server = PageServer::start(options, feed.content()).await.map_err(|error| {
        failed(&error)
            .fix("name another address or port with --listen; without it, a free port of 127.0.0.1 is used")
    })?;
    let url = server.url() + &fragment;
    Ok((server, url))
}

/// Of this run alone: a key that is kept nowhere, for this address, for as long as anybody looks at an install.
fn certificate(address: SocketAddr) -> Result<PageCertificate, KeyError> {
    let key = PrivateKey::generate(KeyAlgorithm::EcdsaP256, &Random::default())?;
    let subject = Subject::user("hardway page", &[]).to_der();
    let now = clock::second();
    let template = Template {
        issuer: subject.clone(),
        subject,
        not_before: now,
        not_after: now + SignedDuration::from_hours(7 * 24),
        usage: Usage::Server,
        with_key_usage: true,
        sans: vec![San::Ip(address.ip())],
        authority_key_id: None,
    };
    let certificate = issue(&template, &key, &key)?;
    Ok(PageCertificate { certificate, key: key.to_pem() })
}

/// Where a person sits at a screen. That there is none holds nothing up.
fn open_browser(url: &str) {
    let has_screen = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    if has_screen && std::io::stderr().is_terminal() {
        let mut command = Command::new("xdg-open");
        let quiet = command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let _ = quiet.spawn();
    }
}
