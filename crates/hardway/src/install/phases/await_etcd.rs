//! await-etcd: etcd and the control plane run on the masters, and bootstrapping says that it is complete.

use hardway_assets::work_paths;
use hardway_cluster::operators::STABLE_FOR;
use hardway_cluster::wait::Line;

use crate::clock;
use crate::install::Install;
use crate::install::cluster_watch::with_blocking;
use crate::install::work::{Effect, Observed, Work};
use crate::journal::end_bootstrap;
use crate::report::{Code, Report};

pub(super) struct AwaitEtcd<'i>(pub(super) &'i Install);

impl Work for AwaitEtcd<'_> {
    fn observe(&self) -> Result<Observed, Report> {
        if !self.0.workdir.path(work_paths::KUBECONFIG).exists() {
            return Ok(Observed::Todo("no kubeconfig yet".to_owned()));
        }
        self.0.block_on(async {
            let live = self.0.live().await?;
            let mut say = |line: Line| self.0.log.line(&line.text);
            let mut wait = self.0.wait(&live, STABLE_FOR, &mut say);
            if !wait.look(std::time::Duration::from_secs(10)).await {
                return Ok(Observed::Todo("the API does not answer".to_owned()));
            }
            let decision = wait.decision().await;
            let missing = decision.missing().collect::<Vec<_>>().join("; ");
            Ok(match decision.is_open() {
                true => Observed::Done("the masters run the cluster".to_owned()),
                false => Observed::Todo(missing),
            })
        })
    }

    fn run(&self) -> Result<String, Report> {
        self.0.check_certificates()?;
        self.0.background().serve(self.0)?;
        self.0.background().approve(self.0)?;
        self.0.block_on(async {
            let live = self.0.live().await?;
            let mut say = |line: Line| self.0.hear(&line);
            let mut wait = self.0.wait(&live, STABLE_FOR, &mut say);
            match wait.bootstrap_complete().await {
                Ok(_) => {
                    end_bootstrap(&self.0.cluster, &self.0.journal, clock::now())?;
                    Ok("the masters run the cluster; the bootstrap host can be removed".to_owned())
                }
                Err(error) => {
                    let report = Report::from_error(Code::BootstrapFailed, &error);
                    Err(with_blocking(report.fix(error.hint()), error.why()))
                }
            }
        })
    }

    fn plan(&self) -> Result<Vec<Effect>, Report> {
        Ok(vec![Effect::of("waits until every gate of the pivot is open; changes nothing")])
    }
}
