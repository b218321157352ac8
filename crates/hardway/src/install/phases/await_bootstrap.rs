//! await-bootstrap: the API answers on the bootstrap host, and the version operator has begun.

use hardway_cluster::bootstrap_progress::{RESET, ResetError, reset};
use hardway_cluster::operators::WatchedCluster;
use hardway_cluster::wait::Judgement;

use crate::install::Install;
use crate::install::work::{Effect, Observed, Work};
use crate::report::{Code, Report};

pub(super) struct AwaitBootstrap<'i>(pub(super) &'i Install);

impl Work for AwaitBootstrap<'_> {
    fn observe(&self) -> Result<Observed, Report> {
        self.0.judge(|index, _| judge(index))
    }

    fn run(&self) -> Result<String, Report> {
        self.0.check_certificates()?;
        self.0.background().serve(self.0)?;
        // Masters ask as soon as there is an API, and nobody on the bootstrap host answers them.
        self.0.background().approve(self.0)?;
        self.0.until(|what| Report::new(Code::BootstrapFailed, what), |index, _| judge(index))
    }

    fn plan(&self) -> Result<Vec<Effect>, Report> {
        Ok(vec![Effect::of(
            "watches the bootstrap host and the API until the first objects exist, and approves certificate requests of \
             expected machines",
        )])
    }

    /// A bootkube that hangs is begun anew, without losing what etcd already has.
    fn reset(&self) -> Result<Vec<String>, Report> {
        self.0.block_on(async {
            let live = self.0.live().await?;
            let remote = live.bootstrap_shell(&self.0.workdir)?;
            let done = reset(&remote, self.0.cluster.is_ipv6_primary()).await;
            let done = done.map_err(|error| {
                let report = Report::from_error(Code::ResetFailed, &error);
                match error {
                    ResetError::Remote(error) => error.fix().into_iter().fold(report, Report::fix),
                    ResetError::HandedOver => report,
                }
            })?;
            let why = |what: &&str| {
                RESET.iter().find(|action| action.what == *what).map_or("", |action| action.why)
            };
            Ok(done.iter().map(|what| format!("{what}: {}", why(what))).collect())
        })
    }
}

fn judge(index: &WatchedCluster) -> Judgement {
    if index.state().version.is_none() {
        return Judgement::Lacks("the ClusterVersion to be created".to_owned());
    }
    match index.version().last_word() {
        None => Judgement::Lacks("the first status of the cluster version operator".to_owned()),
        // The rest names every operator that is waited for.
        Some(word) => Judgement::Holds(format!(
            "the cluster version operator: {}",
            word.split(',').next().unwrap_or(word)
        )),
    }
}
