//! Taking secrets out of text that leaves this host: logs, lists, anything a bundle holds.
//!
//! Two ways at once: what is known to be secret goes wherever it stands, and what looks like one goes too. Rather too much.

use super::HIDDEN;
use crate::Secret;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

/// Knows the secrets of a cluster.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    known: Vec<Secret>,
}

/// Shorter ones are no secrets, and would be found in every other word.
const SHORTEST: usize = 6;

/// Keys whose values are secret, as they end.
const KEYS: &[&str] = &[
    "auth",
    "password",
    "passwd",
    "token",
    "token-secret",
    "identitytoken",
    "client-key-data",
    "clientsecret",
    "secretkey",
];

impl Redactor {
    /// With secrets that are known by heart.
    pub fn new(known: impl IntoIterator<Item = Secret>) -> Self {
        let mut known: Vec<Secret> =
            known.into_iter().filter(|secret| secret.expose_text().trim().len() >= SHORTEST).collect();
        // A secret that holds another goes first.
        known.sort_by_key(|secret| std::cmp::Reverse(secret.expose().len()));
        Self { known }
    }

    /// The text without secrets.
    pub fn redact(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.known {
            let secret = secret.expose_text().trim();
            if text.contains(secret) {
                text = text.replace(secret, HIDDEN);
            }
        }
        let text = without_private_keys(&text);
        let mut out = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            out += &without_logins(&without_values(&without_words(line)));
        }
        out
    }
}

/// PEM, also with `\n` for line ends, also with percent signs. A key that is cut off goes to the end of the text.
fn without_private_keys(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(begin) = rest.find("-----BEGIN") {
        let block = &rest[begin..];
        let header = block.get(..block.len().min(60)).unwrap_or(block);
        let is_private = header.contains("PRIVATE KEY") || header.contains("PRIVATE%20KEY");
        if !is_private {
            out += &rest[..begin + 10];
            rest = &rest[begin + 10..];
            continue;
        }
        out += &rest[..begin];
        out += HIDDEN;
        let end = block.find("-----END").map(|end| {
            let tail = &block[end + 8..];
            end + 8 + tail.find("-----").map_or(tail.len(), |dashes| dashes + 5)
        });
        rest = &block[end.unwrap_or(block.len())..];
    }
    out + rest
}

/// Tokens, and base64 of private keys.
fn without_words(line: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "+/=._~-".contains(c);
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        out += if is_secret_word(word) { HIDDEN } else { word };
        let gap = after.find(is_part).unwrap_or(after.len());
        out += &after[..gap];
        rest = &after[gap..];
    }
    out
}

fn is_secret_word(word: &str) -> bool {
    let is_jwt = word.starts_with("eyJ") && word.split('.').count() == 3 && word.len() > 40;
    let is_oauth = word.contains("sha256~") && word.len() > 27;
    is_jwt || is_oauth || is_encoded_key(word)
}

fn is_encoded_key(word: &str) -> bool {
    const BEGIN: &str = "LS0tLS1CRUdJTi";
    let Some(start) = word.find(BEGIN) else { return false };
    let encoded: String = word[start..].chars().take(60).collect();
    let whole = &encoded[..encoded.len() / 4 * 4];
    let decoded = STANDARD_NO_PAD.decode(whole.trim_end_matches('=')).unwrap_or_default();
    String::from_utf8_lossy(&decoded).contains("PRIVATE KEY")
}

/// `"auth": "…"`, `password=…`, `token: …`, `Bearer …`, with or without backslashes before the quotes.
fn without_values(line: &str) -> String {
    let lower = line.to_ascii_lowercase();
    let mut hidden: Vec<(usize, usize)> = Vec::new();
    for key in KEYS {
        for (at, _) in lower.match_indices(key) {
            hidden.extend(value_of(line, at + key.len()));
        }
    }
    for (at, _) in lower.match_indices("bearer ") {
        hidden.push((at + 7, end_of_value(line, at + 7)));
    }
    hidden.sort_unstable();
    let mut out = String::with_capacity(line.len());
    let mut done = 0;
    for (start, end) in hidden {
        if start < done || end < start + 3 {
            continue;
        }
        out += &line[done..start];
        out += HIDDEN;
        done = end;
    }
    out + &line[done..]
}

/// `http://me:…@proxy:3128`: what stands between the user and the host. An `@` behind the first slash is a digest's.
fn without_logins(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("://") {
        let is_end = |c: char| c.is_whitespace() || "/?#\\\"'<>".contains(c);
        let (place, tail) = after.split_at(after.find(is_end).unwrap_or(after.len()));
        out += before;
        out += "://";
        match place.rsplit_once('@').and_then(|(user, host)| Some((user.split_once(':')?, host))) {
            Some(((user, password), host)) if !password.is_empty() => {
                out += &format!("{user}:{HIDDEN}@{host}");
            }
            _ => out += place,
        }
        rest = tail;
    }
    out + rest
}

/// Where the value of a key stands that ends here.
fn value_of(line: &str, after_key: usize) -> Option<(usize, usize)> {
    let rest = line[after_key..].trim_start_matches(['\\', '"', '\'']);
    let rest = rest.trim_start_matches(' ').strip_prefix([':', '='])?;
    let value = rest.trim_start_matches(' ').trim_start_matches(['\\', '"', '\'']);
    let start = line.len() - value.len();
    (!value.starts_with(['{', '[', '<', '\n'])).then(|| (start, end_of_value(line, start)))
}

fn end_of_value(line: &str, start: usize) -> usize {
    let is_end = |c: char| c.is_whitespace() || "\\\"',;}]".contains(c);
    line[start..].find(is_end).map_or(line.len(), |end| start + end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_secret_goes() {
        let redactor = Redactor::default();
        for (text, left) in [
            (
                r#"{"auths":{"quay.io":{"auth":"bWU6aHVzaA==","email":"a@b"}}}"#,
                r#"{"auths":{"quay.io":{"auth":"<redacted>","email":"a@b"}}}"#,
            ),
            (r#"{\"auth\": \"bWU6aHVzaA==\"}"#, r#"{\"auth\": \"<redacted>\"}"#),
            ("password: hush-hush\nnext: 1\n", "password: <redacted>\nnext: 1\n"),
            ("curl -H 'Authorization: Bearer abcdefgh'", "curl -H 'Authorization: Bearer <redacted>'"),
            (
                "a\n-----BEGIN RSA PRIVATE KEY-----\nhush\n-----END RSA PRIVATE KEY-----\nb\n",
                "a\n<redacted>\nb\n",
            ),
            (
                r#"{"k":"-----BEGIN EC PRIVATE KEY-----\nhush\n-----END EC PRIVATE KEY-----\n"}"#,
                r#"{"k":"<redacted>\n"}"#,
            ),
            ("-----BEGIN PRIVATE KEY-----\nhush", "<redacted>"),
            (
                "-----BEGIN CERTIFICATE-----\nfine\n-----END CERTIFICATE-----\n",
                "-----BEGIN CERTIFICATE-----\nfine\n-----END CERTIFICATE-----\n",
            ),
            ("x LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQpodXNo y", "x <redacted> y"),
            (
                "x LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCmZpbmU= y",
                "x LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCmZpbmU= y",
            ),
            ("eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2lnbmF0dXJl ok", "<redacted> ok"),
            ("sha256~0123456789abcdefghijABCDEFGHIJ", "<redacted>"),
            ("image quay.io/a@sha256:0123", "image quay.io/a@sha256:0123"),
            ("token: {}", "token: {}"),
            (
                "HTTPS_PROXY=http://me:hush@proxy.example:3128/ and http://you@proxy:1",
                "HTTPS_PROXY=http://me:<redacted>@proxy.example:3128/ and http://you@proxy:1",
            ),
            (
                "docker://mirror:5000/a@sha256:0123 https://[fd00::1]:6443/",
                "docker://mirror:5000/a@sha256:0123 https://[fd00::1]:6443/",
            ),
        ] {
            assert_eq!(redactor.redact(text), left);
        }
    }

    #[test]
    fn what_is_known_goes_wherever_it_stands() {
        let redactor = Redactor::new([Secret::new("aaaaa-bbbbb-ccccc-ddddd"), Secret::new("abc")]);
        assert_eq!(redactor.redact("it is aaaaa-bbbbb-ccccc-ddddd, abc"), "it is <redacted>, abc");
    }
}
