//! verify-cluster: the cluster is compared with the inventory, from outside.

use hardway_cluster::verify::VerifyVerdict;

use crate::cluster::verification;
use crate::install::Install;
use crate::install::work::{Effect, Observed, Work};
use crate::report::{Code, Exit, Report};

pub(super) struct VerifyCluster<'i>(pub(super) &'i Install);

impl Work for VerifyCluster<'_> {
    /// What was so yesterday need not be so today.
    fn observe(&self) -> Result<Observed, Report> {
        Ok(Observed::Todo("a cluster is looked at anew each time".to_owned()))
    }

    fn run(&self) -> Result<String, Report> {
        self.0.view.waits_for("checks of nodes, etcd, certificates, names, routes and a test workload");
        let outcomes = self.0.block_on(async {
            let live = self.0.live().await?;
            Ok(verification::verifier(&live, &self.0.workdir, None, Default::default())?.run().await)
        })?;
        self.0.log.line(&verification::text(&outcomes));
        let count = |verdict| outcomes.iter().filter(|outcome| outcome.verdict == verdict).count();
        match verification::failed(&outcomes) {
            failed if failed.is_empty() => Ok(format!(
                "{} checks passed, {} warned",
                count(VerifyVerdict::Passed),
                count(VerifyVerdict::Warned)
            )),
            failed => Err(Report::new(Code::VerifyFailed, format!("checks failed: {}", failed.join(", ")))
                .exit(Exit::Install)
                .evidence([verification::text(&outcomes)])
                .fix("each failed check above says what was seen and what to do")),
        }
    }

    fn plan(&self) -> Result<Vec<Effect>, Report> {
        Ok(vec![Effect::of("makes one namespace with a test workload, and takes it away again")])
    }
}
