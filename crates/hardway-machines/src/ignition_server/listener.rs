//! Accepting connections, within bounds, until the end.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_util::task::TaskTracker;

use super::places::Places;
use super::{Activity, Limits, ServerError};

/// What is done with connections.
pub(crate) trait Serve: Send + Sync + 'static {
    /// Serves one until its client goes, a limit is reached, or the server ends and the request under way is done.
    fn serve(
        self: Arc<Self>,
        stream: TcpStream,
        source: IpAddr,
        activity: Arc<Activity>,
        ending: Ending,
    ) -> impl Future<Output = ()> + Send;

    /// Whether a host that is expected has this address.
    fn knows(&self, source: IpAddr) -> bool {
        let _ = source;
        false
    }

    /// One was closed, so that another can come in.
    fn turned_away(&self) {}
}

/// Turns true when the server ends.
pub(crate) type Ending = watch::Receiver<bool>;

/// Addresses that are listened on, and everybody who came.
#[derive(Debug)]
pub(crate) struct Listeners {
    addresses: Vec<SocketAddr>,
    drain: Duration,
    ending: watch::Sender<bool>,
    accepting: Vec<JoinHandle<()>>,
    connections: TaskTracker,
}

impl Listeners {
    /// Listens on all addresses, or on none. Must run inside an async runtime.
    pub(crate) fn open(
        addresses: &[SocketAddr],
        limits: &Limits,
        service: &Arc<impl Serve>,
    ) -> Result<Self, ServerError> {
        let mut listeners = Vec::new();
        for &address in addresses {
            listeners.push(bind(address).map_err(|source| ServerError::Listen { address, source })?);
        }
        let addresses = listeners.iter().filter_map(|listener| listener.local_addr().ok()).collect();
        let (ending, is_ending) = watch::channel(false);
        let connections = TaskTracker::new();
        let context = ListenerContext {
            places: Places::new(room(limits), limits.connections_per_source),
            first_request: limits.first_request,
            ending: is_ending,
            connections: connections.clone(),
        };
        let accepting = listeners
            .into_iter()
            .map(|listener| tokio::spawn(accept(listener, context.clone(), service.clone())))
            .collect();
        Ok(Self { addresses, drain: limits.drain, ending, accepting, connections })
    }

    /// Where it listens, with the ports that were given out.
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Takes no more connections, lets the requests that are under way end, and returns. False when some did not end in
    /// time and were cut off.
    pub(crate) async fn end(self) -> bool {
        let _ = self.ending.send(true);
        for accepting in self.accepting {
            let _ = accepting.await;
        }
        self.connections.close();
        timeout(self.drain, self.connections.wait()).await.is_ok()
    }
}

/// What all listeners of a server share.
#[derive(Clone)]
struct ListenerContext {
    places: Arc<Places>,
    first_request: Duration,
    ending: Ending,
    connections: TaskTracker,
}

/// Accepts until the server ends. Where there is no room, the next one waits until somebody else has given a place back; the others
/// wait in the kernel's queue, where they cost us nothing.
async fn accept(listener: TcpListener, context: ListenerContext, service: Arc<impl Serve>) {
    let mut ending = context.ending.clone();
    loop {
        let accepted = async {
            let (stream, peer) = listener.accept().await?;
            let source = peer.ip().to_canonical();
            let place = context.places.enter(source, service.knows(source)).await;
            std::io::Result::Ok((stream, source, place))
        };
        let accepted = tokio::select! {
            accepted = accepted => accepted,
            _ = ending.wait_for(|ending| *ending) => return,
        };
        let Ok((stream, source, place)) = accepted else {
            // Out of file descriptors, mostly: others will be closed soon.
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        let (place, has_made_room) = place;
        if has_made_room {
            service.turned_away();
        }
        let (activity, first_request) = (place.activity.clone(), context.first_request);
        let serving = service.clone().serve(stream, source, activity.clone(), context.ending.clone());
        context.connections.spawn(async move {
            tokio::select! {
                () = serving => {}
                () = activity.is_over(first_request) => {}
            }
            drop(place);
        });
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
