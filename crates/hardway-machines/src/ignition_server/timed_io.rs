//! A connection that ends when nothing moves on it, or when it has lived long enough.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

use super::Activity;

/// Wraps a connection. One timer, set again only when it fires: moving data costs a look at the clock.
#[derive(Debug)]
pub(crate) struct TimedIo<T> {
    io: T,
    idle: Duration,
    end: Instant,
    last: Instant,
    activity: Arc<Activity>,
    timer: Pin<Box<Sleep>>,
}

impl<T> TimedIo<T> {
    /// Ends after `idle` without a byte, and after `lifetime` in any case.
    pub(crate) fn new(io: T, idle: Duration, lifetime: Duration, activity: Arc<Activity>) -> Self {
        let now = Instant::now();
        Self {
            io,
            idle,
            end: now + lifetime,
            last: now,
            activity,
            timer: Box::pin(sleep_until(now + idle.min(lifetime))),
        }
    }

    /// What a read or write came to, with the time taken into account.
    fn judge<R>(&mut self, moved: Poll<io::Result<R>>, cx: &mut Context<'_>) -> Poll<io::Result<R>> {
        if moved.is_ready() {
            self.last = Instant::now();
            self.activity.moved(self.last);
            return moved;
        }
        while self.timer.as_mut().poll(cx).is_ready() {
            let due = (self.last + self.idle).min(self.end);
            if Instant::now() >= due {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            self.timer.as_mut().reset(due);
        }
        Poll::Pending
    }
}

impl TimedIo<TcpStream> {
    /// Ready once the kernel takes more.
    pub(crate) fn poll_write_ready(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ready = self.io.poll_write_ready(cx);
        self.judge(ready, cx)
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for TimedIo<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let moved = Pin::new(&mut self.io).poll_read(cx, buf);
        self.judge(moved, cx)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for TimedIo<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let moved = Pin::new(&mut self.io).poll_write(cx, bytes);
        self.judge(moved, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let moved = Pin::new(&mut self.io).poll_write_vectored(cx, slices);
        self.judge(moved, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn silence_ends_a_connection_and_a_byte_now_and_then_keeps_it() {
        let (mut client, server) = duplex(64);
        let mut server =
            TimedIo::new(server, Duration::from_secs(60), Duration::from_secs(600), Activity::new());
        let writer = tokio::spawn(async move {
            for _ in 0..5 {
                tokio::time::sleep(Duration::from_secs(50)).await;
                client.write_all(b"x").await.unwrap();
            }
            tokio::time::sleep(Duration::from_secs(3600)).await;
        });
        let mut received = Vec::new();
        let error = server.read_to_end(&mut received).await.unwrap_err();
        assert_eq!((received.len(), error.kind()), (5, io::ErrorKind::TimedOut));
        writer.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_stays_for_ever() {
        let (mut client, server) = duplex(64);
        let mut server =
            TimedIo::new(server, Duration::from_secs(60), Duration::from_secs(100), Activity::new());
        let writer = tokio::spawn(async move {
            while client.write_all(b"x").await.is_ok() {
                tokio::time::sleep(Duration::from_secs(7)).await;
            }
        });
        let error = server.read_to_end(&mut Vec::new()).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        writer.abort();
    }
}
