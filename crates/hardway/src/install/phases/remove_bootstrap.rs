//! remove-bootstrap: out of the load balancer, and only then off. Every gate is looked at again before each of the two.

use std::time::{Duration, Instant};

use hardway_assets::Phase;
use hardway_assets::host_services::BOOTSTRAP_SERVER;
use hardway_assets::inventory::Role;
use hardway_cluster::operators::STABLE_FOR;
use hardway_cluster::pivot::{Allowed, PivotDecision};
use hardway_cluster::wait::Line;
use hardway_journal::{Entry, MachineRetired};
use hardway_machines::load_balancer;
use hardway_machines::providers::{ActionScope, LoadBalancer, is_of_machine};

use crate::clock;
use crate::install::Install;
use crate::install::work::{Effect, Observed, Work};
use crate::journal::journal_report;
use crate::report::{Code, Report};

/// For an API that does not answer just now: connections are lost while the load balancer changes, and the masters' API servers
/// are rolled out in these minutes.
const PATIENCE: Duration = Duration::from_secs(120);

pub(super) struct RemoveBootstrap<'i>(pub(super) &'i Install);

impl Work for RemoveBootstrap<'_> {
    fn observe(&self) -> Result<Observed, Report> {
        let history = self.0.history()?;
        let Some(host) = self.host() else {
            return Ok(Observed::Done("the inventory has no bootstrap host".to_owned()));
        };
        let ledger = self.0.executor().ledger().map_err(|error| journal_report(&error))?;
        let is_there = ledger.iter().any(|owned| is_of_machine(&owned.action, host));
        Ok(match (history.hosts.is_retired(host), is_there) {
            (true, false) => Observed::Done(format!("{host} is gone")),
            (true, true) => {
                Observed::Todo(format!("{host} was removed from the load balancer, and still exists"))
            }
            (false, _) => Observed::Todo(format!("{host} still exists")),
        })
    }

    fn run(&self) -> Result<String, Report> {
        let Some(host) = self.host() else { return Ok("the inventory has no bootstrap host".to_owned()) };
        self.0.background().approve(self.0)?;
        self.allowed(false, Allowed::LeaveLoadBalancer)?;
        self.leave_load_balancer()?;
        let retired = Entry::of(clock::now(), &MachineRetired { host: host.to_owned() });
        self.0.journal.append(&[retired]).map_err(|error| journal_report(&error))?;
        // From now on no configuration names it; what runs takes that up without dropping anybody.
        let actions = self.0.provider()?.infrastructure();
        let actions: Vec<_> = actions
            .into_iter()
            .filter(|action| ActionScope::of(&action.id) == Some(ActionScope::Balancer))
            .collect();
        self.0.carry_out(&actions)?;
        self.allowed(true, Allowed::PowerOff)?;
        self.0.view.waits_for(&format!("{host} to go"));
        let executor = self.0.executor();
        executor
            .take_back(|action| is_of_machine(action, host), &mut ())
            .map_err(|error| self.0.failed(&error))?;
        Ok(format!("{host} was removed from the load balancer and deleted"))
    }

    fn plan(&self) -> Result<Vec<Effect>, Report> {
        let host = self.host().unwrap_or("no host");
        Ok(vec![
            Effect::of("checks every gate of the pivot"),
            Effect::of(format!("removes {host} from the load balancer")),
            Effect::of("checks every gate again"),
            Effect::of(format!("deletes the machine {host}")),
        ])
    }
}

impl RemoveBootstrap<'_> {
    fn host(&self) -> Option<&str> {
        self.0.cluster.inventory.with_role(Role::Bootstrap).next().map(|host| host.name.as_str())
    }

    /// Refuses what would lose the cluster.
    fn allowed(&self, has_left: bool, needed: Allowed) -> Result<(), Report> {
        let begun = Instant::now();
        loop {
            let decision = self.decision(has_left)?;
            if decision.allowed >= needed {
                return Ok(());
            }
            if decision.is_heard() || begun.elapsed() >= PATIENCE {
                let missing: Vec<String> = decision.missing().map(ToString::to_string).collect();
                let what = "the bootstrap host still runs a part of the cluster";
                return Err(Report::new(Code::PivotRefused, what)
                    .evidence(missing)
                    .fix("wait for what is missing with `hardway phase run await-etcd`"));
            }
            self.0.view.waits_for("the API to answer");
            self.0.pause(Duration::from_secs(1))?;
        }
    }

    fn decision(&self, has_left: bool) -> Result<PivotDecision, Report> {
        self.0.block_on(async {
            let live = self.0.live().await?;
            let mut say = |line: Line| self.0.log.line(&line.text);
            let mut wait = self.0.wait(&live, STABLE_FOR, &mut say);
            wait.look(Duration::from_secs(20)).await;
            Ok(wait.decision_when(has_left).await)
        })
    }

    fn leave_load_balancer(&self) -> Result<(), Report> {
        match self.0.provider()?.load_balancer() {
            LoadBalancer::Haproxy { admin_socket } => {
                load_balancer::take_out(&admin_socket, BOOTSTRAP_SERVER).map_err(|error| {
                    Report::from_error(Code::BalancerFailed, &error)
                        .fix("check that HAProxy is running; `hardway phase run build-infra` starts it")
                })
            }
            // The configuration without it is put in place below, with the machine retired.
            LoadBalancer::ByConfiguration => Ok(()),
            LoadBalancer::External if self.0.options.load_balancer_changed => Ok(()),
            LoadBalancer::External => {
                let changes = load_balancer::changes(&self.0.cluster);
                let later: Vec<_> =
                    changes.into_iter().filter(|change| change.before == Phase::RemoveBootstrap).collect();
                Err(Report::new(
                    Code::BalancerExternal,
                    "the bootstrap host must be removed from your load balancer now",
                )
                .evidence([load_balancer::table(&later)])
                .fix("change it as above, then run the same command with --load-balancer-changed"))
            }
        }
    }
}
