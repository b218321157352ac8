//! Who approves certificate requests while `wait-for` waits. Nobody on the bootstrap host does, nor in the cluster.

use std::sync::Arc;

use hardway_cluster::approver::{Approver, CsrOutcome, News};
use hardway_cluster::csr_policy::{CsrVerdict, IgnitionEvidence, Settings};
use hardway_cluster::leader_election::Standing;
use kube::Client;
use tokio::sync::mpsc;

use crate::cli::WaitArgs;
use crate::clock;
use crate::cluster::{self, BackgroundApprover, Live};
use crate::inputs::Workdir;
use crate::report::{Code, Report};
use crate::terminal::Output;

/// What machines need that nobody approves for.
const OTHERS: &str = "hardway approve --watch";

pub(super) enum Approving {
    /// This command, by the policy.
    Here { _approver: BackgroundApprover, told: mpsc::UnboundedReceiver<Told> },
    /// Somebody else, or nobody.
    Elsewhere { why: &'static str },
}

/// What is to be printed.
pub(super) enum Told {
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
        if let Some(why) = why_not(live, args) {
            out.info(&format!(
                "Certificate requests are left to others: {why}. Without anybody who approves them no machine becomes a node; \
                 {} does it by the policy",
                out.advice(OTHERS)
            ));
            return Ok(Self::Elsewhere { why });
        }
        out.info(
            "Certificate requests of expected nodes are approved by the policy meanwhile (--no-approve leaves them to others)",
        );
        let client = Client::try_from(live.config.clone())
            .map_err(|error| Report::from_error(Code::KubeconfigUnusable, &error))?;
        let (sender, told) = mpsc::unbounded_channel();
        let teller = sender.clone();
        let approver = Approver {
            client,
            folder: workdir.path(""),
            declared: live.declared(workdir),
            settings: Settings { ignition: IgnitionEvidence::IfServed, ..Settings::default() },
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
        let gave_up = move |why: &str| {
            let _ = sender.send(Told::Warning(format!("Certificate requests: {why}")));
        };
        Ok(Self::Here { _approver: BackgroundApprover::start(approver, gave_up)?, told })
    }

    /// Waits, and says meanwhile what was decided.
    pub(super) async fn beside<T>(&mut self, waiting: impl Future<Output = T>, out: &Output) -> T {
        let Self::Here { told, .. } = self else { return waiting.await };
        let mut waiting = std::pin::pin!(waiting);
        loop {
            tokio::select! {
                done = &mut waiting => return done,
                Some(told) = told.recv() => match told {
                    Told::Info(text) => out.info(&text),
                    Told::Warning(text) => out.warn(&out.advice(&text)),
                },
            }
        }
    }

    /// What a wait that came to nothing has to say about it.
    pub(super) fn evidence(&self) -> Option<String> {
        match self {
            Self::Here { .. } => None,
            Self::Elsewhere { why } => Some(format!(
                "certificate requests were left to others ({why}): hardway approve --dry-run says what is pending"
            )),
        }
    }
}

/// Approving writes, so the cluster must be this folder's beyond doubt: a pod's account is that of the cluster it runs in.
fn why_not(live: &Live, args: &WaitArgs) -> Option<&'static str> {
    if args.no_approve {
        return Some("--no-approve");
    }
    if live.cluster.is_none() {
        return Some("without an inventory.yaml nobody is expected");
    }
    live.kubeconfig
        .is_none()
        .then_some("there is no auth/kubeconfig here, and this pod's account may be of another cluster")
}

fn tell(news: News<'_>) -> Option<Told> {
    Some(match news {
        News::Decided(outcome) => decided(outcome),
        News::Joined(host) => Told::Info(format!("Host {host} has become a node")),
        News::Leading => Told::Info("Approving: this one writes".to_owned()),
        News::Following(holder) => {
            Told::Info(format!("{holder} approves certificates; this one takes over when it ends"))
        }
        // Whoever waits says so already.
        News::Trouble(_) => return None,
    })
}

fn decided(outcome: &CsrOutcome) -> Told {
    let decided = &outcome.decided;
    let (word, node, reason) = (decided.verdict.word(), &decided.node, &decided.reason);
    let line = format!("Certificate request {} of {node}: {word}: {reason}", decided.request);
    if decided.verdict == CsrVerdict::Approve {
        return Told::Info(line);
    }
    let fix = if outcome.fix.is_empty() { String::new() } else { format!("; fix: {}", outcome.fix) };
    Told::Warning(format!("{line}: {}{fix}", decided.evidence.join("; ")))
}
