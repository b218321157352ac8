//! The state of each machine, folded from the records of the journal.

use std::collections::BTreeMap;

use hardway_assets::Cluster;
use hardway_assets::inventory::Host;
use hardway_journal::{
    Appended, CsrDecided, CsrVerdict, Event, Face, HostSeen, IgnitionRedeemed, InstallBegun, MediumRead,
    Record, Sight,
};
use jiff::Timestamp;
use serde::Serialize;

use super::HostProgress;
use crate::providers::{ActionScope, Installs, descriptor};

/// How far one machine is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HostReport {
    /// As in the inventory.
    pub host: String,
    /// How far it is.
    #[serde(rename = "state")]
    pub progress: HostProgress,
    /// Since when it is that far; nothing when nothing was ever heard of it.
    pub since: Option<Timestamp>,
    /// When anything was last heard of it.
    pub heard: Option<Timestamp>,
    /// Whether it has power, as far as anybody looked.
    pub is_on: Option<bool>,
    /// Whether its node is Ready, as far as anybody looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_ready: Option<bool>,
    /// The same for a person, with how it is known.
    pub sentence: String,
    /// Whether it was given its config, or a person's config went with its medium and its kubelet runs.
    #[serde(skip)]
    pub has_config: bool,
    /// Whether it was seen to start from its medium.
    #[serde(skip)]
    pub(super) is_live: bool,
    #[serde(skip)]
    pub(super) installs: Installs,
    /// Why its kubelet's last request was not approved.
    #[serde(skip)]
    pub(super) refused: Option<String>,
}

/// How far each host is, kept current: each record is read once.
#[derive(Clone, Debug)]
pub struct HostReports {
    hosts: Vec<TrackedHost>,
    states: Vec<HostReport>,
    /// Where each is, by its name and by its node's.
    by_host: BTreeMap<String, usize>,
    by_node: BTreeMap<String, usize>,
}

impl HostReports {
    /// Nothing was heard of anybody yet.
    pub fn new(hosts: &[TrackedHost]) -> Self {
        let places = |name: fn(&TrackedHost) -> &String| {
            hosts.iter().enumerate().map(|(place, host)| (name(host).clone(), place)).collect()
        };
        Self {
            states: hosts.iter().map(HostReport::unheard).collect(),
            by_host: places(|host| &host.host),
            by_node: places(|host| &host.node),
            hosts: hosts.to_vec(),
        }
    }

    /// In the order given.
    pub fn states(&self) -> &[HostReport] {
        &self.states
    }

    /// What a follower brought.
    pub fn follow(&mut self, appended: &Appended) {
        if appended.began_anew {
            self.states = self.hosts.iter().map(HostReport::unheard).collect();
        }
        self.read(&appended.records);
    }

    /// More records. Those of other kinds and of other hosts are passed over.
    pub fn read<'r>(&mut self, records: impl IntoIterator<Item = &'r Record>) {
        for record in records {
            let Some(event) = Event::of(record) else { continue };
            if let Some(place) = self.place(&event) {
                self.states[place].apply(&event, record.time, &self.hosts[place]);
            }
        }
    }

    /// Whom an event is about.
    fn place(&self, event: &Event) -> Option<usize> {
        let host = match event {
            Event::HostSeen(seen) => &seen.host,
            Event::InstallBegun(begun) => &begun.host,
            Event::MediumRead(read) => &read.host,
            Event::IgnitionRedeemed(redeemed) if redeemed.face == Face::Host => &redeemed.host,
            Event::NodeJoined(joined) => &joined.host,
            Event::MachineGone(gone) => &gone.host,
            Event::ActionUndone(undone) => match ActionScope::of(&undone.action)? {
                ActionScope::Machine(host) => host,
                ActionScope::Names | ActionScope::Balancer => return None,
            },
            Event::CsrDecided(decided) => return self.by_node.get(&decided.node).copied(),
            Event::NodeSeen(seen) => return self.by_node.get(&seen.node).copied(),
            _ => return None,
        };
        self.by_host.get(host).copied()
    }
}

/// The state of each host by these records, in the order given.
pub fn fold<'r>(records: impl IntoIterator<Item = &'r Record>, hosts: &[TrackedHost]) -> Vec<HostReport> {
    let mut states = HostReports::new(hosts);
    states.read(records);
    states.states
}

impl HostReport {
    fn unheard(tracked: &TrackedHost) -> Self {
        Self {
            host: tracked.host.clone(),
            progress: HostProgress::Off,
            since: None,
            heard: None,
            is_on: None,
            is_ready: None,
            sentence: "no sign of it yet".to_owned(),
            has_config: false,
            is_live: false,
            installs: tracked.installs,
            refused: None,
        }
    }

    /// Whether a sight changes what is known, and so is worth a line in the journal.
    pub fn is_news(&self, sight: Sight) -> bool {
        match sight {
            Sight::Off => self.is_on != Some(false),
            Sight::On => self.is_on != Some(true),
            Sight::Live => self.progress <= HostProgress::On && !self.is_live,
            // Whoever looks often reports it rarely; see `install/observer.rs` of the program.
            Sight::Writing { .. } => self.progress <= HostProgress::On,
            Sight::OsWritten => HostProgress::OsWritten > self.progress,
            Sight::Rebooted => HostProgress::Rebooted > self.progress,
            Sight::KubeletUp => HostProgress::KubeletUp > self.progress,
        }
    }

    /// One more event, about this host.
    fn apply(&mut self, event: &Event, at: Timestamp, tracked: &TrackedHost) {
        match event {
            Event::HostSeen(seen) => self.see(seen, at),
            Event::InstallBegun(begun) => self.begin(begun, at, tracked),
            Event::MediumRead(read) => self.read_medium(read, at),
            Event::IgnitionRedeemed(redeemed) => self.fetch(redeemed, at),
            Event::CsrDecided(decided) => self.ask(decided, at),
            Event::NodeJoined(_) => {
                self.reach(HostProgress::Joined, at, "its node has both of its certificates".to_owned());
            }
            Event::NodeSeen(seen) => {
                self.heard = Some(at);
                self.is_ready = Some(seen.is_ready);
            }
            Event::ActionUndone(_) | Event::MachineGone(_) => {
                *self = Self {
                    sentence: "the machine was removed, and starts over".to_owned(),
                    since: Some(at),
                    heard: Some(at),
                    ..Self::unheard(tracked)
                };
            }
            _ => {}
        }
    }

    fn see(&mut self, seen: &HostSeen, at: Timestamp) {
        let by = &seen.by;
        match seen.sight {
            Sight::Off if self.progress <= HostProgress::On => {
                (self.progress, self.since) = (HostProgress::Off, Some(at));
                self.sentence = format!("{by} reports that it is off");
            }
            Sight::Off | Sight::On if self.progress > HostProgress::On => self.heard = Some(at),
            Sight::Off | Sight::On => self.reach(HostProgress::On, at, format!("{by} reports that it is on")),
            Sight::Live => self.stand_at_on(at, format!("it has started from its medium ({by})")),
            Sight::Writing { megabytes } => {
                self.stand_at_on(
                    at,
                    format!("the OS is being written to its disk: {megabytes} MB so far ({by})"),
                );
            }
            Sight::OsWritten => self.reach(
                HostProgress::OsWritten,
                at,
                format!("the OS is on its disk ({by}); it restarts from there"),
            ),
            Sight::Rebooted => {
                self.reach(HostProgress::Rebooted, at, format!("it has started from its disk ({by})"));
            }
            Sight::KubeletUp => self.reach(HostProgress::KubeletUp, at, format!("its kubelet runs ({by})")),
        }
        self.heard = Some(at);
        self.is_on = Some(seen.sight != Sight::Off);
        self.is_live |= seen.sight == Sight::Live;
    }

    /// Still on its way to the ignition server, and a little further.
    fn stand_at_on(&mut self, at: Timestamp, sentence: String) {
        if self.progress <= HostProgress::On {
            self.reach(HostProgress::On, at, sentence.clone());
            self.sentence = sentence;
        }
    }

    /// Always a beginning: an installer overwrites whatever was on the disk.
    fn begin(&mut self, begun: &InstallBegun, at: Timestamp, tracked: &TrackedHost) {
        *self = Self::unheard(tracked);
        self.is_on = Some(true);
        self.has_config = true;
        self.reach(
            HostProgress::Seen,
            at,
            format!("its installer fetched its config from {} and writes the disk", begun.source),
        );
    }

    /// A controller reads the head of a medium also while the machine is off: it proves nothing but that the way is open.
    fn read_medium(&mut self, read: &MediumRead, at: Timestamp) {
        self.heard = Some(at);
        if self.progress <= HostProgress::On {
            self.since.get_or_insert(at);
            self.sentence = format!("its medium is being read from {}", read.source);
        }
    }

    fn fetch(&mut self, redeemed: &IgnitionRedeemed, at: Timestamp) {
        let source = redeemed.source;
        self.is_on = Some(true);
        self.has_config = true;
        match self.installs {
            Installs::FromImage => {
                self.reach(
                    HostProgress::Seen,
                    at,
                    format!("it fetched its config from {source} on first boot and applies it"),
                );
            }
            Installs::FromMedia => self.reach(
                HostProgress::Rebooted,
                at,
                format!(
                    "it has started from its disk and fetched its config from {source}: the OS is written"
                ),
            ),
        }
    }

    /// Anybody can ask for a certificate in a node's name: only what was approved says that it is this machine.
    fn ask(&mut self, decided: &CsrDecided, at: Timestamp) {
        match decided.verdict {
            CsrVerdict::Approve => {
                self.refused = None;
                let sentence = "its kubelet runs and got a certificate".to_owned();
                self.reach(HostProgress::KubeletUp, at, sentence);
            }
            CsrVerdict::Deny | CsrVerdict::Hold if self.progress < HostProgress::KubeletUp => {
                self.refused = Some(decided.evidence.join("; "))
            }
            CsrVerdict::Deny | CsrVerdict::Hold | CsrVerdict::Leave => {}
        }
    }

    /// Further, never back.
    fn reach(&mut self, progress: HostProgress, at: Timestamp, sentence: String) {
        self.heard = Some(at);
        self.has_config |= progress >= HostProgress::KubeletUp;
        if progress > self.progress || self.since.is_none() {
            (self.progress, self.since, self.sentence) = (progress, Some(at), sentence);
        }
    }
}

/// A machine that is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackedHost {
    /// As in the inventory.
    pub host: String,
    /// What its node is called.
    pub node: String,
    /// How its OS gets onto its disk.
    pub installs: Installs,
}

impl TrackedHost {
    /// A host of a cluster.
    pub fn new(cluster: &Cluster, host: &Host) -> Self {
        Self {
            host: host.name.clone(),
            node: cluster.node_name(host),
            installs: match cluster.is_bootstrap_in_place() {
                // A self-installing node is a live system that fetches its own config, and writes the disk afterwards.
                true => Installs::FromImage,
                false => descriptor(cluster.inventory.machines.provider).installs,
            },
        }
    }

    /// All hosts of a cluster, in file order.
    pub fn all(cluster: &Cluster) -> Vec<Self> {
        cluster.inventory.hosts.iter().map(|host| Self::new(cluster, host)).collect()
    }
}
