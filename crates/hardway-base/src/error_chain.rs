//! An error with its causes: in one sentence, and the one at the bottom.

use std::error::Error;
use std::io;

/// An error with all of its causes. Libraries' errors leave their sources out of their words, and some repeat them: kube's
/// nest (`ServiceError: client error (Connect): tcp connect error: Connection refused`). What a layer shows of the next is not
/// said again, and layers that only name themselves are left out.
pub fn error_sentence(error: &dyn Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let text = error.to_string();
        if !parts.iter().any(|part| part.contains(&text)) {
            parts.push(text);
        }
        next = error.source();
    }
    let text = LAYERS.iter().fold(parts.join(": "), |text, (layer, word)| text.replace(layer, word));
    without_status(&text)
}

/// Without the whole answer of an API server, which kube's error shows behind its message and reason.
fn without_status(text: &str) -> String {
    match text.split_once(" (Status {").map(|(before, rest)| (before, rest.split_once(" })"))) {
        Some((before, Some((_, after)))) => format!("{before}{after}"),
        _ => text.to_owned(),
    }
}

/// What layers of HTTP clients say before the cause, and what is said instead.
const LAYERS: [(&str, &str); 6] = [
    ("ApiError: ", ""),
    ("ServiceError: ", ""),
    ("client error (Connect): ", ""),
    ("client error (SendRequest): ", ""),
    ("tcp connect error: ", ""),
    ("dns error: failed to lookup address information: ", "looking up its name: "),
];

/// The error of that type at the bottom. An `io::Error` hides what it wraps from its `source()`.
pub fn error_cause<'e, E: Error + 'static>(error: &'e (dyn Error + 'static)) -> Option<&'e E> {
    let inner: Option<&(dyn Error + 'static)> = match error.downcast_ref::<io::Error>() {
        Some(error) => error.get_ref().map(|inner| inner as &(dyn Error + 'static)),
        None => error.source(),
    };
    inner.and_then(error_cause).or_else(|| error.downcast_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Layer(&'static str, #[source] Option<Box<Layer>>);

    fn nest(words: &[&'static str]) -> Layer {
        let under = if words.len() > 1 { Some(Box::new(nest(&words[1..]))) } else { None };
        Layer(words[0], under)
    }

    #[test]
    fn every_cause_is_said_once() {
        assert_eq!(error_sentence(&nest(&["alone"])), "alone");
        assert_eq!(error_sentence(&nest(&["not sent", "no route"])), "not sent: no route");
        assert_eq!(
            error_sentence(&nest(&["not sent: no route", "no route", "odd"])),
            "not sent: no route: odd"
        );
        let of_kube = [
            "ServiceError: client error (Connect)",
            "client error (Connect)",
            "dns error",
            "failed to lookup address information: no such name",
        ];
        assert_eq!(error_sentence(&nest(&of_kube)), "looking up its name: no such name");
        let of_server =
            "ApiError: not found: NotFound (Status { status: Some(Failure), code: 404, details: None })";
        assert_eq!(error_sentence(&nest(&[of_server])), "not found: NotFound");
    }

    #[derive(Debug, thiserror::Error)]
    #[error("not sent")]
    struct NotSent(#[source] io::Error);

    #[test]
    fn what_an_io_error_wraps_is_found() {
        let error = NotSent(io::Error::other(io::Error::from(io::ErrorKind::ConnectionRefused)));
        let found = error_cause::<io::Error>(&error).unwrap();
        assert_eq!(found.kind(), io::ErrorKind::ConnectionRefused);
        assert!(error_cause::<std::fmt::Error>(&error).is_none());
    }
}
