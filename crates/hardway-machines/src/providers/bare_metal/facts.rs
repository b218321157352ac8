//! What SELinux on the balancers says, and what lies in the folder. Looked at once, before planning; a plan is pure from there on.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use hardway_assets::host_services::{Names, Zone, bind_zones};

use super::BareMetalSettings;
use crate::actions::{Host, Program};
use crate::providers::Probe;
use crate::providers::place::{Place, Ssh};

/// A balancer that is off is told by the first action that needs it, not by a plan that hangs.
const PATIENCE: Duration = Duration::from_secs(15);

/// What was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostFacts {
    /// Balancers on which SELinux says no to what it does not know; this host's name is empty.
    pub selinux: BTreeSet<String>,
    /// Zone files in the folder, by their names.
    pub zone_files: BTreeMap<String, String>,
    /// When the inventory was last written, in seconds.
    pub inventory_written: u32,
}

impl HostFacts {
    /// Looks.
    pub fn look(settings: &BareMetalSettings, folder: &Path) -> Self {
        let balancers = settings.balancers.iter().map(|host| (host.name.as_str(), host.ssh.as_ref()));
        let selinux = balancers
            .chain(settings.balancers.is_empty().then_some(("", None)))
            .filter(|(_, ssh)| is_enforcing(*ssh))
            .map(|(name, _)| name.to_owned())
            .collect();
        let entries = fs_err::read_dir(folder.join("bare-metal")).into_iter().flatten().flatten();
        let zone = |entry: fs_err::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            name.ends_with(".zone").then(|| Some((name, fs_err::read_to_string(entry.path()).ok()?)))?
        };
        let written = fs_err::metadata(folder.join("inventory.yaml")).map_or(1, |file| file.mtime());
        Self {
            selinux,
            zone_files: entries.filter_map(zone).collect(),
            inventory_written: u32::try_from(written).unwrap_or(1).max(1),
        }
    }

    /// The zones with a serial that grows whenever they change, and only then: other servers fetch a zone whose serial has grown. It
    /// begins with the time of the inventory, so that zones made anew after everything was taken back are newer than those before.
    pub(super) fn zones(&self, names: &Names, server: std::net::IpAddr) -> Vec<Zone> {
        let last = self.zone_files.values().filter_map(|text| serial(text)).max().unwrap_or_default();
        let zones = bind_zones(names, server, last);
        let is_there = |zone: &Zone| self.zone_files.get(&zone.file()) == Some(&zone.text);
        if zones.iter().all(is_there) {
            return zones;
        }
        bind_zones(names, server, self.inventory_written.max(last.saturating_add(1)))
    }
}

fn serial(zone: &str) -> Option<u32> {
    zone.split_once(" SOA ")?.1.split_once("( ")?.1.split_whitespace().next()?.parse().ok()
}

fn is_enforcing(ssh: Option<&Ssh>) -> bool {
    let ask = Place::of(ssh).run(Program::words("getenforce"));
    let probe = Probe::new(ask, |printed| Some(printed.trim() == "Enforcing")).within(PATIENCE);
    probe.ask(&Host::default()).is_ok_and(|answer| answer == Some(true))
}
