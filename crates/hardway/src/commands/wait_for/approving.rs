//! Who approves certificate requests while `wait-for` waits. Nobody on the bootstrap host does, nor in the cluster.

use std::sync::Arc;

use hardway_assets::Cluster;
use hardway_cluster::approver::{Approver, CsrOutcome, News};
use hardway_cluster::csr_policy::{CsrVerdict, IgnitionEvidence, PolicySettings};
use hardway_cluster::leader_election::Standing;
use tokio::sync::mpsc;

use crate::cli::WaitArgs;
use crate::clock;
use crate::cluster::{self, ApproverHost, BackgroundApprover, DeclaredHere, Live, approver_words};
use crate::inputs::Workdir;
use crate::report::Report;
use crate::terminal::Output;

/// What machines need that nobody approves for.
const OTHERS: &str = "hardway approve --watch";

pub(super) enum Approving {
    /// This command, by the policy.
    Here { _approver: BackgroundApprover, told: mpsc::UnboundedReceiver<WaitLine> },
    /// Somebody else, or nobody.
    Elsewhere { why: &'static str },
}

/// What is to be printed.
pub(super) enum WaitLine {
    Info(String),
    Warning(String),
}

impl Approving {
    /// Begins, unless this command was told not to, or does not know who is expected. Must run inside an async runtime.
    pub(super) fn begin(
        live: &Live,
        workdir: &Workdir,
        args: &WaitArgs,
        out: &Output,
    ) -> Result<Self, Report> {
        let cluster = match expecting(live, args) {
            Ok(cluster) => cluster,
            Err(why) => {
                out.info(&format!(
                    "Not approving certificate requests: {why}. Machines become nodes only when their requests are approved; \
                     {} does that by policy",
                    out.advice(OTHERS)
                ));
                return Ok(Self::Elsewhere { why });
            }
        };
        out.info("Approving certificate requests of expected nodes by policy (--no-approve turns this off)");
        let client = cluster::client(live.config.clone())?;
        let expected = DeclaredHere::of_cluster(workdir, cluster);
        let (sender, told) = mpsc::unbounded_channel();
        let teller = sender.clone();
        let approver = Approver {
            client,
            folder: workdir.path(""),
            fetches: None,
            declared: expected.now(),
            settings: PolicySettings { ignition: IgnitionEvidence::IfServed, ..PolicySettings::default() },
            identity: cluster::identity(),
            standing: Standing::Principal,
            dry_run: false,
            now: Arc::new(clock::now),
            tell: Arc::new(move |news| {
                if let Some(told) = tell(news) {
                    let _ = teller.send(told);
                }
            }),
        };
        let warn = move |what: &str| {
            let _ = sender.send(WaitLine::Warning(format!("Certificate requests: {what}")));
        };
        Ok(Self::Here { _approver: BackgroundApprover::start(approver, expected, warn)?, told })
    }

    /// Waits, and says meanwhile what was decided.
    pub(super) async fn beside<T>(&mut self, waiting: impl Future<Output = T>, out: &Output) -> T {
        let Self::Here { told, .. } = self else { return waiting.await };
        let mut waiting = std::pin::pin!(waiting);
        loop {
            tokio::select! {
                done = &mut waiting => return done,
                Some(told) = told.recv() => match told {
                    WaitLine::Info(text) => out.info(&text),
                    WaitLine::Warning(text) => out.warn(&out.advice(&text)),
                },
            }
        }
    }

    /// What a wait that came to nothing has to say about it.
    pub(super) fn evidence(&self) -> Option<String> {
        match self {
            Self::Here { .. } => None,
            Self::Elsewhere { why } => Some(format!(
                "certificate requests were not approved here ({why}): see what is pending with hardway approve --dry-run"
            )),
        }
    }
}

/// The cluster whose nodes are let in, or why none are. Approving writes, so the cluster must be this folder's beyond doubt: a
/// pod's account is that of the cluster it runs in.
fn expecting<'l>(live: &'l Live, args: &WaitArgs) -> Result<&'l Cluster, &'static str> {
    if args.no_approve {
        return Err("--no-approve");
    }
    let cluster = live.cluster.as_ref().ok_or("no nodes are expected without an inventory.yaml")?;
    match live.kubeconfig {
        Some(_) => Ok(cluster),
        None => Err("no auth/kubeconfig here, and this pod's service account may belong to another cluster"),
    }
}

fn tell(news: News<'_>) -> Option<WaitLine> {
    match news {
        News::Decided(outcome) => Some(decided(outcome)),
        _ => approver_words(news, ApproverHost::Wait).map(WaitLine::Info),
    }
}

fn decided(outcome: &CsrOutcome) -> WaitLine {
    let decided = &outcome.decided;
    let (word, node, reason) = (decided.verdict.word(), &decided.node, &decided.reason);
    let line = format!("Certificate request {} of {node}: {word}: {reason}", decided.request);
    if decided.verdict == CsrVerdict::Approve {
        return WaitLine::Info(line);
    }
    let fix = if outcome.fix.is_empty() { String::new() } else { format!("; fix: {}", outcome.fix) };
    WaitLine::Warning(format!("{line}: {}{fix}", decided.evidence.join("; ")))
}
