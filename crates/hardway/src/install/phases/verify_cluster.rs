//! verify-cluster: the cluster is compared with the inventory, from outside.

use hardway_base::Verdict;

use crate::cluster::verification;
use crate::install::Install;
use crate::install::work::{Effect, Observed, Work};
use crate::report::{Code, Exit, Report, plain};

pub(super) struct VerifyCluster<'i>(pub(super) &'i Install);

impl Work for VerifyCluster<'_> {
    /// What was so yesterday need not be so today.
    fn observe(&self) -> Result<Observed, Report> {
        Ok(Observed::Todo("the cluster is checked on every run".to_owned()))
    }

    fn run(&self) -> Result<String, Report> {
        self.0.view.waits_for("checks of nodes, etcd, certificates, names, routes and a test workload");
        let outcomes = self.0.block_on(async {
            let live = self.0.live().await?;
            Ok(verification::verifier(&live, &self.0.workdir, None, Default::default()).run().await)
        })?;
        self.0.log.line(&plain(&verification::text(&outcomes)));
        let count = |verdict| outcomes.iter().filter(|outcome| outcome.judged.verdict == verdict).count();
        match verification::failed(&outcomes) {
            failed if failed.is_empty() => {
                Ok(format!("{} checks passed, {} warned", count(Verdict::Passed), count(Verdict::Warned)))
            }
            failed => Err(Report::new(Code::VerifyFailed, format!("checks failed: {}", failed.join(", ")))
                .exit(Exit::Install)
                .evidence([verification::text(&outcomes)])
                .fix("see what each failed check above found and how to fix it")),
        }
    }

    fn plan(&self) -> Result<Vec<Effect>, Report> {
        Ok(vec![Effect::of("creates a namespace with a test workload, and deletes it again")])
    }
}
