//! What a view shows, apart from how: states and times.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use hardway_assets::Phase;
use hardway_journal::History;
use jiff::{SignedDuration, Timestamp};

use crate::journal::recorded;

/// Everything worth showing at one moment.
#[derive(Clone, Debug)]
pub(crate) struct InstallProgress {
    pub(crate) phases: Vec<(Phase, Shown)>,
    pub(crate) hosts: BTreeMap<String, String>,
    /// What is being waited for, and since when.
    pub(crate) waiting: Option<(String, Timestamp)>,
    pub(crate) last_event: Option<(String, Timestamp)>,
    /// From earlier runs.
    usual: BTreeMap<Phase, SignedDuration>,
}

/// A phase, as shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    Ahead,
    Already,
    Working { since: Timestamp },
    Done { took: SignedDuration },
    GaveUp { after: SignedDuration },
}

impl InstallProgress {
    pub(crate) fn new(phases: impl IntoIterator<Item = Phase>, history: &History) -> Self {
        let phases: Vec<_> = phases.into_iter().map(|phase| (phase, Shown::Ahead)).collect();
        let usual = phases
            .iter()
            .filter_map(|(phase, _)| Some((*phase, history.phases.took(recorded(*phase))?)))
            .collect();
        Self { phases, hosts: BTreeMap::new(), waiting: None, last_event: None, usual }
    }

    pub(crate) fn set(&mut self, phase: Phase, shown: Shown) {
        if let Some((_, found)) = self.phases.iter_mut().find(|(known, _)| *known == phase) {
            *found = shown;
        }
        self.waiting = None;
    }

    /// How long a phase has been at work.
    pub(crate) fn elapsed(&self, phase: Phase, now: Timestamp) -> SignedDuration {
        match self.phases.iter().find(|(known, _)| *known == phase) {
            Some((_, Shown::Working { since })) => now.duration_since(*since),
            _ => SignedDuration::ZERO,
        }
    }

    /// True when it is another sentence than before.
    pub(crate) fn wait_for(&mut self, sentence: &str, now: Timestamp) -> bool {
        let is_news = self.waiting.as_ref().is_none_or(|(known, _)| known != sentence);
        if is_news {
            self.waiting = Some((sentence.to_owned(), now));
        }
        is_news
    }

    /// Another sentence about the same wait.
    pub(crate) fn go_on(&mut self, sentence: &str, now: Timestamp) {
        let since = self.waiting.as_ref().map_or(now, |(_, since)| *since);
        self.waiting = Some((sentence.to_owned(), since));
    }

    /// How long the phases ahead took in earlier runs, when all of them are known.
    pub(crate) fn left(&self, now: Timestamp) -> Option<SignedDuration> {
        let mut left = SignedDuration::ZERO;
        for (phase, shown) in &self.phases {
            let usual = self.usual.get(phase).copied();
            match shown {
                Shown::Ahead => left += usual?,
                Shown::Working { since } => {
                    left += (usual? - now.duration_since(*since)).max(SignedDuration::ZERO);
                }
                _ => {}
            }
        }
        Some(left)
    }

    /// As a block of lines, none longer than the width.
    pub(crate) fn block(&self, now: Timestamp, width: usize) -> String {
        let mut lines: Vec<String> =
            self.phases.iter().map(|(phase, shown)| line(*phase, *shown, now)).collect();
        if !self.hosts.is_empty() {
            let hosts: Vec<String> =
                self.hosts.iter().map(|(name, state)| format!("{name}: {state}")).collect();
            lines.push(format!("  hosts  {}", hosts.join("   ")));
        }
        if let Some((sentence, since)) = &self.waiting {
            lines.push(format!("  waiting for {sentence} ({})", short(now.duration_since(*since))));
        }
        if let Some((event, at)) = &self.last_event {
            lines.push(format!("  last  {event} ({} ago)", short(now.duration_since(*at))));
        }
        if let Some(left) = self.left(now).filter(|left| !left.is_zero()) {
            lines.push(format!("  about {} left, judging by the last install", short(left)));
        }
        lines.iter().fold(String::new(), |mut text, line| {
            let cut: String = line.chars().take(width).collect();
            let _ = writeln!(text, "{cut}");
            text
        })
    }
}

fn line(phase: Phase, shown: Shown, now: Timestamp) -> String {
    match shown {
        Shown::Ahead => format!("  {phase}"),
        Shown::Already => format!("✓ {phase:<20} already done"),
        Shown::Working { since } => format!("▸ {phase:<20} {}", short(now.duration_since(since))),
        Shown::Done { took } => format!("✓ {phase:<20} {}", short(took)),
        Shown::GaveUp { after } => format!("✗ {phase:<20} after {}", short(after)),
    }
}

/// `4 s`, `3 min 20 s`, `1 h 5 min`.
pub(crate) fn short(duration: SignedDuration) -> String {
    let seconds = duration.as_secs().max(0);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn the_block_shows_where_the_install_is_and_what_it_waits_for() {
        let mut progress = InstallProgress::new(
            [Phase::MakePki, Phase::InstallOs, Phase::AwaitBootstrap],
            &History::default(),
        );
        progress.set(Phase::MakePki, Shown::Done { took: SignedDuration::from_secs(2) });
        progress.set(Phase::InstallOs, Shown::Working { since: at(100) });
        progress.hosts.insert("master-0".into(), "booting".into());
        assert!(progress.wait_for("master-0 to fetch its config", at(110)));
        assert!(!progress.wait_for("master-0 to fetch its config", at(120)));
        progress.last_event = Some(("bootstrap fetched its config from 192.168.126.100".into(), at(130)));
        let expected = "\
✓ make-pki             2 s
▸ install-os           3 min 20 s
  await-bootstrap
  hosts  master-0: booting
  waiting for master-0 to fetch its config (3 min 10 s)
  last  bootstrap fetched its config from 192.168.126.100 (2 min 50 s ago)
";
        assert_eq!(progress.block(at(300), 200), expected);
        assert!(progress.block(at(300), 20).lines().all(|line| line.chars().count() <= 20));
    }
}
