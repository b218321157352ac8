//! check-host: everything that can be known before anything is built.

use hardway_assets::Phase;
use hardway_base::{Judged, Verdict};
use hardway_journal::PhaseState;
use hardway_machines::preflight::{CheckName, CheckResult, Choice};

use crate::install::Install;
use crate::install::work::{Effect, Observed, Work};
use crate::journal::recorded;
use crate::machines::{ReleaseSource, look, preflight_text, refused};
use crate::release::ReleaseOptions;
use crate::report::{Report, plain};

pub(super) struct CheckHost<'i>(pub(super) &'i Install);

impl Work for CheckHost<'_> {
    /// By the journal, and once is enough: it makes nothing that could be looked at, and what is built afterwards takes the
    /// very ports and memory that it looks for.
    fn observe(&self) -> Result<Observed, Report> {
        Ok(match self.0.history()?.phases.state(recorded(Phase::CheckHost)) {
            PhaseState::Finished { evidence, .. } => Observed::Done(evidence.clone()),
            _ => Observed::Todo("this host has not passed its checks yet".to_owned()),
        })
    }

    fn run(&self) -> Result<String, Report> {
        self.0.view.waits_for("checks of this host, names, load balancer, registry and capacity");
        let Install { workdir, inputs, cluster, options, out, .. } = self.0;
        let skip = self.0.options.skip_checks.clone();
        // Files from days ago are no obstacle: make-pki makes anew what has ended.
        let choice = Choice { skip, unasked: &[CheckName::Certificates], ..Choice::default() };
        let told = |result: &CheckResult| {
            let Judged { verdict, seen, .. } = &result.judged;
            if matches!(verdict, Verdict::Failed | Verdict::Warned) {
                self.0.view.event(&format!("{}: {verdict}: {}", result.check, seen.join("; ")));
            }
        };
        let ReleaseOptions { registry, release_dir, .. } = &options.make.release;
        let source = ReleaseSource { registry, folder: release_dir.as_deref() };
        let results = look(workdir, inputs, cluster, source, &choice, told, out)?;
        let provider = cluster.inventory.machines.provider;
        self.0.log.line(&plain(&preflight_text(&results, provider, true)));
        match refused(&results) {
            Some(report) => Err(report.evidence([preflight_text(&results, provider, false)])),
            None => {
                let is_passed = |result: &&CheckResult| result.judged.verdict == Verdict::Passed;
                let passed = results.iter().filter(is_passed).count();
                Ok(format!("{passed} checks passed"))
            }
        }
    }

    fn plan(&self) -> Result<Vec<Effect>, Report> {
        Ok(vec![Effect::of(
            "checks this host and its surroundings (`hardway check --list` lists the checks); changes nothing",
        )])
    }
}
