//! The view without a terminal: one line for each change, and a heartbeat while nothing changes.

use std::io::Write as _;
use std::sync::{Mutex, PoisonError};

use hardway_assets::Phase;
use jiff::{SignedDuration, Timestamp};

use super::InstallView;
use super::progress::{InstallProgress, Shown, short};
use crate::clock::now;
use crate::report::Report;
use crate::terminal::sieved;

/// How long nothing may be said: somebody who reads a log wants to know that it is alive.
const HEARTBEAT: SignedDuration = SignedDuration::from_secs(30);

/// Prints lines on standard error.
pub(crate) struct Lines {
    state: Mutex<(InstallProgress, Timestamp)>,
}

impl Lines {
    pub(crate) fn new(progress: InstallProgress) -> Self {
        Self { state: Mutex::new((progress, now())) }
    }

    fn beat(&self) {
        let now = now();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (progress, said) = &mut *state;
        if now.duration_since(*said) < HEARTBEAT {
            return;
        }
        if let Some((sentence, since)) = &progress.waiting {
            print(&format!("still waiting for {sentence} ({})", short(now.duration_since(*since))));
            *said = now;
        }
    }

    fn change(&self, change: impl FnOnce(&mut InstallProgress, Timestamp) -> Option<String>) {
        let now = now();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = change(&mut state.0, now) {
            print(&line);
            state.1 = now;
        }
    }
}

impl InstallView for Lines {
    fn tick(&self) {
        self.beat();
    }

    fn looks_at(&self, _: Phase) {}

    fn already(&self, phase: Phase, evidence: &str) {
        self.change(|progress, _| {
            progress.set(phase, Shown::Already);
            Some(format!("{phase}: already done: {evidence}"))
        });
    }

    fn started(&self, phase: Phase, why: &str) {
        self.change(|progress, now| {
            progress.set(phase, Shown::Working { since: now });
            Some(format!("{phase}: {why}"))
        });
    }

    fn finished(&self, phase: Phase, evidence: &str) {
        self.change(|progress, now| {
            let took = progress.elapsed(phase, now);
            progress.set(phase, Shown::Done { took });
            Some(format!("{phase}: done in {}: {evidence}", short(took)))
        });
    }

    fn gave_up(&self, phase: Phase, report: &Report) {
        self.change(|progress, now| {
            let after = progress.elapsed(phase, now);
            progress.set(phase, Shown::GaveUp { after });
            Some(format!("{phase}: failed after {}: {}", short(after), report.code))
        });
    }

    fn waits_for(&self, sentence: &str) {
        self.change(|progress, now| {
            progress.wait_for(sentence, now).then(|| format!("waiting for {sentence}"))
        });
    }

    /// The next heartbeat tells it.
    fn progress(&self, sentence: &str) {
        self.change(|progress, now| {
            progress.go_on(sentence, now);
            None
        });
    }

    fn event(&self, sentence: &str) {
        self.change(|progress, now| {
            progress.last_event = Some((sentence.to_owned(), now));
            Some(sentence.to_owned())
        });
    }

    fn host(&self, name: &str, state: &str) {
        self.change(|progress, _| {
            let known = progress.hosts.insert(name.to_owned(), state.to_owned());
            // A machine that nobody has heard of yet is in its first state, and no news.
            let is_news = known.as_deref().unwrap_or(FIRST_STATE) != state;
            is_news.then(|| format!("{name}: {state}"))
        });
    }
}

/// Of every machine, before anything was heard of it (`HostProgress::Off`).
const FIRST_STATE: &str = "off";

fn print(line: &str) {
    let mut stderr = std::io::stderr();
    let _ = writeln!(stderr, "{}", sieved(line));
}
