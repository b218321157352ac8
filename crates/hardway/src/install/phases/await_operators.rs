//! await-operators: the version is installed, every operator is at rest, every declared node is there.

use hardway_cluster::operators::STABLE_FOR;
use hardway_cluster::wait::{Judgement, Line, WaitError};

use crate::install::Install;
use crate::install::work::{Effect, Observed, Work};
use crate::report::{Code, Report};

pub(super) struct AwaitOperators<'i>(pub(super) &'i Install);

impl Work for AwaitOperators<'_> {
    fn observe(&self) -> Result<Observed, Report> {
        self.0.judge(|index, now| {
            let missing = index.unsettled(now);
            match missing.is_empty() {
                true => Judgement::Holds(format!("{} operators are at rest", index.state().operators.len())),
                false => Judgement::Lacks(missing.join("; ")),
            }
        })
    }

    fn run(&self) -> Result<String, Report> {
        self.0.background().approve(self.0)?;
        self.0.block_on(async {
            let live = self.0.live().await?;
            let mut say = |line: Line| self.0.hear(&line);
            let mut wait = self.0.wait(&live, STABLE_FOR, &mut say);
            let ended = wait.install_complete().await;
            let operators = wait.index().state().operators.len();
            let complaints = wait.complaints();
            match ended {
                Ok(_) => Ok(format!("{operators} operators are at rest")),
                Err(error) => {
                    let is_restless = matches!(error, WaitError::Stability { .. });
                    let report = match is_restless {
                        true => Report::from_error(Code::OperatorsUnstable, &error),
                        false => Report::from_error(Code::InstallFailed, &error),
                    };
                    Err(report.evidence(complaints.into_iter().map(|line| line.text)).fix(error.hint()))
                }
            }
        })
    }

    fn plan(&self) -> Result<Vec<Effect>, Report> {
        Ok(vec![Effect::of("watches the ClusterVersion and every ClusterOperator; changes nothing")])
    }
}
