//! Brings what is shown, and what comes, to whoever shows it.

use std::sync::Arc;
use std::time::Duration;

use hardway_assets::{Cluster, work_paths};
use hardway_base::redaction::Redactor;
use hardway_journal::{Appended, FILE_NAME, Fact as _, Follower, JournalError, PhaseFinished};
use hardway_page::{Content, Live};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::Document;
use super::log_lines::LogLines;
use super::moments::Moments;
use crate::cluster::known_secrets;
use crate::inputs::{FolderLock, Workdir};
use crate::journal::journal_report;
use crate::report::{Report, plain};

/// Between two looks at the journal: what is new is on the page within a second.
const PAUSE: Duration = Duration::from_millis(250);

/// Moments that are held as more than text at a time.
const PIECE: usize = 64;

/// What a folder tells, kept current.
pub(crate) struct Feed {
    workdir: Workdir,
    cluster: Option<Cluster>,
    redactor: Redactor,
    journal: Follower,
    log: LogLines,
    moments: Moments,
    content: Arc<Content>,
    make: Make,
    /// The first look is over.
    is_open: bool,
}

/// Makes the document and its explanations anew.
pub(crate) type Make = Box<dyn Fn() -> (Document, Value) + Send>;

impl Feed {
    /// Everything up to now is in the content when this returns.
    pub(crate) fn open(workdir: Workdir, make: Make) -> Result<Self, Report> {
        let redactor = Redactor::new(known_secrets(&workdir)?);
        let (Document { mut value, cluster, .. }, explanations) = make();
        let mut moments = Moments::new(cluster.as_ref());
        value["beginning"] = moments.beginning();
        let content = Content::new(&redacted(value, &redactor), &redacted(explanations, &redactor));
        let mut feed = Self {
            make,
            is_open: false,
            journal: Follower::new(&workdir.path(FILE_NAME)),
            log: LogLines::new(workdir.path(work_paths::INSTALL_LOG)),
            moments,
            content: Arc::new(content),
            workdir,
            cluster,
            redactor,
        };
        feed.look().map_err(|error| journal_report(&error))?;
        Ok(feed)
    }

    /// What was seen of a cluster, without secrets.
    pub(crate) fn set_seen(&self, seen: Value) {
        self.content.set_seen(Some(&redacted(seen, &self.redactor)));
    }

    /// What is shown.
    pub(crate) fn content(&self) -> Arc<Content> {
        self.content.clone()
    }

    /// Looks again and again, until told to stop. A journal that cannot be read is an error once; what was read stays.
    pub(crate) async fn follow(mut self, stop: CancellationToken) -> Result<(), Report> {
        loop {
            tokio::select! {
                () = tokio::time::sleep(PAUSE) => {}
                () = stop.cancelled() => return Ok(()),
            }
            // Waiting for a writer, and reading, block.
            let looked = tokio::task::spawn_blocking(move || {
                let result = self.look();
                (self, result)
            });
            let Ok((feed, result)) = looked.await else { return Ok(()) };
            self = feed;
            result.map_err(|error| journal_report(&error))?;
        }
    }

    fn look(&mut self) -> Result<(), JournalError> {
        let Appended { began_anew, records } = self.journal.news()?;
        if began_anew {
            self.moments = Moments::new(self.cluster.as_ref());
            self.moments.beginning();
            self.content.begin_anew();
        }
        let has_finished = records.iter().any(|record| record.kind == PhaseFinished::KIND);
        let (mut moments, mut lines) = (Vec::new(), self.log.news().into_iter().peekable());
        // Secrets may have been drawn since the page began: what tells of them was written after that.
        if (!records.is_empty() || lines.peek().is_some())
            && let Ok(known) = known_secrets(&self.workdir)
        {
            self.redactor = Redactor::new(known);
        }
        // Records stay in their order, whatever the clocks of their writers said; lines of the log go between them. What was shown is
        // forgotten piece by piece: a long journal is held as text alone.
        for record in records {
            while let Some(line) = lines.next_if(|line| line.time < record.time) {
                moments.push(redacted(line.moment(), &self.redactor));
            }
            let moment = self.moments.next(&record).map_err(|impossible| JournalError::Impossible {
                path: self.workdir.path(FILE_NAME),
                impossible,
            })?;
            moments.push(redacted(moment, &self.redactor));
            if moments.len() >= PIECE {
                self.content.append(&moments);
                moments.clear();
            }
        }
        moments.extend(lines.map(|line| redacted(line.moment(), &self.redactor)));
        self.content.append(&moments);
        // Files may have been made meanwhile; at first everything is as it was read a moment ago.
        if self.is_open && has_finished {
            self.make_anew();
        }
        self.is_open = true;
        self.content.set_live(Live { is_at_work: FolderLock::is_taken(&self.workdir) });
        Ok(())
    }
}

impl Feed {
    /// Of the same hosts: where everything begins is told once.
    fn make_anew(&self) {
        let (Document { mut value, .. }, explanations) = (self.make)();
        value["beginning"] = Moments::new(self.cluster.as_ref()).beginning();
        let [document, explanations] = [value, explanations].map(|value| redacted(value, &self.redactor));
        self.content.set_document(&document, &explanations);
    }
}

/// Without anything that is secret, or looks like it, in any text; and without colours, which evidence has for terminals.
pub(super) fn redacted(value: Value, redactor: &Redactor) -> Value {
    match value {
        Value::String(text) if text.contains('\u{1b}') => json!(redactor.redact(&plain(&text))),
        Value::String(text) => json!(redactor.redact(&text)),
        Value::Array(list) => list.into_iter().map(|value| redacted(value, redactor)).collect(),
        Value::Object(map) => map
            .into_iter()
            .map(|(key, value)| (key, redacted(value, redactor)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other,
    }
}
