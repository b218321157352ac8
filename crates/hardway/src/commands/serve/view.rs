//! Hosts and events as a table: who has fetched what, when, from where, and who has not.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use hardway_assets::inventory::Role;
use hardway_journal::{Face, Hosts, Redeemed};
use hardway_machines::ignition_server::faces::HostTable;
use hardway_machines::ignition_server::{ConfigEvent, Happened};
use jiff::Timestamp;

use super::line;
use crate::cli::ServeFormat;

/// What is shown.
#[derive(Debug, Default)]
pub(super) struct ServeView {
    rows: BTreeMap<(Role, String), HostRow>,
    recent: VecDeque<String>,
}

#[derive(Debug, Default)]
struct HostRow {
    addresses: Vec<IpAddr>,
    is_made: bool,
    digest: String,
    fetched: Option<Redeemed>,
    joined: Option<Timestamp>,
}

/// Lines about events below the table.
const RECENT: usize = 5;

impl ServeView {
    /// Whether there is a table.
    pub(super) fn has_hosts(&self) -> bool {
        !self.rows.is_empty()
    }

    /// Takes in which hosts there are, and how they are now.
    pub(super) fn update(&mut self, roles: &BTreeMap<String, Role>, table: &HostTable, told: &Hosts) {
        self.rows = roles.iter().map(|(name, role)| ((*role, name.clone()), HostRow::default())).collect();
        for ((_, name), row) in &mut self.rows {
            let config = table.get(name).and_then(|state| state.config.as_ref());
            row.addresses = table.get(name).map(|state| state.addresses.clone()).unwrap_or_default();
            row.is_made = config.is_some();
            row.digest = config.map(|config| config.digest().to_string()).unwrap_or_default();
            row.fetched = told.redeemed(name).cloned();
            row.joined = told.joined(name);
        }
    }

    /// Whether a host's config went to an address that is none of the host's.
    pub(super) fn is_elsewhere(&self, event: &ConfigEvent) -> bool {
        let is_its = |((_, name), row): (&(Role, String), &HostRow)| {
            *name == event.who && !row.addresses.contains(&event.source)
        };
        event.face == Some(Face::Host)
            && matches!(event.what, Happened::Served { .. })
            && self.rows.iter().any(is_its)
    }

    /// Takes in an event.
    pub(super) fn note(&mut self, event: &ConfigEvent) {
        let line = line::event(event, self.is_elsewhere(event), ServeFormat::Text);
        self.recent.push_back(line.trim_end().to_owned());
        if self.recent.len() > RECENT {
            self.recent.pop_front();
        }
        if let (Happened::Served { digest, .. }, Some(Face::Host)) = (&event.what, event.face) {
            let row = self.rows.iter_mut().find(|((_, name), _)| *name == event.who);
            if let Some((_, row)) = row {
                let (at, source, digest) = (event.time, event.source, digest.clone());
                row.fetched = Some(Redeemed { at, source, digest });
            }
        }
    }

    /// As shown on a screen.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("{:24} {:10} {:12} {}", "HOST", "ROLE", "GENERATION", "STATE")];
        for ((role, name), row) in &self.rows {
            lines.push(format!("{name:24} {:10} {:12} {}", role.name(), row.digest, row.state()));
        }
        let missing = self.rows.values().filter(|row| row.fetched.is_none() && row.joined.is_none()).count();
        lines.push(format!("{missing} of {} hosts not seen yet", self.rows.len()));
        lines.extend(self.recent.iter().cloned());
        lines
    }
}

impl HostRow {
    fn state(&self) -> String {
        match (&self.joined, &self.fetched) {
            (Some(joined), Some(Redeemed { at, .. })) if joined >= at => format!("joined at {joined:.0}"),
            (Some(joined), None) => format!("joined at {joined:.0}"),
            (_, Some(Redeemed { at, source, digest })) if *digest == self.digest => {
                format!("fetched at {at:.0} from {source}")
            }
            (_, Some(Redeemed { at, source, digest })) => {
                format!("fetched generation {digest} at {at:.0} from {source}")
            }
            (None, None) if self.is_made => "not seen yet".to_owned(),
            (None, None) => "no config yet".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use hardway_machines::ignition_server::PreparedConfig;
    use hardway_machines::ignition_server::faces::HostOffer;

    use super::*;

    #[test]
    fn who_came_and_who_did_not_is_told() {
        let config = PreparedConfig::new("{}");
        let digest = config.digest().to_string();
        let made = HostOffer { config: Some(config), ..HostOffer::default() };
        let table = BTreeMap::from([
            ("boot".to_owned(), made.clone()),
            ("m0".to_owned(), made),
            ("w0".to_owned(), HostOffer::default()),
        ]);
        let roles = [("boot", Role::Bootstrap), ("m0", Role::Master), ("w0", Role::Worker)];
        let roles = roles.into_iter().map(|(name, role)| (name.to_owned(), role)).collect();
        let mut view = ServeView::default();
        view.update(&roles, &table, &Hosts::default());
        for i in 0..9 {
            view.note(&ConfigEvent {
                time: "2026-11-15T06:00:00Z".parse().unwrap(),
                source: "10.0.0.5".parse().unwrap(),
                face: Some(Face::Host),
                who: "m0".to_owned(),
                agent: String::new(),
                what: Happened::Served { digest: digest.clone(), bytes: i },
            });
        }
        let lines = view.lines();
        assert_eq!(lines.len(), 5 + RECENT);
        assert!(lines[1].starts_with("boot ") && lines[1].ends_with("not seen yet"), "{lines:?}");
        assert!(lines[2].ends_with("fetched at 2026-11-15T06:00:00Z from 10.0.0.5"), "{lines:?}");
        assert!(lines[3].ends_with("no config yet"), "{lines:?}");
        assert_eq!(lines[4], "2 of 3 hosts not seen yet");
        assert!(lines[9].contains("(8 bytes)"), "{lines:?}");
        assert!(lines[9].ends_with(", which is not its address in the inventory"), "{lines:?}");
    }
}
