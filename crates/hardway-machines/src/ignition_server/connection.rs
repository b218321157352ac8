//! One connection, from its first byte to its last.

use std::convert::Infallible;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::timed_io::TimedIo;
use super::{Answer, Limits, Metrics, Router};

/// What all connections share.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) router: Arc<Router>,
    pub(super) limits: Limits,
    /// `None` for plain HTTP.
    pub(super) tls: Option<TlsAcceptor>,
    /// Turns true when the server ends.
    pub(super) ending: watch::Receiver<bool>,
}

/// Encrypted bytes that wait for a slow client: two TLS records. Half of it is slower, and twice of it counts with a thousand
/// slow clients (measured: 8 KB serves a third less, 64 KB takes 20 MB more).
const WAITING_BYTES: usize = 32 << 10;

impl Shared {
    /// Serves until the client goes, a limit is reached, or the server ends and the request that is under way is done.
    pub(super) async fn serve(self, stream: TcpStream, source: IpAddr) {
        // Large writes follow each other; waiting for acknowledgements would only delay the last one.
        let _ = stream.set_nodelay(true);
        let stream = TimedIo::new(stream, self.limits.idle, self.limits.lifetime);
        match &self.tls {
            None => self.http(stream, source).await,
            Some(acceptor) => {
                let handshake =
                    acceptor.accept_with(stream, |session| session.set_buffer_limit(Some(WAITING_BYTES)));
                match timeout(self.limits.handshake, handshake).await {
                    Ok(Ok(stream)) => self.http(stream, source).await,
                    Ok(Err(_)) | Err(_) => Metrics::count(&self.router.metrics.handshakes_failed),
                }
            }
        }
    }

    async fn http(mut self, stream: impl AsyncRead + AsyncWrite + Unpin, source: IpAddr) {
        let router = self.router.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let router = router.clone();
            async move { Ok::<_, Infallible>(response(router.answer(&request, source).await, request.method())) }
        });
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.header)
            .max_buf_size(self.limits.header_bytes.max(8 << 10))
            .half_close(false)
            .writev(true);
        let connection = builder.serve_connection(TokioIo::new(stream), service);
        tokio::pin!(connection);
        // A client that breaks off is its own business; what it got is in the journal and the counters.
        tokio::select! {
            _ = connection.as_mut() => return,
            _ = self.ending.wait_for(|ending| *ending) => connection.as_mut().graceful_shutdown(),
        }
        let _ = timeout(self.limits.drain, connection).await;
    }
}

fn response(answer: Answer, method: &hyper::Method) -> Response<Whole> {
    let headers = answer.all_headers();
    let body = if method == hyper::Method::HEAD { Bytes::new() } else { answer.body };
    let mut response = Response::new(Whole(Some(body).filter(|body| !body.is_empty())));
    *response.status_mut() = answer.status;
    *response.headers_mut() = headers;
    response
}

/// A body in one piece, which is shared and never copied.
struct Whole(Option<Bytes>);

impl Body for Whole {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, Bytes::len) as u64)
    }
}
