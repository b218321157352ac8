//! How a registry wants to be told who asks, and trading a login for an access token where it wants one (distribution
//! `docs/spec/auth/token.md`, `oauth.md`).

use hardway_base::Secret;
use reqwest::{Client, RequestBuilder, Response, Url};
use serde_json::Value;

use super::get::{SMALL, body};
use super::translation::Asked;
use super::{RegistryError, asked_wait, transport};
use crate::credentials::Credential;

/// What a registry answers to a request without credentials.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Challenge {
    /// The password itself, with each request.
    Basic,
    /// A token of that server.
    Bearer { realm: String, service: String },
}

impl Challenge {
    /// Of an answer; nothing where the registry asks for nothing.
    pub(super) fn of(answer: &Response) -> Option<Self> {
        let headers = answer.headers().get_all("www-authenticate");
        let headers: Vec<&str> = headers.iter().filter_map(|value| value.to_str().ok()).collect();
        headers.iter().find_map(|header| bearer(header)).or(headers.first().map(|_| Self::Basic))
    }
}

/// Asks for an access token. The client must follow no redirects: nobody else is to be told.
pub(super) async fn access_token(
    client: &Client,
    (realm, service): (&Url, &str),
    asked: &Asked<'_>,
    actions: &str,
    credential: Option<&Credential>,
) -> Result<Secret, RegistryError> {
    let registry = asked.image.registry();
    let scope = format!("repository:{}:{actions}", asked.image.repository);
    let request = match credential {
        None => with_query(client, realm, service, &scope),
        Some(Credential::Password { user, password }) => {
            with_query(client, realm, service, &scope).basic_auth(user, Some(password.expose_text()))
        }
        Some(Credential::IdentityToken(token)) => client
            .post(realm.clone())
            .header("content-type", "application/x-www-form-urlencoded")
            .body(form(service, &scope, token)),
    };
    let answer = request.send().await.map_err(|error| transport(&registry, &error))?;
    let (status, wait) = (answer.status().as_u16(), asked_wait(&answer));
    let what = || format!("the answer of the token server {}", shown(realm));
    let body = Secret::new(body(answer, SMALL, &registry, what).await?);
    match status {
        200 => {}
        429 | 500.. => return Err(asked.status(status, body.expose_text()).waiting(wait)),
        _ => return Err(asked.status(401, body.expose_text())),
    }
    let json: Value = serde_json::from_slice(body.expose()).unwrap_or_default();
    match json["access_token"].as_str().or_else(|| json["token"].as_str()) {
        Some(token) => Ok(Secret::new(token)),
        None => {
            Err(RegistryError::Malformed { what: what(), detail: "it contains no access_token".to_owned() })
        }
    }
}

/// Without what may be secret in it.
fn shown(realm: &Url) -> String {
    format!("{}{}", realm.origin().ascii_serialization(), realm.path())
}

fn with_query(client: &Client, realm: &Url, service: &str, scope: &str) -> RequestBuilder {
    let mut url = realm.clone();
    url.query_pairs_mut().append_pair("scope", scope);
    if !service.is_empty() {
        url.query_pairs_mut().append_pair("service", service);
    }
    client.get(url)
}

fn form(service: &str, scope: &str, token: &Secret) -> String {
    [
        ("grant_type", "refresh_token"),
        ("service", service),
        ("client_id", "hardway"),
        ("scope", scope),
        ("refresh_token", token.expose_text()),
    ]
    .map(|(key, value)| format!("{key}={}", encoded(value)))
    .join("&")
}

/// `Bearer realm="https://…",service="…"`, which may come after another challenge.
fn bearer(header: &str) -> Option<Challenge> {
    let at = header.to_ascii_lowercase().find("bearer ")?;
    let rest = &header[at + "bearer ".len()..];
    let value = |key: &str| {
        let at = rest.find(&format!("{key}=\""))? + key.len() + 2;
        rest[at..].split('"').next().map(str::to_owned)
    };
    Some(Challenge::Bearer { realm: value("realm")?, service: value("service").unwrap_or_default() })
}

fn encoded(text: &str) -> String {
    let one = |byte: u8| match byte {
        b if b.is_ascii_alphanumeric() || b"-._~".contains(&b) => char::from(b).to_string(),
        b => format!("%{b:02X}"),
    };
    text.bytes().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_names_what_is_asked_for() {
        assert_eq!(
            form("quay.io", "repository:a/b:pull", &Secret::new("t+/=")),
            "grant_type=refresh_token&service=quay.io&client_id=hardway&scope=repository%3Aa%2Fb%3Apull&refresh_token=t%2B%2F%3D"
        );
    }

    #[test]
    fn challenges_for_tokens_are_found() {
        let found = |realm: &str, service: &str| {
            Some(Challenge::Bearer { realm: realm.to_owned(), service: service.to_owned() })
        };
        assert_eq!(
            bearer("Bearer realm=\"https://quay.io/v2/auth\",service=\"quay.io\""),
            found("https://quay.io/v2/auth", "quay.io")
        );
        assert_eq!(bearer("Basic realm=\"x\", bearer realm=\"y\""), found("y", ""));
        assert_eq!(bearer("Basic realm=\"x\""), None);
        assert_eq!(bearer("Bearer service=\"x\""), None);
    }
}
