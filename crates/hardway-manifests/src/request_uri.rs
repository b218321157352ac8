//! URLs as Go's `net/url.ParseRequestURI` reads them: what the format `uri` and CEL's `isURL` ask for.

/// A URL or an absolute path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestUri {
    pub(crate) scheme: String,
    /// With its port.
    pub(crate) host: String,
    pub(crate) path: String,
    pub(crate) query: String,
    text: String,
}

impl RequestUri {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.is_empty() || text.bytes().any(|b| b < 0x20 || b == 0x7f) {
            return None;
        }
        let (scheme, rest) = scheme(text)?;
        // A request has no fragment: `#` belongs to the path.
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, query),
            None => (rest, ""),
        };
        let opaque = !scheme.is_empty() && !rest.starts_with('/');
        if opaque {
            return Some(Self {
                scheme,
                host: String::new(),
                path: String::new(),
                query: query.to_owned(),
                text: text.to_owned(),
            });
        }
        if !rest.starts_with('/') {
            return None;
        }
        let (host, path) =
            match rest.strip_prefix("//").filter(|_| !scheme.is_empty() || !rest.starts_with("///")) {
                Some(rest) => {
                    let end = rest.find('/').unwrap_or(rest.len());
                    (authority(&rest[..end])?, &rest[end..])
                }
                None => (String::new(), rest),
            };
        escapes_are_whole(path).then(|| Self {
            scheme,
            host,
            path: path.to_owned(),
            query: query.to_owned(),
            text: text.to_owned(),
        })
    }

    pub(crate) fn host_name(&self) -> &str {
        let host = split_port(&self.host).0;
        host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
    }

    pub(crate) fn port(&self) -> &str {
        split_port(&self.host).1
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

fn split_port(host: &str) -> (&str, &str) {
    match host.rfind(':').filter(|colon| !host[*colon..].contains(']')) {
        Some(colon) => (&host[..colon], &host[colon + 1..]),
        None => (host, ""),
    }
}

/// Empty where there is none; nothing where a colon comes first, or one stands where no scheme can be.
fn scheme(text: &str) -> Option<(String, &str)> {
    for (place, c) in text.char_indices() {
        match c {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if place > 0 => {}
            ':' if place > 0 => return Some((text[..place].to_lowercase(), &text[place + 1..])),
            ':' => return None,
            _ => break,
        }
    }
    Some((String::new(), text))
}

fn authority(text: &str) -> Option<String> {
    let (user, host) = match text.rsplit_once('@') {
        Some((user, host)) => (user, host),
        None => ("", text),
    };
    let may_be_user = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
    if !user.chars().all(may_be_user) {
        return None;
    }
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => {
            let (_, port) = rest.split_once(']')?;
            (&host[..host.len() - port.len()], port.strip_prefix(':').or(port.is_empty().then_some(""))?)
        }
        None => split_port(host),
    };
    if !port.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let may_be_host =
        |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "-_.~!$&'()*+,;=:[]<>\"%".contains(c);
    (name.chars().all(may_be_host) && escapes_are_whole(name)).then(|| host.to_owned())
}

/// `%2F` is, `%zz` is not.
fn escapes_are_whole(text: &str) -> bool {
    let mut parts = text.split('%');
    parts.next();
    parts.all(|part| part.len() >= 2 && part.as_bytes()[..2].iter().all(u8::is_ascii_hexdigit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read_as_go_reads_them() {
        let uri = RequestUri::parse("https://user@example.com:8443/a/b?c=d").unwrap();
        assert_eq!((uri.scheme.as_str(), uri.host.as_str()), ("https", "example.com:8443"));
        assert_eq!(
            (uri.host_name(), uri.port(), uri.path.as_str(), uri.query.as_str()),
            ("example.com", "8443", "/a/b", "c=d")
        );
        assert_eq!(RequestUri::parse("http://[::1]:80/").unwrap().host_name(), "::1");
        for bad in ["", "example.com", "http://a b/", "http://a:b/", ":x", "/%zz", "http://a\n"] {
            assert_eq!(RequestUri::parse(bad), None, "{bad}");
        }
    }
}
