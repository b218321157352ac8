//! The server as a whole: begins, is told to end, has ended.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::task::TaskTracker;

use super::connection::Shared;
use super::limits::Sources;
use super::{Certificates, Limits, Router, TlsError, listener};

/// How clients come in.
#[derive(Clone, Debug)]
pub enum Listen {
    /// Anybody on the way can read what is sent. Only for pointers that carry a hash, and only if asked for.
    PlainHttp,
    /// Encrypted.
    Tls(Arc<Certificates>),
}

/// The server cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The address is taken, or not one of this host.
    #[error("cannot listen on {address}")]
    Listen {
        /// Which.
        address: SocketAddr,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// See the source.
    #[error("cannot serve with TLS")]
    Tls(#[from] TlsError),
}

/// A server that runs.
#[derive(Debug)]
pub struct Server {
    addresses: Vec<SocketAddr>,
    limits: Limits,
    ending: watch::Sender<bool>,
    listeners: Vec<JoinHandle<()>>,
    tracker: TaskTracker,
}

impl Server {
    /// Listens on all addresses, or on none.
    pub async fn start(
        addresses: &[SocketAddr],
        listen: &Listen,
        limits: Limits,
        router: Arc<Router>,
    ) -> Result<Self, ServerError> {
        let tls = match listen {
            Listen::PlainHttp => None,
            Listen::Tls(certificates) => Some(TlsAcceptor::from(certificates.server_config()?)),
        };
        let mut listeners = Vec::new();
        for &address in addresses {
            listeners.push(bind(address).map_err(|source| ServerError::Listen { address, source })?);
        }
        let (ending, is_ending) = watch::channel(false);
        let shared = Shared { router, limits, tls, ending: is_ending };
        let (room, sources, tracker) =
            (Arc::new(Semaphore::new(room(&limits))), Sources::default(), TaskTracker::new());
        let addresses = listeners.iter().filter_map(|listener| listener.local_addr().ok()).collect();
        let listeners = listeners
            .into_iter()
            .map(|one| {
                tokio::spawn(listener::accept(
                    one,
                    shared.clone(),
                    room.clone(),
                    sources.clone(),
                    tracker.clone(),
                ))
            })
            .collect();
        Ok(Self { addresses, limits, ending, listeners, tracker })
    }

    /// Where it listens, with the ports that were given out.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Takes no more connections, lets the requests that are under way end, and returns. False when some did not end in
    /// time and were cut off.
    pub async fn end(self) -> bool {
        let _ = self.ending.send(true);
        for listener in self.listeners {
            let _ = listener.await;
        }
        self.tracker.close();
        timeout(self.limits.drain, self.tracker.wait()).await.is_ok()
    }
}

/// What the kernel may keep for one client that does not read: without a bound it would take the whole config, once for
/// each of them. Enough for 100 MB/s at a millisecond's distance.
const SEND_BUFFER: u32 = 128 << 10;
/// Connections that wait to be accepted: a whole machine room may be switched on at once.
const BACKLOG: u32 = 4096;

fn bind(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv6() { TcpSocket::new_v6() } else { TcpSocket::new_v4() }?;
    // Connections of the server before this one may still be closing.
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Connections that fit beside what else needs a file descriptor: the journal, files, the API.
fn room(limits: &Limits) -> usize {
    const OTHERS: u64 = 64;
    let most = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let wanted = limits.connections as u64;
    // Up to the hard limit a process may help itself.
    let needed = most.maximum.map_or(wanted + OTHERS, |hard| hard.min(wanted + OTHERS));
    if most.current.is_some_and(|soft| soft < needed) {
        let raised = rustix::process::Rlimit { current: Some(needed), maximum: most.maximum };
        let _ = rustix::process::setrlimit(rustix::process::Resource::Nofile, raised);
    }
    let now = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let room = now.map_or(wanted, |soft| wanted.min(soft.saturating_sub(OTHERS).max(16)));
    usize::try_from(room).unwrap_or(limits.connections)
}
