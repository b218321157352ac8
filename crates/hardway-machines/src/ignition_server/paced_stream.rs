//! A TLS connection that encrypts no more than the kernel is about to take.
//!
//! What is encrypted and does not fit into the kernel's buffer waits in memory, for each client that reads slowly. So
//! nothing is encrypted before everything that was is on its way, and the kernel says that it takes more. Large pieces
//! cost less time (measured: 64 KB at once take two thirds of the time of 16 KB), and small ones less memory: the more
//! connections there are, the smaller are the pieces.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use super::Router;
use super::timed_io::TimedIo;

/// Wraps a connection after its handshake.
pub(super) struct PacedStream {
    tls: TlsStream<TimedIo<TcpStream>>,
    /// Knows how many connections there are.
    router: Arc<Router>,
}

/// The largest TLS record. A thousand clients get a smaller one (measured: with 16 KB the server's peak is 65 MB, with 12 KB
/// 63 MB, with 8 KB 61 MB, but then it serves a third less).
const RECORD: usize = 16 << 10;
const LEAST_AT_ONCE: usize = 12 << 10;
const MOST_AT_ONCE: usize = 4 * RECORD;
/// For the pieces of all connections together.
const ALL_PIECES: usize = 12 << 20;

impl PacedStream {
    pub(super) fn new(tls: TlsStream<TimedIo<TcpStream>>, router: Arc<Router>) -> Self {
        Self { tls, router }
    }

    /// Ready once there is something to gain from encrypting more.
    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.tls.get_ref().1.wants_write() {
            ready!(Pin::new(&mut self.tls).poll_flush(cx))?;
        }
        let (stream, session) = self.tls.get_mut();
        ready!(stream.poll_write_ready(cx))?;
        let open = self.router.metrics.connections.load(Ordering::Relaxed);
        session.set_buffer_limit(Some(piece(usize::try_from(open).unwrap_or(usize::MAX))));
        Poll::Ready(Ok(()))
    }
}

/// How much is encrypted at once when so many connections are open: whole records, or one that is not full.
fn piece(connections: usize) -> usize {
    let share = ALL_PIECES / connections.max(1);
    (share / RECORD * RECORD).clamp(LEAST_AT_ONCE, MOST_AT_ONCE)
}

impl AsyncRead for PacedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tls).poll_read(cx, buf)
    }
}

impl AsyncWrite for PacedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.as_mut().poll_write_vectored(cx, &[io::IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_room(cx))?;
        Pin::new(&mut self.tls).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tls).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tls).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_records_and_fewer_for_more_connections() {
        assert_eq!([0, 1, 64, 192].map(piece), [MOST_AT_ONCE; 4]);
        assert_eq!([193, 384, 768].map(piece), [3 * RECORD, 2 * RECORD, RECORD]);
        assert_eq!([1000, 2048, 100_000].map(piece), [LEAST_AT_ONCE; 3]);
    }
}
