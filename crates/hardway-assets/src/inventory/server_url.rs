//! Where hosts reach the ignition server.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use serde::{Serialize, Serializer};

/// `ignitionServer.url`: `https://192.168.126.1:22624`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerUrl {
    /// Whether the way there is encrypted.
    pub is_https: bool,
    /// A name or an address, without brackets.
    pub host: String,
    /// The port that is connected to.
    pub port: u16,
}

/// Why a text is no address of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServerUrlError {
    /// Brackets around something else.
    #[error("has brackets around something that is not an IPv6 address")]
    Brackets,
    /// There is no host, or one with impossible characters.
    #[error("has no valid host")]
    Host,
    /// A path, a query or a user stands beside the host.
    #[error("must be a server only, without a path, a query or a user")]
    MoreThanServer,
    /// There is no `://`.
    #[error("must be https://HOST[:PORT]")]
    NotAbsolute,
    /// Zero, or not a number.
    #[error("has no valid port")]
    Port,
    /// Neither http nor https.
    #[error("must begin with https:// or http://")]
    Scheme,
    /// A bracket is not closed.
    #[error("has a [ without a ]")]
    UnclosedBracket,
}

/// The port hosts ask at unless another is named. The release's own server takes 22623.
pub const DEFAULT_PORT: u16 = 22624;

impl ServerUrl {
    /// The server at an address, encrypted, at the usual port.
    pub fn at(address: IpAddr) -> Self {
        Self { is_https: true, host: address.to_string(), port: DEFAULT_PORT }
    }

    /// Reads `http[s]://HOST[:PORT]`.
    pub fn parse(text: &str) -> Result<Self, ServerUrlError> {
        let (scheme, rest) = text.split_once("://").ok_or(ServerUrlError::NotAbsolute)?;
        let is_https = match scheme {
            "https" => true,
            "http" => false,
            _ => return Err(ServerUrlError::Scheme),
        };
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        if authority.contains(['/', '?', '#', '@']) {
            return Err(ServerUrlError::MoreThanServer);
        }
        let (host, port) = match authority.strip_prefix('[') {
            Some(inner) => {
                let (host, port) = inner.split_once(']').ok_or(ServerUrlError::UnclosedBracket)?;
                host.parse::<Ipv6Addr>().map_err(|_| ServerUrlError::Brackets)?;
                (host, port)
            }
            None => authority.find(':').map_or((authority, ""), |colon| authority.split_at(colon)),
        };
        if host.is_empty() || !host.bytes().all(|b| b.is_ascii_alphanumeric() || b".-:".contains(&b)) {
            return Err(ServerUrlError::Host);
        }
        let port = match port.strip_prefix(':') {
            None if port.is_empty() => DEFAULT_PORT,
            Some(digits) => digits.parse().ok().filter(|port| *port != 0).ok_or(ServerUrlError::Port)?,
            None => return Err(ServerUrlError::Port),
        };
        Ok(Self { is_https, host: host.to_owned(), port })
    }

    /// Its host as an address, if it is one.
    pub fn address(&self) -> Option<IpAddr> {
        self.host.parse().ok()
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_https { "https" } else { "http" };
        match self.address() {
            Some(IpAddr::V6(address)) => write!(f, "{scheme}://[{address}]:{}", self.port),
            _ => write!(f, "{scheme}://{}:{}", self.host, self.port),
        }
    }
}

impl Serialize for ServerUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_ones_are_written_out_in_full() {
        for (text, full) in [
            ("https://10.0.0.1", "https://10.0.0.1:22624"),
            ("http://10.0.0.1:80/", "http://10.0.0.1:80"),
            ("https://install.example.com:443", "https://install.example.com:443"),
            ("https://[fd00::1]", "https://[fd00::1]:22624"),
        ] {
            assert_eq!(ServerUrl::parse(text).unwrap().to_string(), full);
            assert_eq!(ServerUrl::parse(full).unwrap().to_string(), full);
        }
    }

    #[test]
    fn others_are_refused_with_a_reason() {
        for (text, reason) in [
            ("10.0.0.1:22624", "must be https://HOST[:PORT]"),
            ("ftp://10.0.0.1", "must begin with https:// or http://"),
            ("https://10.0.0.1/ignition", "must be a server only, without a path, a query or a user"),
            ("https://me:pass@10.0.0.1", "must be a server only, without a path, a query or a user"),
            ("https://", "has no valid host"),
            ("https://a b", "has no valid host"),
            ("https://10.0.0.1:0", "has no valid port"),
            ("https://10.0.0.1:99999", "has no valid port"),
            ("https://fd00::1", "has no valid port"),
            ("https://[fd00::1", "has a [ without a ]"),
            ("https://[a]", "has brackets around something that is not an IPv6 address"),
        ] {
            assert_eq!(ServerUrl::parse(text).unwrap_err().to_string(), reason, "{text}");
        }
    }
}
