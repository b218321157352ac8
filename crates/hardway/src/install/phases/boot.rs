//! install-os and boot-workers: machines switched on, until each has fetched its config.

use std::time::Duration;

use hardway_assets::Phase;
use hardway_assets::inventory::{Host, Role};
use hardway_journal::PhaseState;
use hardway_machines::host_progress::{HostProgress, HostReport, PATIENCE, Stall, stall};
use hardway_machines::providers::{Power, Provider, fetches_config};

use super::build_infra::effect;
use crate::clock;
use crate::install::Install;
use crate::install::observer::Observer;
use crate::install::work::{Effect, Observed, Work};
use crate::journal::recorded;
use crate::machines::outside;
use crate::report::{Code, Report};

/// At the journal, for machines that fetch their configs.
const BETWEEN_LOOKS: Duration = Duration::from_millis(300);

/// Machines of these roles, in this order: those of one role have fetched their configs before the next are switched on.
pub(super) struct Boot<'i> {
    pub(super) install: &'i Install,
    pub(super) roles: &'static [Role],
}

impl Work for Boot<'_> {
    fn observe(&self) -> Result<Observed, Report> {
        let hosts = self.hosts()?;
        if hosts.is_empty() {
            return Ok(Observed::Done("the inventory has no such hosts".to_owned()));
        }
        if !fetches_config(&self.install.cluster) {
            return self.observe_unseen(hosts.len());
        }
        let provider = self.install.provider()?;
        let states = self.install.host_states(&hosts)?;
        for (host, state) in hosts.iter().zip(&states) {
            if !state.has_config {
                return Ok(Observed::Todo(format!("{}: {}", host.name, state.sentence)));
            }
            match provider.power(host).ask(&outside()) {
                Ok(Some(Power::On)) => {}
                Ok(Some(Power::Off)) => return Ok(Observed::Todo(format!("{} is off", host.name))),
                Ok(Some(Power::Unknown)) => {
                    return Ok(Observed::Todo(format!("{} is neither on nor off", host.name)));
                }
                // One that was never made is not off.
                Ok(None) | Err(_) => {
                    return Ok(Observed::Todo(format!("the provider does not know of {}", host.name)));
                }
            }
        }
        Ok(Observed::Done(format!("{} machines are on and have their configs", hosts.len())))
    }

    fn run(&self) -> Result<String, Report> {
        let provider = self.install.provider()?;
        let mut background = self.install.background();
        background.serve(self.install)?;
        background.serve_media(self.install, provider.as_ref())?;
        drop(background);
        for role in self.roles {
            let hosts = self.install.hosts(*role)?;
            for host in &hosts {
                self.boot(provider.as_ref(), host)?;
            }
            if fetches_config(&self.install.cluster) {
                self.until_seen(provider.as_ref(), &hosts)?;
            }
        }
        let count = self.hosts()?.len();
        Ok(match fetches_config(&self.install.cluster) {
            true => format!("{count} machines are on and have their configs"),
            false => unseen(count),
        })
    }

    fn plan(&self) -> Result<Vec<Effect>, Report> {
        let provider = self.install.provider()?;
        let mut effects = Vec::new();
        if fetches_config(&self.install.cluster) {
            effects.push(Effect::of("serves each machine its config, for its own token"));
        }
        for host in self.hosts()? {
            effects.extend(provider.first_boot(host).iter().map(effect));
        }
        Ok(effects)
    }
}

impl<'i> Boot<'i> {
    fn hosts(&self) -> Result<Vec<&'i Host>, Report> {
        let mut hosts = Vec::new();
        for role in self.roles {
            hosts.extend(self.install.hosts(*role)?);
        }
        Ok(hosts)
    }

    /// Nobody sees machines whose media carry the whole config: that they were booted, or a person was told to, is all that is
    /// known until their kubelets ask.
    fn observe_unseen(&self, count: usize) -> Result<Observed, Report> {
        let phase = if self.roles.contains(&Role::Worker) { Phase::BootWorkers } else { Phase::InstallOs };
        Ok(match self.install.history()?.phases.state(recorded(phase)) {
            PhaseState::Finished { .. } => Observed::Done(unseen(count)),
            _ => Observed::Todo(format!("{count} machines to boot from media that carry their configs")),
        })
    }

    /// Boots a machine from here, or has a person do it: then everything but the last step is done here, and they are told what
    /// that step is.
    fn boot(&self, provider: &dyn Provider, host: &Host) -> Result<(), Report> {
        let steps = provider.by_hand(host);
        if steps.is_empty() {
            return self.install.carry_out(&provider.first_boot(host));
        }
        self.install.carry_out(&provider.before_first_boot(host))?;
        if !self.install.host_states(&[host])?[0].has_config {
            self.install.view.event(&by_hand(host, &steps));
        }
        Ok(())
    }

    /// There is no deadline, only a time in which nothing happens.
    fn until_seen(&self, provider: &dyn Provider, hosts: &[&Host]) -> Result<(), Report> {
        let (begun, mut observer) = (clock::now(), Observer::default());
        loop {
            self.install.go_on()?;
            let states = self.install.host_states(hosts)?;
            let waiting: Vec<(&Host, &HostReport)> =
                hosts.iter().copied().zip(&states).filter(|(_, state)| !state.has_config).collect();
            if waiting.is_empty() {
                return Ok(());
            }
            observer.look(self.install, provider, &waiting)?;
            let missing: Vec<&HostReport> = waiting.iter().map(|(_, state)| *state).collect();
            let names: Vec<&str> = missing.iter().map(|state| state.host.as_str()).collect();
            self.install.view.waits_for(&format!("{} to fetch its config", names.join(", ")));
            let now = clock::now();
            if let Some(stall) = missing.iter().find_map(|state| stall(state, begun, now, PATIENCE)) {
                return Err(gave_up(provider, &waiting, stall));
            }
            self.install.pause(BETWEEN_LOOKS)?;
        }
    }
}

/// What is told of machines that nothing was heard of: what a person has to do, or where a person should look.
fn gave_up(provider: &dyn Provider, waiting: &[(&Host, &HostReport)], stall: Stall) -> Report {
    let names: Vec<&str> = waiting.iter().map(|(host, _)| host.name.as_str()).collect();
    let told = waiting.iter().map(|(host, _)| (*host, provider.by_hand(host)));
    let told: Vec<String> =
        told.filter(|(_, steps)| !steps.is_empty()).map(|(host, steps)| by_hand(host, &steps)).collect();
    if !told.is_empty() {
        return Report::new(Code::ByHand, format!("waiting for a person to boot {}", names.join(", ")))
            .evidence(told)
            .fix("follow the steps above, then run the same command again: it waits for the machines");
    }
    let what = format!("{} has not contacted the ignition server for {} minutes", stall.host, stall.minutes);
    let machine = waiting.iter().find(|(host, _)| host.name == stall.host);
    let console = machine.and_then(|(host, _)| provider.look_at_console(host));
    let console = console.map(|command| format!(": {command}")).unwrap_or_default();
    let seen = machine.map(|(_, state)| state.sentence.clone());
    Report::new(Code::MachineNotSeen, what)
        .evidence(seen.into_iter().chain(stall.look_at))
        .fix(format!("look at its console{console}; then run the same command again"))
}

/// One machine, until it was seen.
pub(in crate::install) fn boot_one(install: &Install, host: &Host) -> Result<(), Report> {
    let (boot, provider) = (Boot { install, roles: &[] }, install.provider()?);
    boot.boot(provider.as_ref(), host)?;
    boot.until_seen(provider.as_ref(), &[host])
}

/// Whether its node has both of its certificates: until then somebody has to approve.
pub(in crate::install) fn has_joined(install: &Install, host: &Host) -> Result<bool, Report> {
    let states = install.host_states(&[host])?;
    Ok(states.iter().all(|state| state.progress == HostProgress::Joined))
}

fn unseen(count: usize) -> String {
    format!(
        "{count} machines carry their configs on their media; they are seen once they request certificates"
    )
}

/// What a person has to do, numbered.
fn by_hand(host: &Host, steps: &[String]) -> String {
    let numbered = steps.iter().enumerate().map(|(i, step)| format!("\n  {}. {step}", i + 1));
    numbered.fold(format!("{}, by hand:", host.name), |text, step| text + &step)
}
