//! Colours of the words that a person looks for first. Whoever prints takes them out again where nobody sees them.

use std::fmt::{self, Display};

use anstyle::{AnsiColor, Style};

/// How a word looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint(Style);

/// Something is wrong.
pub(crate) const ERROR: Paint = Paint(AnsiColor::Red.on_default().bold());
/// Worth a second look.
pub(crate) const WARNING: Paint = Paint(AnsiColor::Yellow.on_default().bold());
/// All is well.
pub(crate) const GOOD: Paint = Paint(AnsiColor::Green.on_default());
/// What to do.
pub(crate) const FIX: Paint = Paint(AnsiColor::Cyan.on_default());
/// Of little interest.
pub(crate) const FAINT: Paint = Paint(Style::new().dimmed());

impl Paint {
    /// The word, in this colour.
    pub(crate) fn of<T: Display>(self, word: T) -> Painted<T> {
        Painted { paint: self, word }
    }
}

/// A word in a colour.
pub(crate) struct Painted<T> {
    paint: Paint,
    word: T,
}

impl<T: Display> Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Paint(style) = self.paint;
        write!(f, "{style}{}{style:#}", self.word)
    }
}
