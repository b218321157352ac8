//! As much of a URL as the proxy rules need, with the answers of Go's `url.ParseRequestURI`.

/// Scheme and host.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Url {
    /// Lower case.
    pub(super) scheme: String,
    /// Without port, user and brackets.
    pub(super) host: String,
}

/// Why a text is no absolute URL, in Go's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum UrlError {
    #[error("net/url: invalid control character in URL")]
    ControlCharacter,
    #[error("invalid URL escape {0:?}")]
    Escape(String),
    #[error("invalid character {:?} in host name", .0.to_string())]
    HostCharacter(char),
    #[error("invalid URI for request")]
    NotAbsolute,
    #[error("missing protocol scheme")]
    NoScheme,
    #[error("invalid port {0:?} after host")]
    Port(String),
    #[error("missing ']' in host")]
    UnclosedBracket,
    #[error("net/url: invalid userinfo")]
    User,
}

impl Url {
    /// Splits the text.
    pub(super) fn parse(text: &str) -> Result<Self, UrlError> {
        if text.chars().any(|c| c < ' ' || c == '\u{7f}') {
            return Err(UrlError::ControlCharacter);
        }
        let (scheme, rest) = match text.split_once(':') {
            Some(("", _)) => return Err(UrlError::NoScheme),
            Some((scheme, rest)) if is_scheme(scheme) => (scheme.to_ascii_lowercase(), rest),
            _ => return Err(UrlError::NotAbsolute),
        };
        let Some(authority) = rest.strip_prefix("//") else {
            return Ok(Self { scheme, host: String::new() });
        };
        let authority = authority.split('?').next().unwrap_or_default();
        let (authority, path) = authority.split_once('/').unwrap_or((authority, ""));
        let (user, host_and_port) = match authority.rsplit_once('@') {
            Some((user, host)) => (user, host),
            None => ("", authority),
        };
        let host = host(host_and_port)?.to_owned();
        if !user.bytes().all(is_of_user) {
            return Err(UrlError::User);
        }
        escapes(user)?;
        escapes(path)?;
        Ok(Self { scheme, host })
    }
}

fn is_of_user(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte)
}

/// A percent sign stands before two hexadecimal digits, or it is a mistake.
fn escapes(text: &str) -> Result<(), UrlError> {
    for (at, _) in text.match_indices('%') {
        let escape: String = text[at..].chars().take(3).collect();
        if escape.len() != 3 || !escape.bytes().skip(1).all(|b| b.is_ascii_hexdigit()) {
            return Err(UrlError::Escape(escape));
        }
    }
    Ok(())
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

fn host(text: &str) -> Result<&str, UrlError> {
    let (host, port) = match text.strip_prefix('[') {
        Some(inner) => inner.split_once(']').ok_or(UrlError::UnclosedBracket)?,
        None => match text.rfind(':') {
            Some(colon) => text.split_at(colon),
            None => (text, ""),
        },
    };
    let digits = port.strip_prefix(':').unwrap_or("x");
    if !port.is_empty() && !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(UrlError::Port(port.to_owned()));
    }
    match host.chars().find(|c| " <>\"\\^`{}|%#".contains(*c)) {
        Some(c) => Err(UrlError::HostCharacter(c)),
        None => Ok(host),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_split_as_go_does() {
        let parse =
            |text| Url::parse(text).map(|url| (url.scheme, url.host)).map_err(|error| error.to_string());
        let good = |scheme: &str, host: &str| Ok((scheme.to_owned(), host.to_owned()));
        assert_eq!(parse("HTTP://user:p@ss@proxy.example.com:3128/"), good("http", "proxy.example.com"));
        assert_eq!(parse("https://[fd00::1]:8443"), good("https", "fd00::1"));
        assert_eq!(parse("proxy.example.com:3128"), good("proxy.example.com", ""));
        assert_eq!(parse("10.0.0.1:3128").unwrap_err(), "invalid URI for request");
        assert_eq!(parse("proxy").unwrap_err(), "invalid URI for request");
        assert_eq!(parse("http://a:b/").unwrap_err(), "invalid port \":b\" after host");
        assert_eq!(parse("http://a b/").unwrap_err(), "invalid character \" \" in host name");
        assert_eq!(parse("http://[::1/").unwrap_err(), "missing ']' in host");
        assert_eq!(parse("http://u:p%40s%3a@a/b%20c?d=%zz"), good("http", "a"));
        assert_eq!(parse("http://u:p%zz@a/").unwrap_err(), "invalid URL escape \"%zz\"");
        assert_eq!(parse("http://u:p%@a/").unwrap_err(), "invalid URL escape \"%\"");
        assert_eq!(parse("http://u:p<a@a/").unwrap_err(), "net/url: invalid userinfo");
        assert_eq!(parse("http://a/%é").unwrap_err(), "invalid URL escape \"%é\"");
    }
}
