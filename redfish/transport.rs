//! One request, one answer, each on a connection of its own: controllers close theirs when they please.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, IF_MATCH};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode};
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls_pki_types::ServerName;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::{BmcAddress, RedfishError};
use crate::file_body::FileBody;

/// A way to a controller.
pub(super) struct Transport {
    address: BmcAddress,
    /// None for plain HTTP.
    tls: Option<TlsConnector>,
}

/// What came back.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

/// How the request is known to come from somebody who may.
#[derive(Clone)]
pub(super) enum Credential {
    /// `Authorization: Basic …`
    Basic(HeaderValue),
    /// Before a session is there.
    None,
    /// `X-Auth-Token: …`
    Token(HeaderValue),
}

impl Credential {
    /// What must not be shown to anybody.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Basic(value) => value.to_str().unwrap_or_default().trim_start_matches("Basic "),
            Self::None => "",
            Self::Token(value) => value.to_str().unwrap_or_default(),
        }
    }
}

/// A controller is a small computer that may be busy with other things, but not for longer.
const PATIENCE: Duration = Duration::from_secs(120);
/// No resource that is asked for comes near it.
const LARGEST: usize = 4 << 20;
/// The token of a session (DMTF DSP0266, session login).
pub(super) const AUTH_TOKEN: HeaderName = HeaderName::from_static("x-auth-token");

impl Transport {
    pub(super) fn new(address: BmcAddress, tls: Option<rustls::ClientConfig>) -> Self {
        Self { address, tls: tls.map(|config| TlsConnector::from(Arc::new(config))) }
    }

    pub(super) fn address(&self) -> &BmcAddress {
        &self.address
    }

    /// Asks, and gives back whatever the answer is.
    pub(super) async fn ask(
        &self,
        method: &Method,
        path: &str,
        body: Option<&Value>,
        credential: &Credential,
        tag: Option<&HeaderValue>,
    ) -> Result<Answer, RedfishError> {
        let request = self.request(method, path, body, credential, tag)?;
        tokio::time::timeout(PATIENCE, self.exchange(request)).await.unwrap_or_else(|_| {
            Err(RedfishError::Silent { address: self.address.to_string(), seconds: PATIENCE.as_secs() })
        })
    }

    fn request(
        &self,
        method: &Method,
        path: &str,
        body: Option<&Value>,
        credential: &Credential,
        tag: Option<&HeaderValue>,
    ) -> Result<Request<FileBody>, RedfishError> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, self.address.authority())
            .header(ACCEPT, "application/json")
            .header("OData-Version", "4.0");
        if let Some(tag) = tag {
            request = request.header(IF_MATCH, tag);
        }
        request = match credential {
            Credential::Basic(value) => request.header(AUTHORIZATION, value),
            Credential::Token(value) => request.header(AUTH_TOKEN, value),
            Credential::None => request,
        };
        let body = match body {
            Some(value) => {
                request = request.header(CONTENT_TYPE, "application/json");
                FileBody::whole(value.to_string())
            }
            None => FileBody::empty(),
        };
        request.body(body).map_err(|_| RedfishError::Unexpected {
            path: path.to_owned(),
            what: "a link that is no path of a resource".to_owned(),
        })
    }

    async fn exchange(&self, request: Request<FileBody>) -> Result<Answer, RedfishError> {
        let unreachable = |source| RedfishError::Unreachable { address: self.address.to_string(), source };
        let stream =
            TcpStream::connect((self.address.host.as_str(), self.address.port)).await.map_err(unreachable)?;
        match &self.tls {
            None => self.over(stream, request).await,
            Some(tls) => {
                let name = ServerName::try_from(self.address.host.clone())
                    .map_err(|error| unreachable(io::Error::other(error)))?;
                self.over(tls.connect(name, stream).await.map_err(unreachable)?, request).await
            }
        }
    }

    async fn over(
        &self,
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
        request: Request<FileBody>,
    ) -> Result<Answer, RedfishError> {
        let not_http = |source| RedfishError::NotHttp { address: self.address.to_string(), source };
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(not_http)?;
        let connection = tokio::spawn(connection);
        let answer = async {
            let response = sender.send_request(request).await.map_err(not_http)?;
            let (head, body) = response.into_parts();
            let body = collect(body).await.map_err(not_http)?;
            Ok(Answer { status: head.status, headers: head.headers, body })
        }
        .await;
        connection.abort();
        answer
    }
}

async fn collect(mut body: Incoming) -> Result<Vec<u8>, hyper::Error> {
    let mut bytes = Vec::new();
    while let Some(frame) = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        if let Ok(data) = frame?.into_data() {
            bytes.extend_from_slice(&data);
        }
        if bytes.len() > LARGEST {
            break;
        }
    }
    Ok(bytes)
}
