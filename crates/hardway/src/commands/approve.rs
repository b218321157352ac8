//! `hardway approve`

use std::sync::Arc;

use hardway_cluster::approver::{Approver, ApproverError, News, Outcome, Summary, Written};
use kube::Client;
use tokio::sync::mpsc;

use crate::cli::{ApproveArgs, Format, Global};
use crate::interrupt::{self, Stop};
use crate::output::Output;
use crate::policy::{declared, settings};
use crate::report::{EXIT_BLOCKED, Report};
use crate::workdir::Workdir;
use crate::{clock, live};

/// Decides about certificate requests of a cluster. Exit 9 when something is held for a person.
pub(crate) fn run(global: &Global, args: &ApproveArgs, out: &Output) -> Result<u8, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let declared = declared(&workdir, args.policy.declared.as_deref(), out)?;
    let settings = settings(&args.policy, &declared)?;
    let kubeconfig = live::kubeconfig(&workdir, args.kubeconfig.as_deref());
    // The clock is asked once here, so that a mistake in HARDWAY_NOW is told before anything begins.
    clock::now()?;
    let (summary, stop) = live::run_to_its_end(async {
        let config = live::read(&workdir, kubeconfig.as_deref()).await?;
        let client =
            Client::try_from(config).map_err(|error| Report::from_error("kubeconfig-unusable", &error))?;
        let (sender, receiver) = mpsc::unbounded_channel();
        let approver = Approver {
            client,
            folder: workdir.path(""),
            declared,
            settings,
            identity: identity(),
            dry_run: args.dry_run,
            now: Arc::new(|| clock::now().unwrap_or(jiff::Timestamp::UNIX_EPOCH)),
            tell: Arc::new(move |news| {
                let _ = sender.send(Told::of(news));
            }),
        };
        let printing = print(receiver, args.output, out);
        let running = approve(approver, args.watch, out);
        let (summary, ()) = tokio::join!(running, printing);
        summary
    })?;
    out.info(&format!("{} approved, {} denied, {} held", summary.approved, summary.denied, summary.held));
    // A person is told how to go on; a service manager that ends a watch gets a clean end.
    if stop == Some(Stop::Interrupted) || (stop.is_some() && !args.watch) {
        return Err(interrupt::interrupted("approving"));
    }
    Ok(if summary.held > 0 && !args.watch { EXIT_BLOCKED } else { 0 })
}

/// Takes the approver, so that whoever prints knows when there is nothing more to come. What has begun is ended, whoever
/// stops it: decisions are recorded, and the lease is let go.
async fn approve(approver: Approver, watch: bool, out: &Output) -> Result<(Summary, Option<Stop>), Report> {
    let mut stop = None;
    let told = async {
        stop = Some(interrupt::told_to_stop().await);
        out.info("stopping: what has begun is brought to its end");
    };
    let ended = match watch {
        true => approver.watch(told).await,
        false => {
            live::aloud(out, || "still waiting for the API server".to_owned(), approver.once(told)).await
        }
    };
    let summary = ended.map_err(|error| failed(&error))?;
    Ok((summary, stop))
}

/// What happens, for the one who prints.
pub(super) enum Told {
    Decided(Box<Outcome>),
    Line(String),
    Warning(String),
}

impl Told {
    pub(super) fn of(news: News<'_>) -> Self {
        match news {
            News::Decided(outcome) => Self::Decided(Box::new(outcome.clone())),
            News::Leading => Self::Line("approving: this one writes".to_owned()),
            News::Following(holder) => Self::Line(format!("{holder} is approving; this one only watches")),
            News::Joined(host) => Self::Line(format!("host {host} has become a node")),
            News::Trouble(what) => Self::Warning(format!("the API server: {what}; trying again")),
        }
    }
}

pub(super) async fn print(mut told: mpsc::UnboundedReceiver<Told>, format: Format, out: &Output) {
    while let Some(told) = told.recv().await {
        match told {
            Told::Decided(outcome) if format == Format::Text => out.data(&out.advice(&line(&outcome))),
            Told::Decided(outcome) => {
                let value = serde_json::to_value(&outcome).unwrap_or_default();
                match format {
                    Format::Yaml => out.data(&format!("---\n{}", hardway_assets::yaml::write(&value))),
                    _ => out.data(&format!("{value}\n")),
                }
            }
            Told::Line(text) => out.info(&text),
            Told::Warning(text) => out.warn(&text),
        }
    }
}

fn line(outcome: &Outcome) -> String {
    let decided = &outcome.decided;
    let note = match outcome.written {
        Written::DryRun => " (dry run)",
        Written::NotOurs => " (left to the approver that holds the lease)",
        Written::Nothing | Written::Yes => "",
    };
    let mut text = format!(
        "{:7} {}  {}  {}{note}\n",
        decided.verdict.word(),
        decided.request,
        decided.node,
        decided.reason
    );
    let is_good = decided.verdict == hardway_cluster::csr_policy::Verdict::Approve;
    for evidence in decided.evidence.iter().filter(|_| !is_good) {
        text += &format!("        {evidence}\n");
    }
    if !outcome.fix.is_empty() {
        text += &format!("        fix: {}\n", outcome.fix);
    }
    text
}

/// This host and process: no two approvers are the same.
pub(crate) fn identity() -> String {
    let host = fs_err::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let boot = fs_err::read_to_string("/proc/sys/kernel/random/uuid").unwrap_or_default();
    format!("{}_{}_{}", host.trim(), std::process::id(), boot.get(..8).unwrap_or_default())
}

fn failed(error: &ApproverError) -> Report {
    Report::from_error("approver-failed", error).fix(error.fix())
}
