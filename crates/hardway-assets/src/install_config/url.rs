//! As much of a URL as the proxy rules need, with the answers of Go's `url.ParseRequestURI`.

/// Scheme and host.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Url {
    /// Lower case.
    pub(super) scheme: String,
    /// Without port, user and brackets.
    pub(super) host: String,
}

impl Url {
    /// Splits the text, or says why it is no absolute URL.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.chars().any(|c| c < ' ' || c == '\u{7f}') {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        let (scheme, rest) = match text.split_once(':') {
            Some(("", _)) => return Err("missing protocol scheme".to_owned()),
            Some((scheme, rest)) if is_scheme(scheme) => (scheme.to_ascii_lowercase(), rest),
            _ => return Err("invalid URI for request".to_owned()),
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
            return Err("net/url: invalid userinfo".to_owned());
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
fn escapes(text: &str) -> Result<(), String> {
    for (at, _) in text.match_indices('%') {
        let escape: String = text[at..].chars().take(3).collect();
        if escape.len() != 3 || !escape.bytes().skip(1).all(|b| b.is_ascii_hexdigit()) {
            return Err(format!("invalid URL escape {escape:?}"));
        }
    }
    Ok(())
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

fn host(text: &str) -> Result<&str, String> {
    let (host, port) = match text.strip_prefix('[') {
        Some(inner) => inner.split_once(']').ok_or("missing ']' in host")?,
        None => match text.rfind(':') {
            Some(colon) => text.split_at(colon),
            None => (text, ""),
        },
    };
    let digits = port.strip_prefix(':').unwrap_or("x");
    if !port.is_empty() && !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!("invalid port {port:?} after host"));
    }
    match host.chars().find(|c| " <>\"\\^`{}|%#".contains(*c)) {
        Some(c) => Err(format!("invalid character {:?} in host name", c.to_string())),
        None => Ok(host),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_split_as_go_does() {
        let parse = |text| Url::parse(text).map(|url| (url.scheme, url.host));
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
