//! `hardway certs recover`

mod show;

use serde_json::Value;
use tokio::sync::mpsc;

use super::approve::print;
use crate::cli::{Format, Global, RecoverCertsArgs};
use crate::cluster::{ApproverLine, CertRecovery, HandedOver, RecoveryDone, RecoveryListener};
use crate::inputs::Workdir;
use crate::report::{Exit, Report};
use crate::runtime;
use crate::terminal::Output;

/// Says what has ended, and lets silent nodes in again, once each and by policy. Exit 9 when a person has to do something.
pub(super) fn run(global: &Global, args: &RecoverCertsArgs, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let recovery = CertRecovery::open(&workdir, args.into(), out)?;
    runtime::run_to_its_end(async {
        let mut done = recovery.done();
        let (recovery, events) = recovery.begin(out).await?;
        let shown = Shown { format: args.output, out };
        let (end, decisions) =
            tokio::join!(recovery.carry_out(&mut done, &shown, out), listen(events, args.output, out));
        if args.output != Format::Text {
            out.value(&show::value(&done, &decisions), args.output);
        }
        end.map(|()| Exit::Done)
    })
}

/// For people, as things become known; programs get one document at the end.
struct Shown<'o> {
    format: Format,
    out: &'o Output,
}

impl RecoveryListener for Shown<'_> {
    fn found(&self, done: &RecoveryDone) {
        if self.format == Format::Text {
            self.out.data(&show::text(done));
        }
    }

    fn handed_over(&self, all: &[HandedOver]) {
        if self.format == Format::Text {
            self.out.data(&show::identities(all));
        }
    }
}

/// Decisions are printed as they are taken, or kept for the one document that programs get.
async fn listen(events: mpsc::UnboundedReceiver<ApproverLine>, format: Format, out: &Output) -> Vec<Value> {
    if format == Format::Text {
        print(events, format, out).await;
        return Vec::new();
    }
    let (mut events, mut decisions) = (events, Vec::new());
    while let Some(event) = events.recv().await {
        match event {
            ApproverLine::Decided(outcome) => {
                decisions.push(serde_json::to_value(&outcome).unwrap_or_default())
            }
            ApproverLine::Line(text) => out.info(&text),
            ApproverLine::Warning(text) => out.warn(&text),
        }
    }
    decisions
}
