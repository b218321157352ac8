//! Which token servers a credential may be sent to.
//!
//! A registry names its token server (distribution `docs/spec/auth/token.md`) and may name any. podman and oc send the login there
//! whatever it says (containers/image `docker/docker_client.go`). So whoever answers for a registry, a mirror or something on the way
//! to it, could have a password or an identity token sent to himself, or in the clear past everybody. Here it goes to the registry's
//! own host, on any port; to a token server that the registry is known to have; or to a host that the pull secret has the very same
//! login for, which is how a person says that it belongs there. It goes in the clear only where the registry itself is asked so.

use std::net::IpAddr;

use reqwest::Url;

use super::Connection;
use crate::credentials::Credential;

/// Why a credential is not sent to a token server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RealmFault {
    /// Not a URL of HTTP.
    #[error("which is not the URL of a token server")]
    NotUrl,
    /// Not a host that the credential is for.
    #[error("which is a different host than the login is for")]
    OtherHost,
    /// `http:`.
    #[error("where anyone on the network could read it")]
    Plain,
}

/// Registries whose token servers have other names.
const KNOWN: [(&str, &str); 5] = [
    ("docker.io", "auth.docker.io"),
    ("registry-1.docker.io", "auth.docker.io"),
    ("registry.gitlab.com", "gitlab.com"),
    ("registry.redhat.io", "sso.redhat.com"),
    ("registry.connect.redhat.com", "sso.redhat.com"),
];

/// The address of a token server that may be given a credential.
pub(super) fn permitted(
    realm: &str,
    registry: &str,
    credential: &Credential,
    connection: &Connection,
) -> Result<Url, RealmFault> {
    let url = Url::parse(realm).map_err(|_| RealmFault::NotUrl)?;
    let (Some(host), true) = (url.host_str(), ["http", "https"].contains(&url.scheme())) else {
        return Err(RealmFault::NotUrl);
    };
    let own = Url::parse(&format!("https://{registry}")).map_err(|_| RealmFault::NotUrl)?;
    let own = own.host_str().unwrap_or_default();
    let with_port = url.port_or_known_default().map(|port| format!("{host}:{port}"));
    let is_said = |place: &str| connection.credentials.has(place, credential);
    let is_theirs = host == own || KNOWN.contains(&(own, host));
    if !is_theirs && !is_said(host) && !with_port.as_deref().is_some_and(is_said) {
        return Err(RealmFault::OtherHost);
    }
    let is_private = connection.scheme(registry) == "http" || is_loopback(own);
    if url.scheme() == "http" && !(is_private && (host == own || is_loopback(host))) {
        return Err(RealmFault::Plain);
    }
    Ok(url)
}

/// The address of a token server that may be asked without a login. Its answer is handed to the registry. So whoever answers for the registry
/// must not choose one that only this host can ask, or that answers without proof of who it is: an address in the clear is the registry's own.
pub(super) fn anonymous(realm: &str, registry: &str, connection: &Connection) -> Result<Url, RealmFault> {
    let url = Url::parse(realm).map_err(|_| RealmFault::NotUrl)?;
    let (Some(host), true) = (url.host_str(), ["http", "https"].contains(&url.scheme())) else {
        return Err(RealmFault::NotUrl);
    };
    let own = Url::parse(&format!("https://{registry}")).map_err(|_| RealmFault::NotUrl)?;
    let own = own.host_str().unwrap_or_default();
    let is_private = connection.scheme(registry) == "http" || is_loopback(own);
    if host == own || is_loopback(own) && is_loopback(host) {
        return if url.scheme() == "https" || is_private { Ok(url) } else { Err(RealmFault::Plain) };
    }
    if url.scheme() == "http" {
        return Err(RealmFault::Plain);
    }
    if host == "localhost" || is_address(host) { Err(RealmFault::OtherHost) } else { Ok(url) }
}

fn is_address(host: &str) -> bool {
    host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok()
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credentials::Credentials;
    use hardway_base::Secret;

    fn judged(registry: &str, realm: &str) -> Result<(), RealmFault> {
        let auths = r#"{"auths": {"quay.io": {"identitytoken": "t"}, "mirror.example.com": {"identitytoken": "u"},
                        "login.example.com": {"identitytoken": "u"}, "sso.example.com:8443": {"identitytoken": "u"}}}"#;
        let connection = Connection {
            credentials: Credentials::read(&Secret::new(auths)).unwrap(),
            plain_http: vec!["lab.example.com:5000".to_owned()],
            ..Connection::default()
        };
        let token = if registry.starts_with("quay") { "t" } else { "u" };
        let credential = Credential::IdentityToken(Secret::new(token));
        permitted(realm, registry, &credential, &connection).map(|_| ())
    }

    #[test]
    fn a_credential_goes_where_it_belongs() {
        for (registry, realm) in [
            ("quay.io", "https://quay.io/v2/auth"),
            (
                "registry.redhat.io",
                "https://registry.redhat.io/auth/realms/rhcc/protocol/redhat-docker-v2/auth",
            ),
            ("registry.redhat.io", "https://sso.redhat.com/auth/realms/rhcc/protocol/redhat-docker-v2/auth"),
            ("docker.io", "https://auth.docker.io/token"),
            ("registry.gitlab.com", "https://gitlab.com/jwt/auth"),
            ("mirror.example.com:8443", "https://mirror.example.com:5001/auth"),
            ("mirror.example.com", "https://login.example.com/auth"),
            ("mirror.example.com", "https://sso.example.com:8443/auth"),
            ("10.0.0.7:5000", "https://10.0.0.7:5001/auth"),
            ("127.0.0.1:5000", "http://127.0.0.1:5001/auth"),
            ("[::1]:5000", "http://[::1]:5001/auth"),
            ("lab.example.com:5000", "http://lab.example.com:5001/auth"),
        ] {
            assert_eq!(judged(registry, realm), Ok(()), "{registry} {realm}");
        }
    }

    /// Whoever answers for a registry could have this host ask what only it can, and get the answer.
    #[test]
    fn without_a_login_no_address_of_the_inside_is_asked() {
        use RealmFault::{NotUrl, OtherHost, Plain};
        let connection =
            Connection { plain_http: vec!["lab.example.com:5000".to_owned()], ..Connection::default() };
        for (registry, realm, judged) in [
            ("quay.io", "https://quay.io/v2/auth", Ok(())),
            ("ghcr.io", "https://auth.example.com/token", Ok(())),
            ("10.0.0.7:5000", "https://10.0.0.7:5001/auth", Ok(())),
            ("127.0.0.1:5000", "http://127.0.0.1:5001/auth", Ok(())),
            ("127.0.0.1:5000", "http://localhost:5001/auth", Ok(())),
            ("lab.example.com:5000", "http://lab.example.com:5001/auth", Ok(())),
            ("quay.io", "http://quay.io/v2/auth", Err(Plain)),
            ("quay.io", "http://auth.example.com/token", Err(Plain)),
            ("mirror.example.com", "http://127.0.0.1:8080/secret", Err(Plain)),
            ("lab.example.com:5000", "http://127.0.0.1:8080/secret", Err(Plain)),
            ("mirror.example.com", "https://127.0.0.1:8080/secret", Err(OtherHost)),
            ("mirror.example.com", "https://localhost/secret", Err(OtherHost)),
            ("mirror.example.com", "https://[::1]/secret", Err(OtherHost)),
            ("mirror.example.com", "https://169.254.169.254/latest", Err(OtherHost)),
            ("mirror.example.com", "file:///etc/passwd", Err(NotUrl)),
        ] {
            assert_eq!(anonymous(realm, registry, &connection).map(drop), judged, "{registry} {realm}");
        }
    }

    #[test]
    fn and_nowhere_else() {
        use RealmFault::{NotUrl, OtherHost, Plain};
        for (registry, realm, why) in [
            ("quay.io", "https://quay.io.evil.example/auth", OtherHost),
            ("quay.io", "https://evil.io/auth", OtherHost),
            ("quay.io", "https://evilquay.io/auth", OtherHost),
            ("quay.io", "https://sub.quay.io/auth", OtherHost),
            ("quay.io", "https://quay.io@evil.example/auth", OtherHost),
            // The pull secret has another login for it.
            ("quay.io", "https://login.example.com/auth", OtherHost),
            ("mirror.example.com", "https://sso.example.com/auth", OtherHost),
            ("docker.io", "https://auth.docker.io.example.com/token", OtherHost),
            ("quay.io", "https://auth.docker.io/token", OtherHost),
            ("mirror.example.com", "http://127.0.0.1/auth", OtherHost),
            ("quay.io", "http://quay.io/v2/auth", Plain),
            ("docker.io", "http://auth.docker.io/token", Plain),
            ("mirror.example.com", "http://login.example.com/auth", Plain),
            ("lab.example.com:5000", "http://login.example.com/auth", Plain),
            ("10.0.0.7:5000", "http://10.0.0.7:5001/auth", Plain),
            ("quay.io", "ftp://quay.io/auth", NotUrl),
            ("quay.io", "//quay.io/auth", NotUrl),
        ] {
            assert_eq!(judged(registry, realm), Err(why), "{registry} {realm}");
        }
    }
}
