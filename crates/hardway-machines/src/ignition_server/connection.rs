//! One connection, from its first byte to its last.

use std::convert::Infallible;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::listener::{Ending, Serve};
use super::paced_stream::PacedStream;
use super::timed_io::TimedIo;
use super::{Activity, Answer, Limits, Metrics, Router, http1};

/// What all connections share.
pub(super) struct Connections {
    pub(super) router: Arc<Router>,
    pub(super) limits: Limits,
    /// `None` for plain HTTP.
    pub(super) tls: Option<TlsAcceptor>,
}

impl Serve for Connections {
    async fn serve(
        self: Arc<Self>,
        stream: TcpStream,
        source: IpAddr,
        activity: Arc<Activity>,
        ending: Ending,
    ) {
        let _open = Counted::new(&self.router.metrics.connections);
        // Large writes follow each other; waiting for acknowledgements would only delay the last one.
        let _ = stream.set_nodelay(true);
        let stream = TimedIo::new(stream, self.limits.idle, self.limits.lifetime, activity.clone());
        let Some(acceptor) = &self.tls else {
            return self.http(stream, source, activity, ending).await;
        };
        // Boxed, so that what only the handshake needs goes with it.
        let requests = Box::pin(self.after_handshake(acceptor, stream, source, activity, ending)).await;
        if let Some(requests) = requests {
            requests.await;
        }
    }

    fn knows(&self, source: IpAddr) -> bool {
        self.router.knows(source)
    }

    fn turned_away(&self) {
        Metrics::count(&self.router.metrics.turned_away);
    }
}

impl Connections {
    async fn after_handshake(
        &self,
        acceptor: &TlsAcceptor,
        stream: TimedIo<TcpStream>,
        source: IpAddr,
        activity: Arc<Activity>,
        ending: Ending,
    ) -> Option<impl Future<Output = ()> + use<>> {
        match timeout(self.limits.handshake, acceptor.accept(stream)).await {
            Ok(Ok(stream)) => {
                let stream = PacedStream::new(stream, self.router.clone());
                Some(self.http(stream, source, activity, ending))
            }
            Ok(Err(_)) | Err(_) => {
                Metrics::count(&self.router.metrics.handshakes_failed);
                None
            }
        }
    }

    fn http<I: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: I,
        source: IpAddr,
        activity: Arc<Activity>,
        ending: Ending,
    ) -> impl Future<Output = ()> + use<I> {
        let router = self.router.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            activity.asked();
            let router = router.clone();
            async move { Ok::<_, Infallible>(response(router.answer(&request, source).await, request.method())) }
        });
        http1::serve(TokioIo::new(stream), service, &self.limits, ending)
    }
}

/// One of those that are open, until it is dropped.
struct Counted<'m>(&'m AtomicU64);

impl<'m> Counted<'m> {
    fn new(open: &'m AtomicU64) -> Self {
        open.fetch_add(1, Ordering::Relaxed);
        Self(open)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn response(answer: Answer, method: &hyper::Method) -> Response<Whole> {
    let headers = answer.all_headers();
    let body = if method == hyper::Method::HEAD { Bytes::new() } else { answer.body };
    let mut response = Response::new(Whole(Some(body).filter(|body| !body.is_empty())));
    *response.status_mut() = answer.status;
    *response.headers_mut() = headers;
    if !answer.is_config {
        http1::close_after(&mut response);
    }
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

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;
    use tokio::sync::{mpsc, watch};

    use super::*;
    use crate::ignition_server::{Faces, Recorder};

    /// A thousand of them are held at once. What is needed for a while is in boxes, and goes with them.
    #[tokio::test]
    async fn a_connection_that_waits_takes_little() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let limits = Limits::default();
        let clock: hardway_journal::Now = Arc::new(|| jiff::Timestamp::UNIX_EPOCH);
        let router = Router::new(Faces::default(), Recorder::nowhere(), mpsc::channel(1).0, clock, &limits);
        let connections = Arc::new(Connections { router: Arc::new(router), limits, tls: None });
        let serving =
            connections.serve(stream, [127, 0, 0, 1].into(), Activity::new(), watch::channel(false).1);
        let bytes = size_of_val(&serving);
        assert!(bytes < 1024, "{bytes}");
    }
}
