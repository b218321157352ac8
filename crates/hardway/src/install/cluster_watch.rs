//! Looking at the live cluster from a phase.

use std::time::Duration;

use hardway_assets::graph::Expiry;
use hardway_assets::work_paths;
use hardway_assets::{Phase, pki};
use hardway_cluster::operators::WatchedCluster;
use hardway_cluster::wait::{GiveUp, Judgement, Level, Line, Wait, WaitOptions};
use jiff::{SignedDuration, Timestamp};

use super::Install;
use super::witness::Witness;
use super::work::Observed;
use crate::clock;
use crate::cluster::{Access, Live, diagnosis};
use crate::report::{Code, Exit, Report};

/// For one look. A cluster that does not answer within this time counts as not there.
const LOOK: Duration = Duration::from_secs(10);

impl Install {
    /// The cluster of the folder, whatever the environment says.
    pub(crate) async fn live(&self) -> Result<Live, Report> {
        let access = Access {
            kubeconfig: Some(self.workdir.path(work_paths::KUBECONFIG)),
            release_dir: self.options.make.release.release_dir.clone(),
        };
        Live::open_with(&self.workdir, &access, &self.inputs, &self.out).await
    }

    /// The same report, with what is broken first, so that its reader need not ask.
    pub(super) fn diagnosed(&self, phase: Phase, report: Report) -> Report {
        if !phase.has_cluster() || report.exit == Exit::Interrupted || report.code == Code::CertificatesEnded
        {
            return report;
        }
        self.view.waits_for("a diagnosis");
        let found = self.block_on(async {
            let live = self.live().await?;
            Ok(diagnosis::first(&self.workdir, &live, &self.out).await)
        });
        report.evidence(found.ok().flatten())
    }

    /// Machines were installed with certificates of a day. Once those have ended, nothing that waits for the machines can
    /// come to a good end.
    pub(super) fn check_certificates(&self) -> Result<(), Report> {
        let ended = pki::ended(&self.cluster, &self.workdir.tree()?, clock::now());
        let ended: Vec<String> = ended.iter().map(Expiry::ending).collect();
        if ended.is_empty() {
            return Ok(());
        }
        let what =
            format!("{} certificates of the machines expired before bootstrapping was complete", ended.len());
        Err(Report::new(Code::CertificatesEnded, what).evidence([ended.join("\n")]).fix(pki::ENDED_FIX))
    }

    /// A wait that tells the view.
    pub(super) fn wait<'s>(
        &self,
        live: &Live,
        stable_for: SignedDuration,
        say: &'s mut dyn FnMut(Line),
    ) -> Wait<'s> {
        let options = WaitOptions { stall_after: self.options.stall_after, stable_for, ..WaitOptions::new() };
        let witness = Witness::new(self.journal.clone(), self.log.clone());
        live.wait(&self.workdir, options, say).witnessed(witness.teller())
    }

    /// One look at everything, judged. A cluster that does not answer has nothing done.
    pub(super) fn judge(
        &self,
        judge: impl Fn(&WatchedCluster, Timestamp) -> Judgement,
    ) -> Result<Observed, Report> {
        if !self.workdir.path(work_paths::KUBECONFIG).exists() {
            return Ok(Observed::Todo("no kubeconfig yet".to_owned()));
        }
        self.block_on(async {
            let live = self.live().await?;
            let mut say = |line: Line| self.log.line(&line.text);
            let mut wait = self.wait(&live, SignedDuration::ZERO, &mut say);
            if !wait.look(LOOK).await {
                return Ok(Observed::Todo("the API does not answer".to_owned()));
            }
            Ok(match judge(wait.index(), clock::now()) {
                Judgement::Holds(seen) => Observed::Done(seen),
                Judgement::Lacks(missing) => Observed::Todo(missing),
            })
        })
    }

    /// Waits until the judgement is good; else what was missing last goes into a report of the caller's.
    pub(super) fn until(
        &self,
        report: impl FnOnce(String) -> Report,
        judge: impl Fn(&WatchedCluster, Timestamp) -> Judgement,
    ) -> Result<String, Report> {
        self.block_on(async {
            let live = self.live().await?;
            let mut say = |line: Line| self.hear(&line);
            let mut wait = self.wait(&live, SignedDuration::ZERO, &mut say);
            let waited = wait.holds(|index, now| judge(index, now)).await;
            waited.map_err(|(last, why)| with_blocking(report(format!("{last}; {why}")), Some(&why)))
        })
    }

    /// What a wait says, for the view.
    pub(super) fn hear(&self, line: &Line) {
        match &line.awaits {
            Some(what) => self.view.waits_for(what),
            // The view says by itself for how long it has been waiting.
            None if line.level == Level::Debug || line.is_sign_of_life => self.log.line(&line.text),
            None => self.view.event(&line.text),
        }
    }
}

/// With what everything else waits for, and what to do about that where it is known.
pub(super) fn with_blocking(report: Report, why: Option<&GiveUp>) -> Report {
    let Some(link) = why.and_then(GiveUp::broken) else { return report };
    let report = report.evidence([format!("first broken: {}: {}", link.subject, link.what)]);
    match &link.fix {
        Some(fix) => report.fix(fix.clone()),
        None => report,
    }
}
