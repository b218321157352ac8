//! One request, one answer, each on a connection of its own: controllers close theirs when they please.

use std::error::Error;
use std::io;
use std::time::Duration;

use hardway_base::{error_cause, error_sentence};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, IF_MATCH};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use reqwest::{Client, RequestBuilder, Response, redirect};
use serde_json::Value;

use super::{BmcAddress, RedfishError};

/// A way to a controller.
pub(super) struct Transport {
    address: BmcAddress,
    client: Client,
}

/// What came back.
pub(super) struct BmcAnswer {
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
    /// Straight to the controller, whatever proxies the environment names, and nowhere else: the login is for it alone.
    pub(super) fn new(address: BmcAddress, tls: rustls::ClientConfig) -> Result<Self, RedfishError> {
        let client = Client::builder()
            .tls_backend_preconfigured(tls)
            .http1_only()
            .pool_max_idle_per_host(0)
            .no_proxy()
            .redirect(redirect::Policy::none())
            .build()
            .map_err(|error| rustls::Error::General(error_sentence(&error)))?;
        Ok(Self { address, client })
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
    ) -> Result<BmcAnswer, RedfishError> {
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
    ) -> Result<RequestBuilder, RedfishError> {
        // The path is the controller's own word: it must not name another server.
        if !path.starts_with('/') || path.parse::<PathAndQuery>().is_err() {
            let what = "a link that is not a resource path".to_owned();
            return Err(RedfishError::Unexpected { path: path.to_owned(), what });
        }
        let scheme = if self.address.is_https { "https" } else { "http" };
        let mut request = self
            .client
            .request(method.clone(), format!("{scheme}://{}{path}", self.address.authority()))
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
        if let Some(value) = body {
            request = request.header(CONTENT_TYPE, "application/json").body(value.to_string());
        }
        Ok(request)
    }

    async fn exchange(&self, request: RequestBuilder) -> Result<BmcAnswer, RedfishError> {
        let answer = request.send().await.map_err(|error| self.unanswered(&error))?;
        let (status, headers) = (answer.status(), answer.headers().clone());
        let path = answer.url().path().to_owned();
        match collect(answer).await.map_err(|error| self.unanswered(&error))? {
            Some(body) => Ok(BmcAnswer { status, headers, body }),
            None => {
                let what = format!("the answer is larger than {LARGEST} bytes");
                Err(RedfishError::Unexpected { path, what })
            }
        }
    }

    /// With what lies below the words of the HTTP library.
    fn unanswered(&self, error: &reqwest::Error) -> RedfishError {
        let address = self.address.to_string();
        if !error.is_connect() {
            let said = error_cause::<hyper::Error>(error).map_or(error as &dyn Error, |below| below);
            return RedfishError::NotHttp { address, source: io::Error::other(error_sentence(said)) };
        }
        let source = match (error_cause::<rustls::Error>(error), error_cause::<io::Error>(error)) {
            (Some(tls), _) => io::Error::other(tls.clone()),
            (None, Some(below)) => io::Error::new(below.kind(), below.to_string()),
            (None, None) => io::Error::other(error_sentence(error)),
        };
        RedfishError::Unreachable { address, source }
    }
}

/// None where it is too large.
async fn collect(mut answer: Response) -> reqwest::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    while let Some(chunk) = answer.chunk().await? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > LARGEST {
            return Ok(None);
        }
    }
    Ok(Some(bytes))
}
