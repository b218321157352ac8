//! What can be seen of machines from outside while they are waited for, written down when it is news.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hardway_assets::inventory::Host;
use hardway_journal::{Entry, HostSeen, Sight};
use hardway_machines::host_progress::HostReport;
use hardway_machines::providers::{DiskWritten, Power, Probe, Provider};

use super::Install;
use crate::clock;
use crate::journal::journal_report;
use crate::machines::outside;
use crate::report::Report;

/// A look starts a few programs per machine.
const BETWEEN_LOOKS: Duration = Duration::from_secs(8);
/// How often a disk that is being written is worth a line in the journal.
const BETWEEN_LINES: Duration = Duration::from_secs(60);

/// How long a question about a machine may take.
const PATIENCE: Duration = Duration::from_secs(20);

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
        machines: &[(&Host, &HostReport)],
    ) -> Result<(), Report> {
        if self.looked.is_some_and(|looked| looked.elapsed() < BETWEEN_LOOKS) {
            return Ok(());
        }
        for (host, state) in machines {
            let Some(by) = provider.seen_by(host) else { continue };
            install.go_on()?;
            // Whoever could not be asked has not said that it is off.
            let power = match asked(Some(provider.power(host))) {
                Some(Power::On) => Sight::On,
                Some(Power::Off) => Sight::Off,
                Some(Power::Unknown) | None => continue,
            };
            let mut seen = vec![(power, by)];
            seen.extend(asked(provider.console(host)).map(|sight| (sight, "console")));
            let written = self.written(provider, host).filter(|_| power == Sight::On);
            seen.extend(written.map(|sight| (sight, by)));
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
        let DiskWritten { bytes } = asked(provider.disk_written(host))?;
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

/// Nothing where nobody knows, or nobody answers in time.
fn asked<T>(probe: Option<Probe<T>>) -> Option<T> {
    probe?.within(PATIENCE).ask(&outside()).ok()?
}
