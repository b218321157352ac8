//! Bundles as a registry: what a node, podman or skopeo pulls, and what hardway fetches beside images. Nothing can be pushed.
//!
//! ```text
//! RegistryServer     listens, speaks TLS, lets a bounded number in          mod.rs
//! Catalogue          which repository has which images                      catalogue.rs
//! answers            paths, tags, digests, pieces                           answer.rs
//! ExtentBody         a piece of a bundle while it is sent                   body.rs
//! ```
//!
//! Paths of requests are looked up in tables; no file is ever opened for one.

mod answer;
mod body;
mod catalogue;

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hardway_base::{BoundListener, Listener, Secret, http1_server_config};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::shelf::Bundles;
use catalogue::Catalogue;

/// Who the server says it is.
#[derive(Debug)]
pub struct ServerTls {
    /// PEM, the server's own certificate first.
    pub chain: Vec<u8>,
    /// PEM.
    pub key: Secret,
}

/// Somebody asked for something that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Who.
    pub source: IpAddr,
    /// The path, as it came.
    pub path: String,
}

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The address is taken, or not one of this host.
    #[error("cannot listen on {address}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// Certificate and key cannot be used.
    #[error("the certificate or its key cannot be used")]
    Tls(#[from] rustls::Error),
    /// Not PEM.
    #[error("the certificate or its key cannot be read")]
    Pem(#[from] rustls_pki_types::pem::Error),
}

/// A server that takes connections until it ends or is dropped.
#[derive(Debug)]
pub struct RegistryServer(Listener);

/// A node pulls six layers at a time, and a hundred nodes may start at once. What each costs is a buffer or two.
const CONNECTIONS: usize = 1024;
/// For a handshake, and for the head of a request.
const PATIENCE: Duration = Duration::from_secs(15);
/// Of the head of a request, in bytes.
const LARGEST_HEAD: usize = 32 << 10;
/// A client that takes nothing for so long gives its place to others.
const SILENCE: Duration = Duration::from_secs(120);
/// For requests that are under way when the server ends.
const DRAIN: Duration = Duration::from_secs(5);

type Miss = Box<dyn Fn(&Asked) + Send + Sync>;

impl RegistryServer {
    /// Serves the bundles. `miss` is told of everything that was asked for and is not there. Must run inside an async runtime.
    ///
    /// # Errors
    /// When the address is taken, or the certificate cannot be used.
    pub async fn start(
        address: SocketAddr,
        tls: &ServerTls,
        bundles: Arc<Bundles>,
        miss: Miss,
    ) -> Result<Self, ServerError> {
        let tls = acceptor(tls)?;
        let failed = |source| ServerError::Listen { address, source };
        let bound = BoundListener::bind(address).await.map_err(failed)?;
        let desk = Arc::new(Desk {
            catalogue: Catalogue::of(bundles),
            tls,
            miss,
            ending: bound.ending(),
            began: Instant::now(),
        });
        Ok(Self(bound.serve(CONNECTIONS, move |stream, source| desk.clone().serve(stream, source.ip()))))
    }

    /// Where it listens, with the port that was given out.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }

    /// Takes no more connections, lets requests that are under way end for a moment, and returns.
    pub async fn end(self) {
        self.0.end(DRAIN).await;
    }
}

fn acceptor(tls: &ServerTls) -> Result<TlsAcceptor, ServerError> {
    let chain = CertificateDer::pem_slice_iter(&tls.chain).collect::<Result<Vec<_>, _>>()?;
    let key = PrivateKeyDer::from_pem_slice(tls.key.expose())?;
    Ok(TlsAcceptor::from(http1_server_config(chain, key)?))
}

struct Desk {
    catalogue: Catalogue,
    tls: TlsAcceptor,
    miss: Miss,
    ending: CancellationToken,
    began: Instant,
}

/// When a connection last did something, in milliseconds since the server began.
#[derive(Clone)]
struct Pulse {
    last: Arc<AtomicU64>,
    began: Instant,
}

impl Pulse {
    fn beat(&self) {
        self.last.store(self.now(), Ordering::Relaxed);
    }

    fn silence(&self) -> Duration {
        Duration::from_millis(self.now().saturating_sub(self.last.load(Ordering::Relaxed)))
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl Desk {
    async fn serve(self: Arc<Self>, stream: TcpStream, source: IpAddr) {
        let Ok(Ok(stream)) = timeout(PATIENCE, self.tls.accept(stream)).await else { return };
        let pulse = Pulse { last: Arc::default(), began: self.began };
        pulse.beat();
        let (ending, own) = (self.ending.clone(), pulse.clone());
        let service = service_fn(move |request: http::Request<hyper::body::Incoming>| {
            let (desk, pulse) = (self.clone(), own.clone());
            async move {
                pulse.beat();
                let answer = answer::answer(&desk.catalogue, &request, pulse);
                if answer.status() == http::StatusCode::NOT_FOUND {
                    (desk.miss)(&Asked { source, path: request.uri().path().to_owned() });
                }
                Ok::<_, Infallible>(answer)
            }
        });
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(SILENCE).max_buf_size(LARGEST_HEAD);
        let mut connection = Box::pin(builder.serve_connection(TokioIo::new(stream), service));
        loop {
            tokio::select! {
                _ = connection.as_mut() => return,
                () = ending.cancelled() => break,
                () = tokio::time::sleep(SILENCE / 4) => if pulse.silence() > SILENCE {
                    return;
                },
            }
        }
        connection.as_mut().graceful_shutdown();
        let _ = timeout(DRAIN, connection).await;
    }
}
