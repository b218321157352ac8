//! `wait-for bootstrap-complete`

use super::error::WaitError;
use super::line::Line;
use super::waiter::{Wait, host};
use crate::clock::shown;
use crate::etcd::{MembersError, ask_members};
use crate::pivot::{Facts, PivotDecision, decide};
use crate::watch::{Watch, WatchedKind};

impl Wait<'_> {
    /// Until the bootstrap host may be removed: the API answers, kube-system/bootstrap reports complete, and nothing of etcd
    /// is left on it. The decision says what was seen at each gate.
    pub async fn bootstrap_complete(&mut self) -> Result<PivotDecision, WaitError> {
        self.check_client()?;
        self.look_at_host();
        self.announce(&format!("the Kubernetes API at {}", host(&self.config)));
        let version = self.api().await.map_err(|(last, why)| WaitError::Api { last, why })?;
        self.say(Line::info(format!("API {version} up")));

        let mut watch = Watch::start(&self.config, self.options.patience);
        self.announce("bootstrapping to complete");
        let (mut said, mut closed) = (None, None);
        let complete = self.until(&mut watch, async |wait| {
            let state = wait.index.state();
            let status = state.bootstrap.as_ref().and_then(|map| map.get("status")).map(str::to_owned);
            let is_complete = state.is_bootstrap_complete();
            if let Some(status) = status.filter(|status| said.as_ref() != Some(status)) {
                wait.say(Line::debug(format!("Bootstrap status: {status}")));
                said = Some(status);
            }
            let gate = wait.first_closed_gate();
            if let Some(seen) = gate.as_ref().filter(|_| gate != closed) {
                let still = format!("bootstrapping to complete: {seen}");
                wait.say(Line::debug(format!("Still waiting for {still}")).awaiting(still));
            }
            closed = gate;
            is_complete.then_some(())
        });
        complete.await.map_err(|why| {
            let last = why.broken().map_or_else(|| why.to_string(), |link| link.what.clone());
            WaitError::Bootstrap { last, why }
        })?;

        self.announce_removal();
        let removed = self.until(&mut watch, async |wait| {
            let etcd = wait.index.state().control_plane.get(&WatchedKind::Etcd);
            etcd.is_some_and(|etcd| etcd.is_true("EtcdBootstrapMemberRemoved")).then_some(())
        });
        if let Err(why) = removed.await {
            self.say(Line::warn(format!("Bootstrap etcd member may not have been removed: {why}")));
            let last = self.decision().await.missing().collect::<Vec<_>>().join("; ");
            return Err(WaitError::Bootstrap { last, why });
        }
        let decision = self.gates_open(&mut watch).await?;
        self.say(Line::info("Bootstrap etcd member has been removed"));
        self.say(Line::info("It is now safe to remove the bootstrap resources"));
        let elapsed = shown(self.elapsed());
        self.say(Line::info(format!("Time elapsed: {elapsed}")));
        Ok(decision)
    }

    fn announce_removal(&mut self) {
        let what = "the bootstrap etcd member to be removed";
        self.say(Line::info(format!("Waiting for {what}...")).awaiting(what));
    }

    /// What the pivot waits for first, as far as watching tells: etcd itself is not asked each time.
    fn first_closed_gate(&self) -> Option<String> {
        let asked = Err(MembersError::NotAsked);
        let facts = Facts::of(self.index.state(), self.index.declared(), self.is_fresh(), asked, false);
        decide(&facts).missing().next().map(str::to_owned)
    }

    /// openshift-install takes the operator's word; here every gate of the pivot must hold as well.
    async fn gates_open(&mut self, watch: &mut Watch) -> Result<PivotDecision, WaitError> {
        let mut last = String::new();
        let open = self.until(watch, async |wait| {
            let decision = wait.decision().await;
            let missing = decision.missing().collect::<Vec<_>>().join("; ");
            if !missing.is_empty() && missing != last {
                wait.say(Line::info(format!("Not yet safe to remove the bootstrap resources: {missing}")));
            }
            last = missing;
            decision.is_open().then_some(decision)
        });
        open.await.map_err(|why| WaitError::Bootstrap { last, why })
    }

    /// What may be done to the bootstrap host at this moment. Whether it has left the load balancer is not for waiting to
    /// know.
    pub async fn decision(&mut self) -> PivotDecision {
        self.decision_when(false).await
    }

    /// The same for a caller that knows whether the bootstrap host has left the load balancer.
    pub async fn decision_when(&mut self, has_left_load_balancer: bool) -> PivotDecision {
        let asked = match &self.options.etcd {
            Some(access) => ask_members(access).await,
            None => Err(MembersError::NoCertificate),
        };
        let (state, declared) = (self.index.state(), self.index.declared());
        decide(&Facts::of(state, declared, self.is_fresh(), asked, has_left_load_balancer))
    }

    fn is_fresh(&self) -> bool {
        let kinds =
            [WatchedKind::Etcd, WatchedKind::KubeApiServer, WatchedKind::Bootstrap, WatchedKind::Version];
        kinds.iter().all(|kind| self.index.is_fresh(*kind))
    }
}
