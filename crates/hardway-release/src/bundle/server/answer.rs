//! Answers of a registry that can only be read (OCI distribution-spec, "pull", and Docker's registry API before it).

use hardway_base::byte_range::{Piece, piece};
use http::header::{
    ACCEPT_RANGES, ALLOW, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderName, RANGE,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use serde_json::{Value, json};

use super::Pulse;
use super::body::ExtentBody;
use super::catalogue::{Catalogue, ServedRepository};
use crate::bundle::read::Extent;
use crate::digest::Digest;

const DIGEST: HeaderName = HeaderName::from_static("docker-content-digest");
const API_VERSION: HeaderName = HeaderName::from_static("docker-distribution-api-version");
const JSON: &str = "application/json";
const BYTES: &str = "application/octet-stream";

/// The answer to one request.
pub(super) fn answer<B>(catalogue: &Catalogue, request: &Request<B>, pulse: Pulse) -> Response<ExtentBody> {
    let is_head = request.method() == Method::HEAD;
    let mut response = match is_head || request.method() == Method::GET {
        true => found(catalogue, request, pulse),
        false => read_only(),
    };
    if is_head {
        *response.body_mut() = ExtentBody::nothing();
    }
    let headers = response.headers_mut();
    headers.insert(API_VERSION, HeaderValue::from_static("registry/2.0"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

fn found<B>(catalogue: &Catalogue, request: &Request<B>, pulse: Pulse) -> Response<ExtentBody> {
    let path = request.uri().path();
    let range = request.headers().get(RANGE).and_then(|value| value.to_str().ok());
    if let Some((digest, extent)) = catalogue.file(path) {
        return sent(digest, extent, BYTES, range, pulse);
    }
    match path {
        "/" => return small(StatusCode::OK, &json!({"registry": "/v2/", "files": catalogue.paths()})),
        "/v2" | "/v2/" => return small(StatusCode::OK, &json!({})),
        "/v2/_catalog" => {
            let names: Vec<&String> = catalogue.repositories.keys().collect();
            return small(StatusCode::OK, &json!({"repositories": names}));
        }
        _ => {}
    }
    let words = path.strip_prefix("/v2/").and_then(asked);
    let Some((name, kind, reference)) = words else {
        return refused(StatusCode::NOT_FOUND, "NOT_FOUND", "there is nothing here");
    };
    let Some(repository) = catalogue.repositories.get(name) else {
        return refused(StatusCode::NOT_FOUND, "NAME_UNKNOWN", "no bundle has this repository");
    };
    match kind {
        Kind::Manifest => manifest(catalogue, repository, reference, range, pulse),
        Kind::Blob => {
            let blob = digest_of(reference).and_then(|digest| Some((catalogue.blob(&digest)?, digest)));
            match blob {
                Some((extent, digest)) => sent(&digest, extent, BYTES, range, pulse),
                None => refused(StatusCode::NOT_FOUND, "BLOB_UNKNOWN", "no bundle has this blob"),
            }
        }
        Kind::Tags => tags(name, repository, request.uri().query().unwrap_or_default()),
    }
}

fn manifest(
    catalogue: &Catalogue,
    repository: &ServedRepository,
    reference: &str,
    range: Option<&str>,
    pulse: Pulse,
) -> Response<ExtentBody> {
    let digest = digest_of(reference).or_else(|| repository.tags.get(reference).cloned());
    let found = digest.and_then(|digest| {
        let media_type = repository.manifests.get(&digest)?;
        Some((catalogue.blob(&digest)?, digest, media_type))
    });
    match found {
        Some((extent, digest, media_type)) => sent(&digest, extent, media_type, range, pulse),
        None => refused(StatusCode::NOT_FOUND, "MANIFEST_UNKNOWN", "no bundle has this image"),
    }
}

/// `?n=NUMBER&last=TAG`, as the specification has it.
fn tags(name: &str, repository: &ServedRepository, query: &str) -> Response<ExtentBody> {
    let value = |key: &str| {
        query.split('&').find_map(|pair| pair.split_once('=').filter(|(k, _)| *k == key).map(|(_, v)| v))
    };
    let last = value("last").unwrap_or_default();
    let most = value("n").and_then(|n| n.parse().ok()).unwrap_or(usize::MAX);
    let tags: Vec<&String> =
        repository.tags.keys().filter(|tag| last.is_empty() || tag.as_str() > last).take(most).collect();
    small(StatusCode::OK, &json!({"name": name, "tags": tags}))
}

/// All of it, or a piece.
fn sent(
    digest: &Digest,
    mut extent: Extent,
    media_type: &str,
    range: Option<&str>,
    pulse: Pulse,
) -> Response<ExtentBody> {
    let whole = extent.size;
    let mut response = Response::new(ExtentBody::nothing());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, header(media_type));
    headers.insert(DIGEST, header(&digest.to_string()));
    headers.insert(ETAG, header(&format!("\"{digest}\"")));
    headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    match range.and_then(|range| piece(range, whole)) {
        Some(Ok(Piece { first, length })) => {
            let last = first + length - 1;
            headers.insert(CONTENT_RANGE, header(&format!("bytes {first}-{last}/{whole}")));
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
            (extent.offset, extent.size) = (extent.offset + first, length);
        }
        Some(Err(_)) => {
            let mut response =
                refused(StatusCode::RANGE_NOT_SATISFIABLE, "RANGE_INVALID", "it begins after the end");
            response.headers_mut().insert(CONTENT_RANGE, header(&format!("bytes */{whole}")));
            return response;
        }
        None => {}
    }
    response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(extent.size));
    *response.body_mut() = ExtentBody::extent(extent, pulse);
    response
}

fn read_only() -> Response<ExtentBody> {
    let mut response = refused(
        StatusCode::METHOD_NOT_ALLOWED,
        "UNSUPPORTED",
        "this registry is a file: it can only be read",
    );
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    response
}

fn refused(status: StatusCode, code: &str, message: &str) -> Response<ExtentBody> {
    small(status, &json!({"errors": [{"code": code, "message": message}]}))
}

fn small(status: StatusCode, value: &Value) -> Response<ExtentBody> {
    let text = format!("{value}\n");
    let mut response = Response::new(ExtentBody::nothing());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(text.len()));
    *response.body_mut() = ExtentBody::bytes(text);
    response
}

/// What a path asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Manifest,
    Blob,
    Tags,
}

/// `REPOSITORY/manifests/REFERENCE`, `REPOSITORY/blobs/DIGEST`, `REPOSITORY/tags/list`. A repository may have such words in
/// its name, so what counts is at the end.
fn asked(path: &str) -> Option<(&str, Kind, &str)> {
    let (rest, reference) = path.rsplit_once('/')?;
    let (name, kind) = rest.rsplit_once('/')?;
    match kind {
        "manifests" => Some((name, Kind::Manifest, reference)),
        "blobs" => Some((name, Kind::Blob, reference)),
        "tags" if reference == "list" => Some((name, Kind::Tags, "")),
        _ => None,
    }
}

/// Some clients escape the colon.
fn digest_of(reference: &str) -> Option<Digest> {
    reference.replacen("%3A", ":", 1).replacen("%3a", ":", 1).parse().ok()
}

fn header(value: &str) -> HeaderValue {
    HeaderValue::from_str(value).unwrap_or(HeaderValue::from_static(BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_stands_at_the_end() {
        assert_eq!(asked("a/b/manifests/4.18"), Some(("a/b", Kind::Manifest, "4.18")));
        assert_eq!(asked("a/manifests/blobs/sha256:x"), Some(("a/manifests", Kind::Blob, "sha256:x")));
        assert_eq!(asked("a/tags/list"), Some(("a", Kind::Tags, "")));
        for nothing in ["a/b", "a/blobs/uploads/", "a/tags/other", "", "manifests/x"] {
            let found = asked(nothing).filter(|(_, kind, _)| *kind != Kind::Blob);
            assert_eq!(found, None, "{nothing}");
        }
        let digest = Digest::of(b"x");
        assert_eq!(digest_of(&digest.to_string().replace(':', "%3A")), Some(digest));
        assert_eq!(digest_of("../../etc/passwd"), None);
    }
}
