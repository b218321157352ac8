//! Who may ask.
//!
//! A page on loopback can be asked by every other page that the same browser has open. Those cannot read the answer, unless
//! their own name is made to lead here (DNS rebinding): then they come with that name as Host. And a page elsewhere that
//! makes the browser ask says so with Origin or Sec-Fetch-Site.

use std::net::{IpAddr, SocketAddr};

use hardway_base::Secret;
use http::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN};
use http::{HeaderMap, HeaderValue};
use sha2::{Digest as _, Sha256};

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The rules of one server.
#[derive(Debug)]
pub(crate) struct Guard {
    address: SocketAddr,
    scheme: &'static str,
    token: Option<Secret>,
}

/// Why somebody is turned away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Host,
    Origin,
    Token,
}

impl Refusal {
    pub(crate) fn sentence(self) -> &'static str {
        match self {
            Self::Host => "This page is not served under that name: use the address that hardway printed.\n",
            Self::Origin => "Another page may not ask for this one.\n",
            Self::Token => {
                "The token is missing or wrong: open the whole address that hardway printed, including the part after the #.\n"
            }
        }
    }
}

impl Guard {
    /// Of a server that listens there.
    pub(crate) fn new(address: SocketAddr, is_tls: bool, token: Option<Secret>) -> Self {
        Self { address, scheme: if is_tls { "https" } else { "http" }, token }
    }

    /// Whether a request may be answered. The page itself holds nothing: only what it shows takes the token.
    pub(crate) fn check(&self, headers: &HeaderMap, takes_token: bool) -> Result<(), Refusal> {
        // Twice is once too often: who knows which one counts to others.
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok()).filter(|_| hosts.next().is_none());
        let host = host.filter(|host| self.is_here(host)).ok_or(Refusal::Host)?;
        if let Some(origin) = headers.get(ORIGIN)
            && origin.to_str().ok() != Some(format!("{}://{host}", self.scheme).as_str())
        {
            return Err(Refusal::Origin);
        }
        let site = headers.get(FETCH_SITE).map(HeaderValue::as_bytes);
        // A person may follow a link to the page from anywhere; what it shows is asked for by the page alone.
        let is_foreign = site.is_some_and(|site| site != b"same-origin" && site != b"none");
        if is_foreign && takes_token {
            return Err(Refusal::Origin);
        }
        match &self.token {
            Some(token) if takes_token && !is_shown(token, headers) => Err(Refusal::Token),
            _ => Ok(()),
        }
    }

    /// A number cannot be made to lead elsewhere, a name can.
    fn is_here(&self, host: &str) -> bool {
        let default = if self.scheme == "https" { 443 } else { 80 };
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
            _ => (host, Some(default)),
        };
        if port != Some(self.address.port()) {
            return false;
        }
        let ours = self.address.ip();
        if name == "localhost" {
            return ours.is_loopback() || ours.is_unspecified();
        }
        let number = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        number.parse::<IpAddr>().is_ok_and(|asked| ours.is_unspecified() || asked == ours)
    }
}

/// Compared by their digests: how long that takes tells nothing.
fn is_shown(token: &Secret, headers: &HeaderMap) -> bool {
    let shown = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let shown = shown.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    Sha256::digest(shown.as_bytes()) == Sha256::digest(token.expose())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(rows: &[(&'static str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in rows {
            map.append(*name, HeaderValue::from_str(value).unwrap());
        }
        map
    }

    fn check(guard: &Guard, rows: &[(&'static str, &str)]) -> Result<(), Refusal> {
        guard.check(&headers(rows), true)
    }

    #[test]
    fn only_its_own_address_is_a_host() {
        let guard = Guard::new("127.0.0.1:8000".parse().unwrap(), false, None);
        for good in ["127.0.0.1:8000", "localhost:8000"] {
            assert_eq!(check(&guard, &[("host", good)]), Ok(()), "{good}");
        }
        let bad = [
            "evil.example:8000",
            "127.0.0.1",
            "127.0.0.1:80",
            "127.0.0.2:8000",
            "localhost.evil.example:8000",
            "localhost",
            "[::1]:8000",
            "",
            ":8000",
            "127.0.0.1:8000:8000",
        ];
        for bad in bad {
            assert_eq!(check(&guard, &[("host", bad)]), Err(Refusal::Host), "{bad}");
        }
        assert_eq!(check(&guard, &[]), Err(Refusal::Host));
        assert_eq!(
            check(&guard, &[("host", "127.0.0.1:8000"), ("host", "127.0.0.1:8000")]),
            Err(Refusal::Host)
        );
        let six = Guard::new("[::1]:8000".parse().unwrap(), false, None);
        assert_eq!(check(&six, &[("host", "[::1]:8000")]), Ok(()));
        assert_eq!(check(&six, &[("host", "[::2]:8000")]), Err(Refusal::Host));
        let any = Guard::new("0.0.0.0:443".parse().unwrap(), true, None);
        assert_eq!(check(&any, &[("host", "192.0.2.7")]), Ok(()));
        assert_eq!(check(&any, &[("host", "evil.example")]), Err(Refusal::Host));
    }

    #[test]
    fn another_page_is_turned_away() {
        let guard = Guard::new("127.0.0.1:8000".parse().unwrap(), false, None);
        let host = ("host", "127.0.0.1:8000");
        assert_eq!(check(&guard, &[host, ("origin", "http://127.0.0.1:8000")]), Ok(()));
        for bad in ["http://evil.example", "null", "https://127.0.0.1:8000", "http://localhost:8000"] {
            assert_eq!(check(&guard, &[host, ("origin", bad)]), Err(Refusal::Origin), "{bad}");
        }
        assert_eq!(check(&guard, &[host, ("sec-fetch-site", "same-origin")]), Ok(()));
        for bad in ["cross-site", "same-site"] {
            assert_eq!(check(&guard, &[host, ("sec-fetch-site", bad)]), Err(Refusal::Origin), "{bad}");
            let page = headers(&[host, ("sec-fetch-site", bad)]);
            assert_eq!(guard.check(&page, false), Ok(()), "a link leads to the page");
        }
    }

    #[test]
    fn a_token_is_asked_for_what_is_shown() {
        let guard = Guard::new("192.0.2.7:8000".parse().unwrap(), true, Some(Secret::new("s3cret-token")));
        let host = ("host", "192.0.2.7:8000");
        assert_eq!(guard.check(&headers(&[host]), false), Ok(()));
        assert_eq!(check(&guard, &[host, ("authorization", "Bearer s3cret-token")]), Ok(()));
        for bad in ["Bearer s3cret-toke", "Bearer ", "s3cret-token", "Basic s3cret-token"] {
            assert_eq!(check(&guard, &[host, ("authorization", bad)]), Err(Refusal::Token), "{bad}");
        }
        assert_eq!(check(&guard, &[host]), Err(Refusal::Token));
    }
}
