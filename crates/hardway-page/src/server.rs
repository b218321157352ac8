//! Gives the page to browsers. Everything is read, nothing is changed: only GET and HEAD are answered.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut as _, Bytes, BytesMut};
use hardway_base::{BoundListener, Listener, Secret, http1_server_config};
use http::header::{
    ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    HeaderName, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use hyper::rt::{Read, Write};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::Content;
use crate::content::{News, Place};
use crate::guard::{Guard, Refusal};
use crate::page_body::PageBody;
use crate::static_files::{self, gzip};

/// Where and how a page is served.
#[derive(Debug)]
pub struct PageOptions {
    /// Port 0 is any that is free.
    pub address: SocketAddr,
    /// What a browser has to show, where others than this computer can ask.
    pub token: Option<Secret>,
    /// What TLS is spoken with; none for plain HTTP, which belongs on loopback.
    pub certificate: Option<PageCertificate>,
}

/// Who the server says it is.
#[derive(Debug)]
pub struct PageCertificate {
    /// DER.
    pub certificate: Vec<u8>,
    /// PEM.
    pub key: Secret,
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum PageServerError {
    /// The address is taken, or not one of this host.
    #[error("cannot listen on {address}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The certificate or its key cannot be used.
    #[error("the page's certificate cannot be used")]
    Tls(#[from] rustls::Error),
    /// The key cannot be read.
    #[error("the key of the page's certificate cannot be read")]
    Key(#[from] rustls_pki_types::pem::Error),
}

/// A server that takes connections until it ends or is dropped.
#[derive(Debug)]
pub struct PageServer {
    listener: Listener,
    is_tls: bool,
}

/// Browsers open six at a time; a stream keeps one of them.
const CONNECTIONS: usize = 256;
/// For a handshake, and for the head of a request.
const PATIENCE: Duration = Duration::from_secs(10);
/// For requests that are under way when the server ends.
const DRAIN: Duration = Duration::from_secs(2);
/// Proxies and browsers give up on what is silent.
const BEAT: Duration = Duration::from_secs(15);
/// Moments in one piece of a stream.
const BATCH: usize = 1000;

/// Scripts and styles from here alone, nothing from elsewhere, in nobody's frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

impl PageServer {
    /// Serves the content. Must run inside an async runtime.
    ///
    /// # Errors
    /// When the address is taken, or not one of this host.
    pub async fn start(options: PageOptions, content: Arc<Content>) -> Result<Self, PageServerError> {
        let PageOptions { address, token, certificate } = options;
        let tls = certificate.as_ref().map(acceptor).transpose()?;
        let failed = |source| PageServerError::Listen { address, source };
        let bound = BoundListener::bind(address).await.map_err(failed)?;
        let is_tls = tls.is_some();
        let desk = Arc::new(Desk {
            guard: Guard::new(bound.address(), is_tls, token),
            content,
            tls,
            ending: bound.ending(),
        });
        let listener = bound.serve(CONNECTIONS, move |stream, _| desk.clone().connection(stream));
        Ok(Self { listener, is_tls })
    }

    /// Where it listens, with the port that was given out.
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// What a person opens, without the token.
    pub fn url(&self) -> String {
        let scheme = if self.is_tls { "https" } else { "http" };
        format!("{scheme}://{}/", self.address())
    }

    /// Takes no more connections, ends the streams, and returns.
    pub async fn end(self) {
        self.listener.end(DRAIN).await;
    }
}

fn acceptor(certificate: &PageCertificate) -> Result<TlsAcceptor, PageServerError> {
    let chain = vec![CertificateDer::from(certificate.certificate.clone())];
    let key = PrivateKeyDer::from_pem_slice(certificate.key.expose())?;
    Ok(TlsAcceptor::from(http1_server_config(chain, key)?))
}

struct Desk {
    guard: Guard,
    content: Arc<Content>,
    tls: Option<TlsAcceptor>,
    ending: CancellationToken,
}

impl Desk {
    async fn connection(self: Arc<Self>, stream: TcpStream) {
        match &self.tls {
            None => self.clone().serve(TokioIo::new(stream)).await,
            Some(acceptor) => {
                if let Ok(Ok(stream)) = timeout(PATIENCE, acceptor.accept(stream)).await {
                    self.clone().serve(TokioIo::new(stream)).await;
                }
            }
        }
    }

    async fn serve<I: Read + Write + Unpin>(self: Arc<Self>, stream: I) {
        let ending = self.ending.clone();
        let service = service_fn(move |request| {
            let desk = self.clone();
            async move { Ok::<_, Infallible>(desk.answer(&request)) }
        });
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
        let mut connection = Box::pin(builder.serve_connection(stream, service));
        tokio::select! {
            _ = connection.as_mut() => return,
            () = ending.cancelled() => connection.as_mut().graceful_shutdown(),
        }
        let _ = timeout(DRAIN, connection).await;
    }

    fn answer<B>(self: &Arc<Self>, request: &Request<B>) -> Response<PageBody> {
        let path = request.uri().path();
        let file = static_files::find(path);
        let mut response = match self.guard.check(request.headers(), file.is_none()) {
            Err(refusal) => refused(refusal),
            Ok(()) if ![Method::GET, Method::HEAD].contains(request.method()) => {
                let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "This page can only be read.\n");
                response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
                response
            }
            Ok(()) => match (file, path) {
                (Some(file), _) => whole(request.headers(), file.kind, file.plain(), file.gzipped()),
                (None, "/document.json") => json(request.headers(), self.content.document()),
                (None, "/explanations.json") => json(request.headers(), self.content.explanations()),
                (None, "/moments") if request.method() == Method::GET => self.moments(),
                _ => plain(StatusCode::NOT_FOUND, "There is nothing here.\n"),
            },
        };
        if request.method() == Method::HEAD {
            *response.body_mut() = PageBody::Whole(None);
        }
        with_rules(response.headers_mut());
        response
    }

    /// Server-sent events: the moments so far, and then those that come.
    fn moments(self: &Arc<Self>) -> Response<PageBody> {
        let (sender, receiver) = mpsc::channel(4);
        let desk = self.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = stream(&desk.content, &sender) => {}
                () = desk.ending.cancelled() => {}
            }
        });
        let mut response = Response::new(PageBody::Stream(receiver));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        response
    }
}

/// Until nobody listens any more.
async fn stream(content: &Content, sender: &mpsc::Sender<Bytes>) {
    let mut changes = content.changes();
    let mut place = Place::default();
    loop {
        changes.mark_unchanged();
        while let Some(news) = content.news(&mut place, BATCH) {
            if sender.send(events(&news)).await.is_err() {
                return;
            }
        }
        let is_alive = match timeout(BEAT, changes.changed()).await {
            Ok(changed) => changed.is_ok(),
            Err(_) => sender.send(Bytes::from_static(b": still here\n\n")).await.is_ok(),
        };
        if !is_alive || sender.is_closed() {
            return;
        }
    }
}

fn events(news: &News) -> Bytes {
    let mut bytes = BytesMut::new();
    if news.is_new_generation {
        bytes.put_slice(b"event: begin\ndata: {}\n\n");
    }
    if !news.moments.is_empty() {
        bytes.put_slice(b"event: moments\ndata: [");
        for (place, moment) in news.moments.iter().enumerate() {
            if place > 0 {
                bytes.put_u8(b',');
            }
            bytes.put_slice(moment);
        }
        bytes.put_slice(b"]\n\n");
    }
    if news.is_new_edition {
        bytes.put_slice(b"event: document\ndata: {}\n\n");
    }
    if let Some(seen) = &news.seen {
        bytes.put_slice(b"event: seen\ndata: ");
        bytes.put_slice(seen);
        bytes.put_slice(b"\n\n");
    }
    if let Some(live) = news.live {
        bytes.put_slice(format!("event: live\ndata: {}\n\n", live.value()).as_bytes());
    }
    bytes.freeze()
}

fn refused(refusal: Refusal) -> Response<PageBody> {
    plain(StatusCode::FORBIDDEN, refusal.sentence())
}

fn plain(status: StatusCode, text: &'static str) -> Response<PageBody> {
    let mut response = Response::new(PageBody::whole(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

fn json(headers: &HeaderMap, text: Bytes) -> Response<PageBody> {
    let gzipped = takes_gzip(headers).then(|| Bytes::from(gzip(&text)));
    whole(headers, "application/json", text.clone(), gzipped.unwrap_or(text))
}

fn whole(headers: &HeaderMap, kind: &'static str, plain: Bytes, gzipped: Bytes) -> Response<PageBody> {
    let is_gzipped = takes_gzip(headers);
    let mut response = Response::new(PageBody::whole(if is_gzipped { gzipped } else { plain }));
    let told = response.headers_mut();
    told.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    told.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if is_gzipped {
        told.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    accepted.split(',').any(|word| word.trim() == "gzip")
}

fn with_rules(headers: &mut HeaderMap) {
    let rules = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in rules {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
