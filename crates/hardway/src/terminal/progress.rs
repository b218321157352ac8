//! How far something is that takes its time: a bar on a terminal, or a sentence for whoever shows it.

use std::fmt;
use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use super::{LogLevel, Output, TextCallback};

/// Goes away when it is dropped.
pub(crate) struct Progress {
    what: String,
    shown: Shown,
}

enum Shown {
    Bar(ProgressBar),
    Sentence(TextCallback),
    Nothing,
}

impl Progress {
    /// Of something in so many parts. Where nobody sees it nothing is said: what was done is told at the end.
    pub(crate) fn new(what: &str, parts: usize, out: &Output) -> Self {
        let shown = match out.progress() {
            Some(show) => Shown::Sentence(show),
            None if out.says(LogLevel::Info) && !out.is_logged() && std::io::stderr().is_terminal() => {
                let bar = ProgressBar::new(parts as u64).with_message(what.to_owned());
                Shown::Bar(bar.with_style(style()))
            }
            None => Shown::Nothing,
        };
        let progress = Self { what: what.to_owned(), shown };
        progress.at(0, parts);
        progress
    }

    /// Whether anybody sees it.
    pub(crate) fn is_shown(&self) -> bool {
        !matches!(self.shown, Shown::Nothing)
    }

    /// So many are done.
    pub(crate) fn at(&self, done: usize, parts: usize) {
        match &self.shown {
            Shown::Bar(bar) => {
                bar.set_position(done as u64);
                bar.tick();
            }
            Shown::Sentence(show) => show(&format!("{}: {done} of {parts}", self.what)),
            Shown::Nothing => {}
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

fn style() -> ProgressStyle {
    let template = "{msg} {pos} of {len} {bar:20} {left}";
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.with_key("left", left)
}

/// Nobody can tell before the first part is done.
fn left(state: &ProgressState, f: &mut dyn fmt::Write) {
    if state.pos() > 0 {
        let _ = write!(f, "{} s left", state.eta().as_secs());
    }
}
