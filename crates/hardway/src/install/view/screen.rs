//! The view on a terminal: one block that is drawn again in place.

use std::io::Write as _;
use std::sync::{Mutex, PoisonError};

use hardway_assets::Phase;
use jiff::Timestamp;

use super::InstallView;
use super::progress::{InstallProgress, Shown};
use crate::clock::now;
use crate::report::Report;
use crate::terminal::sieved;

/// Draws the block on standard error.
pub(crate) struct Screen {
    width: usize,
    state: Mutex<Drawn>,
}

struct Drawn {
    progress: InstallProgress,
    /// How many lines stand on the screen.
    lines: usize,
}

impl Screen {
    pub(crate) fn new(progress: InstallProgress, width: usize) -> Self {
        Self { width, state: Mutex::new(Drawn { progress, lines: 0 }) }
    }

    /// Draws the block as it is now.
    fn draw(&self) {
        let mut drawn = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let block = drawn.progress.block(now(), self.width);
        let mut text = up(drawn.lines);
        block.lines().for_each(|line| {
            text.push_str(&sieved(line));
            text.push_str("\x1b[K\n");
        });
        text.push_str("\x1b[J");
        drawn.lines = block.lines().count();
        let mut stderr = std::io::stderr();
        let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    }

    fn change(&self, change: impl FnOnce(&mut InstallProgress, Timestamp)) {
        let now = now();
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner).progress, now);
        self.draw();
    }
}

impl InstallView for Screen {
    fn tick(&self) {
        self.draw();
    }

    fn clear(&self) {
        let mut drawn = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut stderr = std::io::stderr();
        let _ = write!(stderr, "{}\x1b[J", up(drawn.lines));
        drawn.lines = 0;
    }

    fn looks_at(&self, phase: Phase) {
        self.change(|progress, now| {
            progress.waiting = Some((format!("a look at {phase}"), now));
        });
    }

    fn already(&self, phase: Phase, _: &str) {
        self.change(|progress, _| progress.set(phase, Shown::Already));
    }

    fn started(&self, phase: Phase, _: &str) {
        self.change(|progress, now| progress.set(phase, Shown::Working { since: now }));
    }

    fn finished(&self, phase: Phase, _: &str) {
        self.change(|progress, now| {
            let took = progress.elapsed(phase, now);
            progress.set(phase, Shown::Done { took });
        });
    }

    fn gave_up(&self, phase: Phase, _: &Report) {
        self.change(|progress, now| {
            let after = progress.elapsed(phase, now);
            progress.set(phase, Shown::GaveUp { after });
        });
    }

    fn waits_for(&self, sentence: &str) {
        self.change(|progress, now| {
            progress.wait_for(sentence, now);
        });
    }

    fn progress(&self, sentence: &str) {
        self.change(|progress, now| progress.go_on(sentence, now));
    }

    fn event(&self, sentence: &str) {
        self.change(|progress, now| progress.last_event = Some((sentence.to_owned(), now)));
    }

    fn host(&self, name: &str, state: &str) {
        self.change(|progress, _| {
            progress.hosts.insert(name.to_owned(), state.to_owned());
        });
    }
}

/// To the first line of what was drawn.
fn up(lines: usize) -> String {
    if lines == 0 { String::new() } else { format!("\x1b[{lines}A\r") }
}
