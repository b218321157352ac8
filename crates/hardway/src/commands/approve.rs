//! `hardway approve`

use std::sync::Arc;

use hardway_cluster::approver::{Approver, ApproverError, CsrOutcome, Summary, Written};
use hardway_cluster::csr_policy::{IgnitionEvidence, PolicySettings};
use hardway_cluster::declared::Declared;
use hardway_cluster::leader_election::Standing;
use jiff::SignedDuration;
use tokio::sync::mpsc;

use crate::cli::{ApproveArgs, Format, Global, IgnitionArg, PolicyArgs};
use crate::clock;
use crate::cluster::{ApproverLine, DeclaredHere, Intent, WayIn, client, declared, identity};
use crate::inputs::Workdir;
use crate::report::{Code, Exit, Report};
use crate::runtime::{self, Stop};
use crate::terminal::Output;

/// Decides about certificate requests of a cluster. Exit 9 when something is held for a person.
pub(crate) fn run(global: &Global, args: &ApproveArgs, out: &Output) -> Result<Exit, Report> {
    if let Some(what) = &args.what {
        return super::csr::run(global, what, out);
    }
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
        let WayIn { config, .. } =
            WayIn::find(&workdir, args.kubeconfig.as_deref(), Intent::Change, out).await?;
        let client = client(config)?;
        let (sender, receiver) = mpsc::unbounded_channel();
        let approver = Approver {
            client,
            folder: workdir.path(""),
            fetches: None,
            declared,
            settings,
            identity: identity(),
            standing,
            dry_run: args.dry_run,
            now: Arc::new(clock::now),
            tell: Arc::new(move |news| {
                let _ = sender.send(ApproverLine::of(news));
            }),
        };
        let printing = print(receiver, args.output, out);
        let running = async {
            match args.watch {
                true => watch(approver, here, out).await,
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
    out: &Output,
) -> Result<(Summary, Option<Stop>), Report> {
    let mut stop = None;
    let ended = match here {
        Some(mut here) => here.watch(&approver, told(&mut stop, out), &|what| out.warn(what)).await,
        None => approver.watch(told(&mut stop, out)).await,
    };
    let summary = ended.map_err(|error| failed(&error))?;
    Ok((summary, stop))
}

async fn told(stop: &mut Option<Stop>, out: &Output) {
    *stop = Some(runtime::told_to_stop().await);
    out.info("stopping after the requests in progress");
}

pub(super) async fn print(mut events: mpsc::UnboundedReceiver<ApproverLine>, format: Format, out: &Output) {
    while let Some(event) = events.recv().await {
        match event {
            ApproverLine::Decided(outcome) if format == Format::Text => {
                out.data(&out.advice(&line(&outcome)))
            }
            ApproverLine::Decided(outcome) => {
                let value = serde_json::to_value(&outcome).unwrap_or_default();
                match format {
                    Format::Yaml => out.data(&format!("---\n{}", hardway_assets::yaml::write(&value))),
                    _ => out.data(&format!("{value}\n")),
                }
            }
            ApproverLine::Line(text) => out.info(&text),
            ApproverLine::Warning(text) => out.warn(&text),
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
pub(super) fn settings(args: &PolicyArgs, declared: &Declared) -> Result<PolicySettings, Report> {
    let node = |name: &String| {
        let found = declared.nodes.iter().find(|node| node.name == *name || node.host == *name);
        let node = found.ok_or_else(|| {
            Report::new(Code::Usage, format!("--rejoin: {name:?} is not a node of this cluster"))
        })?;
        match &node.identity {
            None => Ok(node.name.clone()),
            Some(identity) => Err(has_identity(&node.host, &identity.user)),
        }
    };
    let given = clock::second();
    Ok(PolicySettings {
        ignition: match args.ignition {
            IgnitionArg::Required => IgnitionEvidence::Required,
            IgnitionArg::IfServed => IgnitionEvidence::IfServed,
            IgnitionArg::Ignored => IgnitionEvidence::Ignored,
        },
        bootstrap_tokens: args.bootstrap_tokens,
        join_window: SignedDuration::from_mins(i64::from(args.join_window)),
        longest_lifetime: SignedDuration::from_hours(i64::from(args.longest_lifetime)),
        rejoin: args.rejoin.iter().map(|name| Ok((node(name)?, given))).collect::<Result<_, Report>>()?,
        ..PolicySettings::default()
    })
}

/// A permission would let in whoever has the shared identity; this host has one of its own.
fn has_identity(host: &str, user: &str) -> Report {
    let what = format!(
        "--rejoin: {host} has its own identity, {user}; --rejoin is only for machines that boot from a stock pointer"
    );
    Report::new(Code::Usage, what).fix(format!(
        "it rejoins with the next generation of its identity: use `hardway certs recover` if the machine was off for a long \
         time, or `hardway node replace {host}` if it is reinstalled"
    ))
}

fn failed(error: &ApproverError) -> Report {
    let waits = match error {
        ApproverError::Api(_) | ApproverError::TooSlow(_) => "; with --watch the approver waits for it",
        _ => "",
    };
    Report::from_error(Code::ApproverFailed, error).fix(error.fix() + waits)
}
