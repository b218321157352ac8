//! Records in, states out.

use hardway_journal::{Fact, IgnitionRedeemed, NodeJoined, Record};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{HostSeen, Installs, Progress, Sight, Tracked};
use crate::actions::ActionUndone;
use crate::boot_server::InstallBegun;
use crate::media_server::MediumRead;
use crate::providers::is_of_machine;

/// How far one machine is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HostState {
    /// As in the inventory.
    pub host: String,
    /// How far it is.
    pub state: Progress,
    /// Since when it is that far; nothing when nothing was ever heard of it.
    pub since: Option<Timestamp>,
    /// When anything was last heard of it.
    pub heard: Option<Timestamp>,
    /// Whether it has power, as far as anybody looked.
    pub is_on: Option<bool>,
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

/// The state of each host, in the order given. Records of other kinds and of other hosts are passed over.
pub fn fold<'r>(records: impl IntoIterator<Item = &'r Record>, hosts: &[Tracked]) -> Vec<HostState> {
    let mut states: Vec<HostState> = hosts.iter().map(HostState::unheard).collect();
    for record in records {
        for (state, tracked) in states.iter_mut().zip(hosts) {
            state.apply(record, tracked);
        }
    }
    states
}

/// What is read here of the approver's record; it writes more.
#[derive(Serialize, Deserialize)]
struct CertificateAsked {
    node: String,
    verdict: String,
    #[serde(default)]
    evidence: Vec<String>,
}

impl Fact for CertificateAsked {
    const KIND: &'static str = "csr-decided";
}

impl HostState {
    fn unheard(tracked: &Tracked) -> Self {
        Self {
            host: tracked.host.clone(),
            state: Progress::Off,
            since: None,
            heard: None,
            is_on: None,
            sentence: "nothing was heard of it yet".to_owned(),
            has_config: false,
            is_live: false,
            installs: tracked.installs,
            refused: None,
        }
    }

    /// One more record.
    fn apply(&mut self, record: &Record, tracked: &Tracked) {
        let is_ours = |host: &str| host == tracked.host;
        if let Some(Ok(seen)) = record.fact::<HostSeen>() {
            if is_ours(&seen.host) {
                self.see(&seen, record.time);
            }
        } else if let Some(Ok(begun)) = record.fact::<InstallBegun>() {
            if is_ours(&begun.host) {
                self.begin(&begun, record.time, tracked);
            }
        } else if let Some(Ok(read)) = record.fact::<MediumRead>() {
            if is_ours(&read.host) {
                self.read_medium(&read, record.time);
            }
        } else if let Some(Ok(redeemed)) = record.fact::<IgnitionRedeemed>() {
            if is_ours(&redeemed.host) && redeemed.face == "host" {
                self.fetch(&redeemed, record.time);
            }
        } else if let Some(Ok(asked)) = record.fact::<CertificateAsked>() {
            if asked.node == tracked.node {
                self.ask(&asked, record.time);
            }
        } else if let Some(Ok(joined)) = record.fact::<NodeJoined>() {
            if is_ours(&joined.host) {
                self.reach(Progress::Joined, record.time, "its node has both of its certificates".to_owned());
            }
        } else if let Some(Ok(undone)) = record.fact::<ActionUndone>()
            && is_of_machine(&undone.action, &tracked.host)
        {
            *self = Self {
                sentence: "the machine was taken away, and is begun anew".to_owned(),
                since: Some(record.time),
                heard: Some(record.time),
                ..Self::unheard(tracked)
            };
        }
    }

    fn see(&mut self, seen: &HostSeen, at: Timestamp) {
        let by = &seen.by;
        match seen.sight {
            Sight::Off if self.state <= Progress::On => {
                (self.state, self.since) = (Progress::Off, Some(at));
                self.sentence = format!("{by} says that it is off");
            }
            Sight::Off | Sight::On if self.state > Progress::On => self.heard = Some(at),
            Sight::Off | Sight::On => self.reach(Progress::On, at, format!("{by} says that it is on")),
            Sight::Live => self.stand_at_on(at, format!("it has started from its medium ({by})")),
            Sight::Writing { megabytes } => {
                self.stand_at_on(at, format!("its disk is written: {megabytes} MB so far ({by})"));
            }
            Sight::OsWritten => self.reach(
                Progress::OsWritten,
                at,
                format!("the OS is on its disk ({by}); it restarts from there"),
            ),
            Sight::Rebooted => {
                self.reach(Progress::Rebooted, at, format!("it has started from its disk ({by})"));
            }
            Sight::KubeletUp => self.reach(Progress::KubeletUp, at, format!("its kubelet runs ({by})")),
        }
        self.heard = Some(at);
        self.is_on = Some(seen.sight != Sight::Off);
        self.is_live |= seen.sight == Sight::Live;
    }

    /// Still on its way to the ignition server, and a little further.
    fn stand_at_on(&mut self, at: Timestamp, sentence: String) {
        if self.state <= Progress::On {
            self.reach(Progress::On, at, sentence.clone());
            self.sentence = sentence;
        }
    }

    /// Always a beginning: an installer overwrites whatever was on the disk.
    fn begin(&mut self, begun: &InstallBegun, at: Timestamp, tracked: &Tracked) {
        *self = Self::unheard(tracked);
        self.is_on = Some(true);
        self.has_config = true;
        self.reach(
            Progress::Seen,
            at,
            format!("its installer fetched its config from {}, and writes the disk", begun.source),
        );
    }

    /// A controller reads the head of a medium also while the machine is off: it proves nothing but that the way is open.
    fn read_medium(&mut self, read: &MediumRead, at: Timestamp) {
        self.heard = Some(at);
        if self.state <= Progress::On {
            self.since.get_or_insert(at);
            self.sentence = format!("its medium is read from {}", read.source);
        }
    }

    fn fetch(&mut self, redeemed: &IgnitionRedeemed, at: Timestamp) {
        let source = redeemed.source;
        self.is_on = Some(true);
        self.has_config = true;
        match self.installs {
            Installs::FromImage => {
                self.reach(
                    Progress::Seen,
                    at,
                    format!("its first boot fetched its config from {source}, and applies it"),
                );
            }
            Installs::FromMedia => self.reach(
                Progress::Rebooted,
                at,
                format!(
                    "it has started from its disk and fetched its config from {source}: the OS is written"
                ),
            ),
        }
    }

    /// Anybody can ask for a certificate in a node's name: only what was approved says that it is this machine.
    fn ask(&mut self, asked: &CertificateAsked, at: Timestamp) {
        match asked.verdict.as_str() {
            "approve" => {
                self.refused = None;
                let sentence = "its kubelet runs, asked for a certificate and was given one".to_owned();
                self.reach(Progress::KubeletUp, at, sentence);
            }
            "deny" | "hold" if self.state < Progress::KubeletUp => {
                self.refused = Some(asked.evidence.join("; "))
            }
            _ => {}
        }
    }

    /// Further, never back.
    fn reach(&mut self, state: Progress, at: Timestamp, sentence: String) {
        self.heard = Some(at);
        self.has_config |= state >= Progress::KubeletUp;
        if state > self.state || self.since.is_none() {
            (self.state, self.since, self.sentence) = (state, Some(at), sentence);
        }
    }
}
