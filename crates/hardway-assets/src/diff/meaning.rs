//! What a piece of a file means: with what differs by chance taken out, and secrets hidden.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

use crate::pki::CertificateFacts;
use hardway_base::redaction::without_passwords;

/// A value to compare. Whatever counts as absent (null, empty text, lists and objects) has no meaning at all and is
/// left out by the reader, so that `status: {}` and no status are the same.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Meaning {
    /// Certificates in the order of their file. `given` ones come from the user and must be the very same on both
    /// sides; the others are drawn anew by every run and are compared by what they say.
    Certificates { facts: Vec<CertificateFacts>, given: bool },
    /// A document of its own inside another: its fields are named after a colon.
    Document(Fields),
    /// A secret that both sides got from the user: compared by digest, never shown.
    Hidden([u8; 32]),
    /// A sequence.
    List(Vec<Meaning>),
    /// A mapping.
    Map(Fields),
    /// Drawn anew by every run: compared and shown by its kind, such as `rsa2048 private key`.
    Random(String),
    /// A number, a truth value, a text.
    Scalar(Json),
}

/// The fields of a mapping.
pub(super) type Fields = BTreeMap<String, Meaning>;

impl Meaning {
    /// A text.
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Scalar(Json::String(text.into()))
    }

    /// Something that is compared, but not shown.
    pub(super) fn hidden(bytes: &[u8]) -> Self {
        Self::Hidden(Sha256::digest(bytes).into())
    }

    /// Fit for the eyes of anybody: short, and without secrets.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Certificates { facts, .. } => facts
                .iter()
                .map(|one| if one.subject.is_empty() { "no subject" } else { &one.subject })
                .collect::<Vec<_>>()
                .join("; "),
            Self::Document(_) | Self::Map(_) => "present".to_owned(),
            Self::Hidden(_) => "(hidden)".to_owned(),
            Self::List(items) if items.iter().any(|item| matches!(item, Self::Map(_))) => match items.len() {
                1 => "1 item".to_owned(),
                number => format!("{number} items"),
            },
            Self::List(items) => shorten(&items.iter().map(Self::shown).collect::<Vec<_>>().join(", ")),
            Self::Random(kind) => kind.clone(),
            Self::Scalar(Json::String(text)) => shown_text(text),
            Self::Scalar(other) => other.to_string(),
        }
    }
}

fn shown_text(text: &str) -> String {
    let lines = text.trim_end().lines().count();
    if lines > 1 {
        return format!("text of {lines} lines");
    }
    let text = without_passwords(text.trim_end());
    if text.contains("PRIVATE KEY") { "(hidden)".to_owned() } else { shorten(&text) }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Characters of a value that are shown.
const LONGEST: usize = 160;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_holds_no_secret() {
        let proxy = Meaning::text("https://me:pass@word@proxy.example:3128/x?u=http://a:b@c");
        assert_eq!(proxy.shown(), "https://me:<redacted>@proxy.example:3128/x?u=http://a:<redacted>@c");
        assert_eq!(Meaning::text("-----BEGIN RSA PRIVATE KEY-----").shown(), "(hidden)");
        assert_eq!(Meaning::hidden(b"x").shown(), "(hidden)");
        assert_eq!(Meaning::text("http://proxy/a@b").shown(), "http://proxy/a@b");
    }

    #[test]
    fn long_values_are_cut_and_texts_counted() {
        assert_eq!(Meaning::text("é".repeat(500)).shown().chars().count(), LONGEST + 1);
        assert_eq!(Meaning::text("a\nb\n").shown(), "text of 2 lines");
        assert_eq!(Meaning::text("a\n").shown(), "a");
    }
}
