//! Accepting connections, within bounds.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::sleep;
use tokio_util::task::TaskTracker;

use super::Metrics;
use super::connection::Shared;
use super::limits::Sources;

/// Accepts until the server ends. A connection is accepted only when there is room for it: until then it waits in the
/// kernel's queue, where it costs us nothing.
pub(super) async fn accept(
    listener: TcpListener,
    shared: Shared,
    room: Arc<Semaphore>,
    sources: Sources,
    tracker: TaskTracker,
) {
    let mut ending = shared.ending.clone();
    loop {
        let accepted = async {
            let permit = room.clone().acquire_owned().await;
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            accepted = accepted => accepted,
            _ = ending.wait_for(|ending| *ending) => return,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(_) => {
                // Out of file descriptors, mostly: others will be closed soon.
                sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let Some(place) = sources.enter(peer.ip(), shared.limits.connections_per_source) else {
            Metrics::count(&shared.router.metrics.turned_away);
            continue;
        };
        let connection = shared.clone();
        tracker.spawn(async move {
            let open = &connection.router.clone().metrics.connections;
            open.fetch_add(1, Ordering::Relaxed);
            connection.serve(stream, peer.ip()).await;
            open.fetch_sub(1, Ordering::Relaxed);
            drop((permit, place));
        });
    }
}
