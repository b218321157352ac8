//! What a client asked for: the few parts of a request that decide anything.

use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, Method, header};
use zeroize::Zeroizing;

use hardway_assets::ignition::{ConfigDigest, GENERATION_HEADER};

/// One request.
#[derive(Clone, Copy)]
pub struct ConfigRequest<'a> {
    /// GET, mostly.
    pub method: &'a Method,
    /// Without the query, as it came: percent signs are not decoded, because no path of ours has any.
    pub path: &'a str,
    /// Everything else the client said.
    pub headers: &'a HeaderMap,
    /// Where it came from.
    pub source: IpAddr,
}

impl<'a> ConfigRequest<'a> {
    /// What stands behind `Bearer ` in the Authorization header: exactly one space, exactly this case.
    pub fn bearer(&self) -> Option<&'a [u8]> {
        self.headers.get(header::AUTHORIZATION)?.as_bytes().strip_prefix(b"Bearer ")
    }

    /// The bearer token out of standard, padded base64.
    pub fn bearer_from_base64(&self) -> Option<Zeroizing<Vec<u8>>> {
        STANDARD.decode(self.bearer()?).ok().map(Zeroizing::new)
    }

    /// The config that the client's pointer was made for.
    pub fn digest(&self) -> Option<ConfigDigest> {
        self.text(GENERATION_HEADER).and_then(ConfigDigest::parse)
    }

    /// A header as text.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Whether a compressed answer is welcome: gzip is named, and not with a weight of zero.
    pub fn takes_gzip(&self) -> bool {
        let Some(list) = self.text(header::ACCEPT_ENCODING.as_str()) else { return false };
        list.split(',').any(|entry| {
            let mut parts = entry.split(';').map(str::trim);
            let refused = |parameter: &str| {
                let weight = parameter.strip_prefix("q=").and_then(|q| q.parse::<f32>().ok());
                weight.is_some_and(|q| q <= 0.0)
            };
            parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip")) && !parts.any(refused)
        })
    }

    /// Whether the answer has a body.
    pub fn is_head(&self) -> bool {
        self.method == Method::HEAD
    }

    /// Whether nothing is to be changed.
    pub fn is_read(&self) -> bool {
        self.is_head() || self.method == Method::GET
    }

    /// Who the client says it is, short and printable: `Ignition/2.24.0`.
    pub fn user_agent(&self) -> String {
        let agent = self.text(header::USER_AGENT.as_str()).unwrap_or_default();
        agent.chars().filter(|c| c.is_ascii_graphic() || *c == ' ').take(60).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn with<T>(name: &'static str, value: &[u8], look: impl FnOnce(&ConfigRequest<'_>) -> T) -> T {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_bytes(value).unwrap());
        let source = Ipv4Addr::LOCALHOST.into();
        look(&ConfigRequest { method: &Method::GET, path: "/", headers: &headers, source })
    }

    #[test]
    fn only_a_well_formed_token_is_one() {
        let token = |value: &str| {
            with("authorization", value.as_bytes(), |a| a.bearer_from_base64().map(|t| t.to_vec()))
        };
        assert_eq!(token("Bearer YWJj"), Some(b"abc".to_vec()));
        assert_eq!(token("Bearer "), Some(Vec::new()));
        for bad in [
            "bearer YWJj",
            "Bearer  YWJj",
            "Bearer YWJj ",
            "Basic YWJj",
            "Bearer",
            "Bearer YWI",
            "Bearer -_-_",
            "Bearer YWJj\tYWJj",
        ] {
            assert_eq!(token(bad), None, "{bad}");
        }
    }

    #[test]
    fn gzip_is_sent_to_who_wants_it() {
        for (value, wanted) in [
            ("identity", false),
            ("gzip", true),
            ("deflate, GZIP;q=0.5", true),
            ("gzip;q=0", false),
            ("gzip;q=0.0, br", false),
            ("gzipped", false),
            ("", false),
        ] {
            let takes = with("accept-encoding", value.as_bytes(), |asked| u8::from(asked.takes_gzip()));
            assert_eq!(takes, u8::from(wanted), "{value}");
        }
    }

    proptest! {
        #[test]
        fn no_header_breaks_the_reader(value in proptest::collection::vec(0x20_u8..=0xff, 0..200)) {
            let value: Vec<u8> = value.into_iter().filter(|b| *b != 0x7f).collect();
            for name in ["authorization", "accept-encoding", "user-agent", "hardway-generation"] {
                with(name, &value, |a| (a.bearer_from_base64(), a.takes_gzip(), a.user_agent(), a.digest()));
            }
        }
    }
}
