//! Finding the reason of a difference.

use super::Difference;
use super::reasons::REASONS;

/// A row of the table: differences at places like this have this reason.
pub(super) struct DiffReason {
    /// The place. `*` stands for any text within one part of it, `**` for any text at all.
    pub(super) place: &'static str,
    /// Whose side has something to show there.
    pub(super) side: Side,
    /// A sentence.
    pub(super) because: &'static str,
}

/// Whose side has something to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Both, and not the same.
    Both,
    /// Only ours: something we add.
    Ours,
    /// Only theirs: something we leave out.
    Theirs,
}

/// The reason of a difference, if there is one: that of the first row that fits.
pub(super) fn find(difference: &Difference) -> Option<&'static str> {
    let side = match (&difference.ours, &difference.theirs) {
        (_, None) => Side::Ours,
        (None, _) => Side::Theirs,
        _ => Side::Both,
    };
    let fits = |reason: &&DiffReason| reason.side == side && matches(reason.place, &difference.place);
    REASONS.iter().find(fits).map(|reason| reason.because)
}

/// Does the place look like the pattern? Parts of a place are parted by a colon and a space.
fn matches(pattern: &str, place: &str) -> bool {
    let Some(at) = pattern.find('*') else { return pattern == place };
    let Some(rest) = place.strip_prefix(&pattern[..at]) else { return false };
    let (any, after) = match pattern[at..].strip_prefix("**") {
        Some(after) => (rest.len(), after),
        None => (rest.find(": ").unwrap_or(rest.len()), &pattern[at + 1..]),
    };
    (0..=any).filter(|end| rest.is_char_boundary(*end)).any(|end| matches(after, &rest[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_text() {
        assert!(matches("a*c", "abbc"));
        assert!(matches("a*c", "ac"));
        assert!(!matches("a*c", "acd"));
        assert!(matches("*b*", "abc"));
        assert!(matches("abc", "abc"));
        assert!(!matches("abc", "abcd"));
        assert!(matches("*.ign /bin/*", "bootstrap.ign /bin/x.sh"));
        assert!(!matches("*.ign /bin/*", "bootstrap.ign /bin/x.sh: mode"));
        assert!(matches("*.ign /bin/**", "bootstrap.ign /bin/x.sh: mode"));
        assert!(matches("Secret *: mode", "Secret a/b: mode"));
        assert!(!matches("Secret *: mode", "Secret a/b: data.x: mode"));
    }

    #[test]
    fn only_the_side_that_is_explained_is_explained() {
        let at = |ours: Option<&str>, theirs: Option<&str>| {
            let own = |text: Option<&str>| text.map(str::to_owned);
            find(&Difference::new("bootstrap.ign /usr/local/bin/bootkube.sh", own(ours), own(theirs)))
        };
        assert!(at(Some("text"), Some("other text")).is_some());
        assert!(at(None, Some("present")).is_none(), "a script we lack is a mistake");
    }

    #[test]
    fn reasons_are_sentences() {
        for reason in REASONS {
            let because = reason.because;
            assert!(
                because.ends_with('.') && because.starts_with(char::is_uppercase)
                    || because.starts_with("openshift-install")
                    || because.starts_with("hardway"),
                "{because}"
            );
            assert!(because.len() > 30, "{because}");
        }
    }
}
