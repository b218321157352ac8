//! Nothing that a stranger wrote reaches the terminal as a command to it.
//!
//! Registries, API servers and tenants choose part of what is printed. An escape sequence in it could clear the screen, set the title or
//! fill the clipboard. Where the text is put together, nobody can be sure to have cleaned all of it; here everything passes.

use std::borrow::Cow;

use hardway_base::is_unprintable;

/// The text as it may be shown: lines, tabs, and colours as this program paints them. Anything else that is not to be read becomes a mark.
pub(crate) fn sieved(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| is_unprintable(c) && c != '\n') {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '\x1b' => colour(rest).unwrap_or(0),
            '\n' | '\t' => 1,
            c if is_unprintable(c) => 0,
            c => c.len_utf8(),
        };
        if length == 0 {
            kept.push(char::REPLACEMENT_CHARACTER);
            rest = &rest[c.len_utf8()..];
        } else {
            kept.push_str(&rest[..length]);
            rest = &rest[length..];
        }
    }
    Cow::Owned(kept)
}

/// How long the sequence is that the text begins with, if it only sets a colour or a weight. One that hides text is none.
fn colour(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\x1b[")?;
    let (parameters, _) = parameters.split_once('m')?;
    let is_paint = |number: &str| {
        number.is_empty()
            || number.parse().is_ok_and(|n: u8| matches!(n, 0..=2 | 22 | 30..=37 | 39 | 90..=97))
    };
    parameters.split(';').all(is_paint).then_some("\x1b[m".len() + parameters.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{ERROR, FAINT};

    #[test]
    fn our_own_paint_stays_and_nothing_else() {
        let ours = format!("{} a\tb\n{}\n", ERROR.of("error:"), FAINT.of("faint"));
        assert_eq!(sieved(&ours), ours);
        for foreign in [
            "\x1b]0;title\x07",
            "\x1b[2J",
            "\x1b[8mhidden\x1b[28m",
            "\x1b]52;c;cm0gLXJm\x07",
            "\u{9b}2J",
            "\r",
            "\x08",
            "\u{202e}txt",
            "\x1b[",
            "\x1b",
            "\x1b[38;5;1m",
            "a\u{200b}b",
        ] {
            let shown = sieved(foreign);
            assert!(shown.contains('\u{fffd}'), "{foreign:?}");
            assert!(!shown.chars().any(is_unprintable), "{foreign:?}: {shown:?}");
        }
        assert_eq!(sieved("plain ünïcode"), "plain ünïcode");
    }
}
