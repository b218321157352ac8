//! What can be seen of machines from outside while they are waited for, written down when it is news.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hardway_assets::inventory::Host;
use hardway_journal::{Entry, HostSeen, Sight};
use hardway_machines::actions::{Check, Program};
use hardway_machines::host_progress::{HostState, console};
use hardway_machines::providers::Provider;

use super::Install;
use crate::clock;
use crate::journal::journal_report;
use crate::machines::outside;
use crate::report::Report;

/// A look costs a few programs a machine.
const BETWEEN_LOOKS: Duration = Duration::from_secs(8);
/// A disk that is written to is worth a line in the journal so often.
const BETWEEN_LINES: Duration = Duration::from_secs(60);

/// What was seen so far.
#[derive(Default)]
pub(super) struct Observer {
    looked: Option<Instant>,
    /// How much was on the disk when that was last said, and when.
    written: BTreeMap<String, (u64, Instant)>,
}

impl Observer {
    /// Looks, if the last time is long enough ago.
    pub(super) fn look(
        &mut self,
        install: &Install,
        provider: &dyn Provider,
        machines: &[(&Host, &HostState)],
    ) -> Result<(), Report> {
        if self.looked.is_some_and(|looked| looked.elapsed() < BETWEEN_LOOKS) {
            return Ok(());
        }
        for (host, state) in machines {
            let Some(by) = provider.seen_by(host) else { continue };
            install.go_on()?;
            // Whoever could not be asked has not said that it is off.
            let Some(is_on) = says(&provider.is_on(host)) else { continue };
            let mut seen = vec![(if is_on { Sight::On } else { Sight::Off }, by)];
            seen.extend(told_by_console(provider, host).map(|sight| (sight, "console")));
            seen.extend(self.written(provider, host).filter(|_| is_on).map(|sight| (sight, by)));
            for (sight, by) in seen.into_iter().filter(|(sight, _)| state.is_news(*sight)) {
                let fact = HostSeen { host: host.name.clone(), sight, by: by.to_owned() };
                let entry = Entry::of(clock::now(), &fact);
                install.journal.append(&[entry]).map_err(|error| journal_report(&error))?;
            }
        }
        self.looked = Some(Instant::now());
        Ok(())
    }

    /// Whether more is on its disk than when that was last said.
    fn written(&mut self, provider: &dyn Provider, host: &Host) -> Option<Sight> {
        let printed = outside().run(&soon(&provider.written(host)?)).ok()?;
        let bytes =
            printed.lines().find_map(|line| line.split_once("wr_bytes ")?.1.trim().parse::<u64>().ok())?;
        let (megabytes, now) = (bytes / 1_000_000, Instant::now());
        let is_news = match self.written.get(&host.name) {
            Some((known, said)) => megabytes > *known && said.elapsed() >= BETWEEN_LINES,
            None => megabytes > 0,
        };
        is_news.then(|| {
            self.written.insert(host.name.clone(), (megabytes, now));
            Sight::Writing { megabytes }
        })
    }
}

/// Whether that is printed.
fn says(check: &Check) -> Option<bool> {
    let Check::Prints { program, line } = check else { return None };
    outside().prints(&soon(program), line).ok()
}

/// A management controller, or a libvirt, that is silent would be waited for for minutes.
fn soon(program: &Program) -> Program {
    Program::new("timeout", ["20", &program.program]).with(program.arguments.clone())
}

fn told_by_console(provider: &dyn Provider, host: &Host) -> Option<Sight> {
    console::sight(&outside().run(&soon(&provider.console(host)?)).ok()?)
}
