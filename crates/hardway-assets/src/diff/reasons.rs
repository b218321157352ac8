//! Why hardway differs where it does so on purpose.

use super::Difference;

/// A row of the table: differences at places like this have this reason.
pub(super) struct Reason {
    /// The place, with `*` for any text.
    place: &'static str,
    /// Whose side has something to show there.
    side: Side,
    /// A sentence.
    because: &'static str,
}

/// Whose side has something to show.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// Only ours: something we add.
    Ours,
    /// Only theirs: something we leave out.
    Theirs,
    /// Whichever.
    Any,
}

/// The reason of a difference, if there is one: that of the first row that fits.
pub(super) fn find(difference: &Difference) -> Option<&'static str> {
    REASONS.iter().find(|reason| reason.fits(difference)).map(|reason| reason.because)
}

impl Reason {
    fn fits(&self, difference: &Difference) -> bool {
        let side = match self.side {
            Side::Ours => difference.is_ours_only(),
            Side::Theirs => difference.is_theirs_only(),
            Side::Any => true,
        };
        side && matches(self.place, &difference.place)
    }
}

/// Does the text look like the pattern, in which `*` stands for any text?
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

const REASONS: &[Reason] = &[];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        assert!(matches("a*c", "abbc"));
        assert!(matches("a*c", "ac"));
        assert!(!matches("a*c", "acd"));
        assert!(matches("*b*", "abc"));
        assert!(matches("abc", "abc"));
        assert!(!matches("abc", "abcd"));
        assert!(!matches("aba*aba", "aba"));
    }
}
