//! Addresses as they may be shown: install-config takes proxies with a password in them, and mirrors may have one too.

use super::HIDDEN;

/// Any text, with the password of every address in it hidden.
pub fn without_passwords(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        out.push_str(before);
        out.push_str("://");
        let (shown, tail) = split_user(after);
        out += &shown;
        rest = tail;
    }
    out + rest
}

/// The same of a value that should be an address, and may have been written without a scheme.
pub fn without_password(text: &str) -> String {
    if text.contains("://") {
        return without_passwords(text);
    }
    let (shown, tail) = split_user(text);
    shown + tail
}

/// What may be shown of the user part, and what follows it.
fn split_user(address: &str) -> (String, &str) {
    // A single quote is no end: passwords may hold one. Behind it, at worst a little more is hidden.
    let is_end = |c: char| c.is_whitespace() || c == '"';
    let address_end = address.find(is_end).unwrap_or(address.len());
    let host_end = address[..address_end].find('/').unwrap_or(address_end);
    // A password may hold a slash that should have been escaped: better to hide a port and a path than to show one.
    let end = if address[..host_end].contains('@') || !address[..host_end].contains(':') {
        host_end
    } else {
        address_end
    };
    match address[..end].rfind('@') {
        None => (String::new(), address),
        Some(at) => match address[..at].split_once(':') {
            Some((user, _)) => (format!("{user}:{HIDDEN}"), &address[at..]),
            // Alone, it may be a token.
            None => (HIDDEN.to_owned(), &address[at..]),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_hidden_and_nothing_else() {
        for (text, shown) in [
            ("http://me:hush@h:1", "http://me:<redacted>@h:1"),
            ("http://me:hu@sh@h:1", "http://me:<redacted>@h:1"),
            ("http://me:hu/sh@h:1", "http://me:<redacted>@h:1"),
            ("http://me:hu'sh,x@h:1", "http://me:<redacted>@h:1"),
            (
                "export P='http://me:hush@h:1'\nexport Q='http://a:b@c'",
                "export P='http://me:<redacted>@h:1'\nexport Q='http://a:<redacted>@c'",
            ),
            ("http://t0ken@h:1", "http://<redacted>@h:1"),
            ("http://h:1", "http://h:1"),
            ("http://proxy/a@b", "http://proxy/a@b"),
            ("a http://a:b@c, https://d:e@f", "a http://a:<redacted>@c, https://d:<redacted>@f"),
            (
                "https://me:pass@word@p:3128/x?u=http://a:b@c",
                "https://me:<redacted>@p:3128/x?u=http://a:<redacted>@c",
            ),
        ] {
            assert_eq!(without_passwords(text), shown);
            assert_eq!(without_password(text), shown);
        }
    }

    #[test]
    fn only_what_should_be_an_address_needs_no_scheme() {
        assert_eq!(without_password("me:hush@h"), "me:<redacted>@h");
        assert_eq!(without_passwords("quay.io/a@sha256:0"), "quay.io/a@sha256:0");
    }
}
