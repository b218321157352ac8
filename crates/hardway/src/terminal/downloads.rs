//! How far downloads are: bars on a terminal, else a line for each thing that is done and now and then one in between.

use std::collections::BTreeMap;
use std::io::{IsTerminal as _, Write as _};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use hardway_release::DownloadProgress;
use indicatif::{HumanBytes, MultiProgress, ProgressBar, ProgressStyle};

use super::{LogLevel, Output, TextCallback, sieved};

/// Shown on standard error, where the log level allows it.
pub(crate) enum Downloads {
    Bars(Bars),
    Lines(Lines),
    /// A view has the terminal.
    Sentences(Sentences),
    Nothing,
}

/// A sentence now and then, for a view.
pub(crate) struct Sentences {
    show: TextCallback,
    last: Mutex<Instant>,
}

/// One bar for each thing on its way.
#[derive(Default)]
pub(crate) struct Bars {
    all: MultiProgress,
    bars: Mutex<BTreeMap<String, ProgressBar>>,
}

/// Lines, for logs.
pub(crate) struct Lines {
    says_kept: bool,
    last: Mutex<Instant>,
}

/// Between two lines about something that is on its way.
const PAUSE: Duration = Duration::from_secs(10);
/// A view is drawn a few times a second.
const BETWEEN_SENTENCES: Duration = Duration::from_millis(300);

impl Downloads {
    /// As suits standard error and the log level.
    pub(crate) fn new(out: &Output) -> Self {
        if let Some(show) = out.progress() {
            Self::Sentences(Sentences { show, last: Mutex::new(Instant::now()) })
        } else if !out.says(LogLevel::Info) {
            Self::Nothing
        } else if std::io::stderr().is_terminal() {
            Self::Bars(Bars::default())
        } else {
            let last = Mutex::new(Instant::now());
            Self::Lines(Lines { says_kept: out.says(LogLevel::Debug), last })
        }
    }
}

impl DownloadProgress for Downloads {
    fn bytes(&self, name: &str, done: u64, total: u64) {
        match self {
            Self::Bars(bars) => bars.bytes(name, done, total),
            Self::Lines(lines) => lines.bytes(name, done, total),
            Self::Sentences(sentences) => sentences.bytes(name, done, total),
            Self::Nothing => {}
        }
    }

    fn kept(&self, name: &str, total: u64) {
        if let Self::Lines(Lines { says_kept: true, .. }) = self {
            line(&format!("debug: cached: {} {}", short(name), HumanBytes(total)));
        }
    }
}

impl Bars {
    fn bytes(&self, name: &str, done: u64, total: u64) {
        let Ok(mut bars) = self.bars.lock() else { return };
        let bar = bars.entry(name.to_owned()).or_insert_with(|| {
            let bar = self.all.add(ProgressBar::new(total).with_message(short(name)));
            bar.with_style(style())
        });
        if bar.length() != Some(total) {
            bar.set_length(total);
        }
        bar.set_position(done);
        if done >= total {
            bar.finish_and_clear();
            bars.remove(name);
        }
    }
}

impl Lines {
    fn bytes(&self, name: &str, done: u64, total: u64) {
        if done >= total {
            line(&format!("done: {} {}", short(name), HumanBytes(total)));
            return;
        }
        let Ok(mut last) = self.last.lock() else { return };
        if last.elapsed() >= PAUSE {
            *last = Instant::now();
            line(&format!("{} {} of {}", short(name), HumanBytes(done), HumanBytes(total)));
        }
    }
}

impl Sentences {
    fn bytes(&self, name: &str, done: u64, total: u64) {
        let Ok(mut last) = self.last.lock() else { return };
        if last.elapsed() >= BETWEEN_SENTENCES {
            *last = Instant::now();
            (self.show)(&format!("{}: {} of {}", short(name), HumanBytes(done), HumanBytes(total)));
        }
    }
}

fn style() -> ProgressStyle {
    let template = "{wide_msg} {bytes:>11} of {total_bytes:11} {bytes_per_sec:>13} {bar:20}";
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Digests are cut to what tells them apart.
fn short(name: &str) -> String {
    let cut = |word: &str| match word.strip_prefix("sha256:") {
        Some(hex) => hex.chars().take(12).collect(),
        None => word.to_owned(),
    };
    name.split(' ').map(cut).collect::<Vec<_>>().join(" ")
}

fn line(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", sieved(text));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_cut() {
        let digest = format!("sha256:{}", "0123456789abcdef".repeat(4));
        assert_eq!(short(&format!("etcd {digest}")), "etcd 0123456789ab");
        assert_eq!(short("rhcos.iso"), "rhcos.iso");
    }
}
