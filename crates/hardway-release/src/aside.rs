//! Blocking work, kept off the threads that drive downloads.

use std::io;

/// Does what takes its time on a thread of its own: several downloads are one task, and locks and hashes of one must not
/// hold up the others.
pub(crate) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}

/// Whether a future leaves its thread alone: all threads for work aside are taken, and it waits for one.
#[cfg(test)]
pub(crate) fn works_aside<F: Future>(future: F) -> bool {
    use futures_util::FutureExt as _;
    let runtime =
        tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).enable_all().build().unwrap();
    let (release, held) = std::sync::mpsc::channel::<()>();
    runtime.block_on(async {
        tokio::task::spawn_blocking(move || held.recv());
        let is_waiting = future.now_or_never().is_none();
        drop(release);
        is_waiting
    })
}
