//! `hardway release serve`: bundles as a registry.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use hardway_assets::install_config::ImageSource;
use hardway_release::PullSpec;
use hardway_release::bundle::{Asked, Bundles, RegistryServer, ServerError};
use serde_json::json;

use super::bundle::opened;
use super::registry_certificate::RegistryCertificate;
use crate::cli::{Format, Global, ReleaseServeArgs};
use crate::inputs::Workdir;
use crate::release::unusable;
use crate::report::{Code, Exit, Report};
use crate::runtime::{self, Stop, Stops};
use crate::terminal::{Output, TextCallback};

/// Standard output carries what belongs into install-config.yaml, and nothing else. Serves until told to end.
pub(super) fn run(global: &Global, args: &ReleaseServeArgs, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let names = names(args)?;
    let bundles = opened(&args.files, &(&args.signature).into(), out)?;
    let certificate = RegistryCertificate::find(&workdir, args, &names, out)?;
    runtime::run_to_its_end(serve(args.listen, &names[0], &certificate, Arc::new(bundles), out))
}

async fn serve(
    address: SocketAddr,
    name: &str,
    certificate: &RegistryCertificate,
    bundles: Arc<Bundles>,
    out: &Output,
) -> Result<Exit, Report> {
    // Before anybody can be served: a signal that comes as early as that must still end the server cleanly.
    let mut stops = Stops::listen().map_err(|error| Report::from_error(Code::ServeFailed, &error))?;
    let misses = Misses { told: Mutex::default(), warn: out.warn_callback() };
    let miss = Box::new(move |asked: &Asked| misses.tell(asked));
    let server = RegistryServer::start(address, &certificate.tls, bundles.clone(), miss)
        .await
        .map_err(|error| failed(&error))?;
    let port = server.address().port();
    let host = if name.contains(':') { format!("[{name}]:{port}") } else { format!("{name}:{port}") };
    out.info("for install-config.yaml:");
    let mut snippet = json!({"imageDigestSources": sources(&bundles, &host)?});
    if let Some(ca) = &certificate.ca {
        snippet["additionalTrustBundle"] = ca.clone().into();
    }
    out.value(&snippet, Format::Yaml);
    out.info(&format!("serving https://{host}/ on {}", server.address()));
    let ended_by = stops.next().await;
    server.end().await;
    match ended_by {
        Stop::Interrupted => Err(runtime::interrupted("serving the registry")),
        Stop::Terminated => Ok(Exit::Done),
    }
}

/// Each source once, in the same repository of this registry.
fn sources(bundles: &Bundles, host: &str) -> Result<Vec<ImageSource>, Report> {
    let names: BTreeSet<&str> = bundles.images().iter().map(|image| image.source.as_str()).collect();
    let source = |source: &str| {
        let place = PullSpec::repository(source).map_err(|error| unusable(&error))?;
        let mirrors = vec![format!("{host}/{}", place.repository)];
        Ok(ImageSource { source: source.to_owned(), mirrors, source_policy: String::new() })
    };
    names.into_iter().map(source).collect()
}

/// How this host is called by those who ask.
fn names(args: &ReleaseServeArgs) -> Result<Vec<String>, Report> {
    if !args.name.is_empty() {
        return Ok(args.name.clone());
    }
    if !args.listen.ip().is_unspecified() {
        return Ok(vec![args.listen.ip().to_string()]);
    }
    let host = fs_err::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match host.trim() {
        "" | "localhost" | "(none)" => {
            Err(Report::new(Code::Usage, "this host has no name by which nodes could reach it")
                .fix("pass the name or address that nodes will use: --name registry.example.com"))
        }
        name => Ok(vec![name.to_owned()]),
    }
}

/// What was asked for and is not there: each thing once, and not without end.
struct Misses {
    told: Mutex<BTreeSet<String>>,
    warn: TextCallback,
}

/// Whoever asks for more than this wants to fill a log.
const MOST: usize = 500;

impl Misses {
    fn tell(&self, asked: &Asked) {
        // Signatures beside images, and the other ways to ask for them, are looked for by everybody and are mostly nowhere.
        if asked.path.ends_with(".sig") || asked.path.contains("/referrers/") {
            return;
        }
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() < MOST && told.insert(asked.path.clone()) {
            (self.warn)(&format!("not in the bundles: {}, asked for by {}", asked.path, asked.source));
        }
    }
}

fn failed(error: &ServerError) -> Report {
    let report = Report::from_error(Code::ServeFailed, error);
    match error {
        ServerError::Listen { .. } => {
            report.fix("name an address of this host and a free port with --listen")
        }
        ServerError::Tls(_) | ServerError::Pem(_) => {
            report.fix("pass a PEM certificate and its key with --certificate and --key, or neither")
        }
    }
}
