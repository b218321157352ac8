//! Trading an identity token for an access token (distribution `docs/spec/auth/oauth.md`).

use hardway_base::Secret;
use serde_json::Value;

use super::RegistryError;
use super::translation::{Asked, transport};
use crate::pull_spec::PullSpec;

/// What a registry answers to a request without credentials.
#[derive(Debug, PartialEq, Eq)]
struct Challenge {
    realm: String,
    service: String,
}

/// An access token for one repository. The registry's token server is asked as the registry says.
pub(crate) async fn access_token(
    client: &reqwest::Client,
    scheme: &str,
    asked: &Asked<'_>,
    actions: &str,
    token: &Secret,
) -> Result<Secret, RegistryError> {
    let registry = asked.image.registry();
    let error = |error: reqwest::Error| transport(&registry, &error);
    let answer = client.get(format!("{scheme}://{registry}/v2/")).send().await.map_err(error)?;
    let header = answer.headers().get("www-authenticate").and_then(|value| value.to_str().ok());
    let Some(challenge) = header.and_then(challenge) else {
        return Err(asked.status(401, "it takes no tokens, but the pull secret has one for it"));
    };
    let answer = client
        .post(&challenge.realm)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(form(asked.image, &challenge, actions, token))
        .send()
        .await
        .map_err(error)?;
    let status = answer.status().as_u16();
    let body = Secret::new(answer.bytes().await.map_err(error)?.to_vec());
    if status != 200 {
        return Err(asked.status(if status == 400 { 401 } else { status }, body.expose_text()));
    }
    let json: Value = serde_json::from_slice(body.expose()).unwrap_or_default();
    match json["access_token"].as_str().or_else(|| json["token"].as_str()) {
        Some(token) => Ok(Secret::new(token)),
        None => Err(RegistryError::Malformed {
            what: format!("the answer of the token server {}", challenge.realm),
            detail: "it holds no access_token".to_owned(),
        }),
    }
}

fn form(image: &PullSpec, challenge: &Challenge, actions: &str, token: &Secret) -> String {
    let scope = format!("repository:{}:{actions}", image.repository);
    [
        ("grant_type", "refresh_token"),
        ("service", &challenge.service),
        ("client_id", "hardway"),
        ("scope", &scope),
        ("refresh_token", token.expose_text()),
    ]
    .map(|(key, value)| format!("{key}={}", encoded(value)))
    .join("&")
}

/// `Bearer realm="https://…",service="…"`.
fn challenge(header: &str) -> Option<Challenge> {
    let rest = header.trim().strip_prefix("Bearer ").or_else(|| header.trim().strip_prefix("bearer "))?;
    let value = |key: &str| {
        let at = rest.find(&format!("{key}=\""))? + key.len() + 2;
        rest[at..].split('"').next().map(str::to_owned)
    };
    Some(Challenge { realm: value("realm")?, service: value("service").unwrap_or_default() })
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
        let challenge = challenge("Bearer realm=\"https://quay.io/v2/auth\",service=\"quay.io\"").unwrap();
        assert_eq!(challenge.realm, "https://quay.io/v2/auth");
        let image = "quay.io/a/b:1".parse().unwrap();
        assert_eq!(
            form(&image, &challenge, "pull", &Secret::new("t+/=")),
            "grant_type=refresh_token&service=quay.io&client_id=hardway&scope=repository%3Aa%2Fb%3Apull&refresh_token=t%2B%2F%3D"
        );
    }

    #[test]
    fn basic_is_no_challenge_for_tokens() {
        assert_eq!(challenge("Basic realm=\"x\""), None);
        assert_eq!(challenge("Bearer service=\"x\""), None);
    }
}
