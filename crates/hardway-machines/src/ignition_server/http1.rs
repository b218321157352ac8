//! HTTP/1.1 on one connection, until it or the server ends.

use std::convert::Infallible;
use std::sync::Arc;

use http::header::CONNECTION;
use http::{HeaderValue, Request, Response};
use hyper::body::{Body, Incoming};
use hyper::rt::{Read, Write};
use hyper::server::conn::http1;
use hyper::service::{HttpService, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::listener::Ending;
use super::{Activity, Limits, TimedIo};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The connection ends with this answer: whoever got nothing worth having keeps no place by it.
pub(crate) fn close_after<B>(response: &mut Response<B>) {
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
}

/// Answers the requests of a connection without TLS. It ends with the first answer that is not worth keeping it open for.
pub(crate) async fn serve_plain<B, A>(
    stream: TcpStream,
    activity: Arc<Activity>,
    limits: &Limits,
    ending: Ending,
    answer: impl Fn(Request<Incoming>) -> A,
    keeps: fn(&Response<B>) -> bool,
) where
    A: Future<Output = Response<B>>,
    B: Body + 'static,
    B::Error: Into<Failure>,
{
    let stream = TokioIo::new(TimedIo::new(stream, limits.idle, limits.lifetime, activity.clone()));
    let service = service_fn(move |request| {
        activity.asked();
        let answered = answer(request);
        async move {
            let mut response = answered.await;
            if !keeps(&response) {
                close_after(&mut response);
            }
            Ok::<_, Infallible>(response)
        }
    });
    serve(stream, service, limits, ending).await;
}

/// Answers requests until the client goes, a limit is reached, or the server ends and the request under way is done.
///
/// A function that gives a future, not an async function: that one would keep room for the connection twice.
pub(crate) fn serve<I, S, B>(
    stream: I,
    service: S,
    limits: &Limits,
    mut ending: Ending,
) -> impl Future<Output = ()> + use<I, S, B>
where
    I: Read + Write + Unpin,
    S: HttpService<Incoming, ResBody = B>,
    S::Error: Into<Failure>,
    B: Body + 'static,
    B::Error: Into<Failure>,
{
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header)
        .max_buf_size(limits.header_bytes.max(8 << 10))
        // Nobody looks whether a client is still there while it is being answered: that would take a buffer of 8 KB for
        // each. Writing to one that has gone fails, and where nothing moves time is up soon.
        .half_close(true)
        .writev(true);
    let mut connection = Box::pin(builder.serve_connection(stream, service));
    let drain = limits.drain;
    async move {
        // A client that breaks off is its own business; what it got is in the journal and the counters.
        tokio::select! {
            _ = connection.as_mut() => return,
            _ = ending.wait_for(|ending| *ending) => connection.as_mut().graceful_shutdown(),
        }
        let _ = timeout(drain, connection).await;
    }
}
