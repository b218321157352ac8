//! `hardway approve`

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use hardway_cluster::approver::{Approver, ApproverError, CsrOutcome, Expected, News, Summary, Written};
use hardway_cluster::csr_policy::{IgnitionEvidence, Settings};
use hardway_cluster::declared::Declared;
use hardway_cluster::leader_election::Standing;
use jiff::SignedDuration;
use kube::Client;
use tokio::sync::mpsc;

use crate::cli::{ApproveArgs, Format, Global, IgnitionArg, PolicyArgs};
use crate::clock;
use crate::cluster::{DeclaredHere, WayIn, declared, identity};
use crate::inputs::Workdir;
use crate::report::{Code, Exit, Report};
use crate::runtime::{self, Stop};
use crate::terminal::Output;

/// How often it is looked whether a host is in another generation of its identity.
const BETWEEN_LOOKS: Duration = Duration::from_secs(2);

/// Decides about certificate requests of a cluster. Exit 9 when something is held for a person.
pub(crate) fn run(global: &Global, args: &ApproveArgs, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let (declared, here) = match args.policy.declared.as_deref() {
        Some(file) => (declared(&workdir, Some(file), out)?, None),
        None => {
            let here = DeclaredHere::load(&workdir, out)?;
            (here.now(), Some(here))
        }
    };
    let settings = settings(&args.policy, &declared)?;
    // Without the working folder nobody knows who fetched a config: whoever has it goes before.
    let standing = if args.policy.declared.is_some() { Standing::Deputy } else { Standing::Principal };
    let (summary, stop) = runtime::run_to_its_end(async {
        let WayIn { config, .. } = WayIn::find(&workdir, args.kubeconfig.as_deref(), out).await?;
        let client =
            Client::try_from(config).map_err(|error| Report::from_error(Code::KubeconfigUnusable, &error))?;
        let (sender, receiver) = mpsc::unbounded_channel();
        let approver = Approver {
            client,
            folder: workdir.path(""),
            declared,
            settings,
            identity: identity(),
            standing,
            dry_run: args.dry_run,
            now: Arc::new(clock::now),
            tell: Arc::new(move |news| {
                let _ = sender.send(ApproverEvent::of(news));
            }),
        };
        let printing = print(receiver, args.output, out);
        let running = async {
            match args.watch {
                true => watch(approver, here, &workdir, out).await,
                false => once(approver, out).await,
            }
        };
        let (summary, ()) = tokio::join!(running, printing);
        summary
    })?;
    out.info(&format!("{} approved, {} denied, {} held", summary.approved, summary.denied, summary.held));
    // A person is told how to go on; a service manager that ends a watch gets a clean end.
    if stop == Some(Stop::Interrupted) || (stop.is_some() && !args.watch) {
        return Err(runtime::interrupted("approving"));
    }
    Ok(if summary.held > 0 && !args.watch { Exit::Blocked } else { Exit::Done })
}

/// Takes the approver, so that whoever prints knows when there is nothing more to come. What has begun is ended, whoever
/// stops it: decisions are recorded, and the lease is let go.
async fn once(approver: Approver, out: &Output) -> Result<(Summary, Option<Stop>), Report> {
    let mut stop = None;
    let deciding = approver.once(told(&mut stop, out));
    let ended = runtime::aloud(out, || "still waiting for the API server".to_owned(), deciding).await;
    let summary = ended.map_err(|error| failed(&error))?;
    Ok((summary, stop))
}

/// The same for as long as the cluster lives. Another process may give a host its next generation meanwhile.
async fn watch(
    approver: Approver,
    here: Option<DeclaredHere>,
    workdir: &Workdir,
    out: &Output,
) -> Result<(Summary, Option<Stop>), Report> {
    let mut stop = None;
    let rejoin = approver.settings.rejoin.clone();
    let (sender, expected) = tokio::sync::watch::channel(Expected {
        declared: approver.declared.clone(),
        rejoin,
        ..Expected::default()
    });
    let ended = tokio::select! {
        ended = approver.watch_expected(expected, told(&mut stop, out)) => ended,
        never = follow(here, workdir, &sender, out) => match never {},
    };
    let summary = ended.map_err(|error| failed(&error))?;
    Ok((summary, stop))
}

/// Tells of every host that comes into another generation. What cannot be read is told once; what was known stays in force.
async fn follow(
    here: Option<DeclaredHere>,
    workdir: &Workdir,
    sender: &tokio::sync::watch::Sender<Expected>,
    out: &Output,
) -> Infallible {
    let Some(mut here) = here else { return std::future::pending().await };
    let mut is_told = false;
    loop {
        tokio::time::sleep(BETWEEN_LOOKS).await;
        match here.look(workdir) {
            Ok(true) => sender.send_modify(|expected| expected.declared = here.now()),
            Ok(false) => is_told = false,
            Err(report) if !is_told => {
                out.warn(&format!("the generations of the hosts cannot be read: {}", report.what));
                is_told = true;
            }
            Err(_) => {}
        }
    }
}

async fn told(stop: &mut Option<Stop>, out: &Output) {
    *stop = Some(runtime::told_to_stop().await);
    out.info("stopping: what has begun is brought to its end");
}

/// What happens, for the one who prints.
pub(super) enum ApproverEvent {
    Decided(Box<CsrOutcome>),
    Line(String),
    Warning(String),
}

impl ApproverEvent {
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

pub(super) async fn print(mut events: mpsc::UnboundedReceiver<ApproverEvent>, format: Format, out: &Output) {
    while let Some(event) = events.recv().await {
        match event {
            ApproverEvent::Decided(outcome) if format == Format::Text => {
                out.data(&out.advice(&line(&outcome)))
            }
            ApproverEvent::Decided(outcome) => {
                let value = serde_json::to_value(&outcome).unwrap_or_default();
                match format {
                    Format::Yaml => out.data(&format!("---\n{}", hardway_assets::yaml::write(&value))),
                    _ => out.data(&format!("{value}\n")),
                }
            }
            ApproverEvent::Line(text) => out.info(&text),
            ApproverEvent::Warning(text) => out.warn(&text),
        }
    }
}

fn line(outcome: &CsrOutcome) -> String {
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
    let is_good = decided.verdict == hardway_cluster::csr_policy::CsrVerdict::Approve;
    for evidence in decided.evidence.iter().filter(|_| !is_good) {
        text += &format!("        {evidence}\n");
    }
    if !outcome.fix.is_empty() {
        text += &format!("        fix: {}\n", outcome.fix);
    }
    text
}

/// The settings, with nodes called by their host's name or their own.
pub(super) fn settings(args: &PolicyArgs, declared: &Declared) -> Result<Settings, Report> {
    let node = |name: &String| {
        let found = declared.nodes.iter().find(|node| node.name == *name || node.host == *name);
        let node = found.ok_or_else(|| {
            Report::new(Code::Usage, format!("--rejoin: {name:?} is no node of this cluster"))
        })?;
        match &node.identity {
            None => Ok(node.name.clone()),
            Some(identity) => Err(has_identity(&node.host, &identity.user)),
        }
    };
    let given = clock::second();
    Ok(Settings {
        ignition: match args.ignition {
            IgnitionArg::Required => IgnitionEvidence::Required,
            IgnitionArg::IfServed => IgnitionEvidence::IfServed,
            IgnitionArg::Ignored => IgnitionEvidence::Ignored,
        },
        bootstrap_tokens: args.bootstrap_tokens,
        join_window: SignedDuration::from_mins(i64::from(args.join_window)),
        longest_lifetime: SignedDuration::from_hours(i64::from(args.longest_lifetime)),
        rejoin: args.rejoin.iter().map(|name| Ok((node(name)?, given))).collect::<Result<_, Report>>()?,
        ..Settings::default()
    })
}

/// A permission would let in whoever has the shared identity; this host has one of its own.
fn has_identity(host: &str, user: &str) -> Report {
    let what = format!(
        "--rejoin: {host} asks with an identity of its own, {user}; this is for machines from a stock pointer"
    );
    Report::new(Code::Usage, what).fix(format!(
        "it is let in again with its next generation: `hardway recover certs` brings it to a machine that was off for long, \
         `hardway node replace {host}` to one that is installed again"
    ))
}

fn failed(error: &ApproverError) -> Report {
    let waits = match error {
        ApproverError::Api(_) | ApproverError::TooSlow(_) => "; with --watch the approver waits for it",
        _ => "",
    };
    Report::from_error(Code::ApproverFailed, error).fix(error.fix() + waits)
}
