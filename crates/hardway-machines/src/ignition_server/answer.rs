//! An answer, before it becomes HTTP.

use std::fmt;

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, LOCATION, RETRY_AFTER, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use super::{ConfigRequest, PreparedConfig};

/// Status, headers and body. The length is always said, also where there is no body to be sent.
#[derive(Clone)]
pub struct Answer {
    /// What Ignition looks at first.
    pub status: StatusCode,
    /// Without the length, which follows from the body.
    pub headers: HeaderMap,
    /// What is sent, unless only the headers were asked for.
    pub body: Bytes,
    /// Whether somebody got a config. After all else the connection ends: whoever gets nothing keeps no place.
    pub is_config: bool,
}

impl Answer {
    /// Nothing but a status, as the machine-config-server does.
    pub fn empty(status: StatusCode) -> Self {
        Self { status, headers: HeaderMap::new(), body: Bytes::new(), is_config: false }
    }

    /// A sentence for a person, in the form of Go's `http.Error`.
    pub fn text(status: StatusCode, sentence: &str) -> Self {
        Self::empty(status)
            .with(CONTENT_TYPE, "text/plain; charset=utf-8")
            .with(X_CONTENT_TYPE_OPTIONS, "nosniff")
            .body(format!("{sentence}\n"))
    }

    /// Not now, but soon: whatever is missing may yet come.
    pub fn later(sentence: &str) -> Self {
        Self::text(StatusCode::SERVICE_UNAVAILABLE, sentence).with(RETRY_AFTER, "5")
    }

    /// Somewhere else.
    pub fn moved(to: &str) -> Self {
        let mut answer = Self::text(StatusCode::MOVED_PERMANENTLY, "Moved Permanently");
        match HeaderValue::from_str(to) {
            Ok(to) => answer.headers.insert(LOCATION, to),
            Err(_) => return Self::text(StatusCode::NOT_FOUND, "404 page not found"),
        };
        answer
    }

    /// A config. Nobody in between may keep it.
    pub fn config(config: &PreparedConfig, content_type: &'static str, asked: &ConfigRequest<'_>) -> Self {
        let answer = Self::empty(StatusCode::OK)
            .with(CONTENT_TYPE, content_type)
            .with(CACHE_CONTROL, "no-store")
            .with(VARY, "Accept, Accept-Encoding");
        let mut answer = if asked.takes_gzip() {
            answer.with(CONTENT_ENCODING, "gzip").body(config.gzip().clone())
        } else {
            answer.body(config.identity().clone())
        };
        answer.headers.insert(ETAG, config.etag().clone());
        answer
    }

    /// With a header.
    pub fn with(mut self, name: HeaderName, value: &'static str) -> Self {
        self.headers.insert(name, HeaderValue::from_static(value));
        self
    }

    /// With a body.
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// All headers, with the length.
    pub fn all_headers(&self) -> HeaderMap {
        let mut headers = self.headers.clone();
        headers.insert(CONTENT_LENGTH, HeaderValue::from(self.body.len()));
        headers
    }
}

/// Without the body, which may be a config.
impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Answer({} {:?} {} bytes)", self.status, self.headers, self.body.len())
    }
}
