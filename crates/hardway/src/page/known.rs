//! What the journal says at one moment, in rows.

use hardway_assets::{Cluster, Phase};
use hardway_journal::{
    AssetSeen, CertificateSeen, CsrDecided, CsrVerdict, Decided, EtcdMember, Event, FILE_NAME, History,
    Impossible, JournalError, MachineOwner, OperatorSeen, PhaseName, Reason, Record,
};
use hardway_machines::host_progress::{HostReports, TrackedHost};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use crate::inputs::Workdir;
use crate::install::PhaseStatus;
use crate::journal::{journal_report, recorded};
use crate::report::Report;

/// One fold of everything that is shown of an install.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    history: History,
    hosts: HostReports,
}

/// What rows are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Section {
    Phases,
    Hosts,
    Requests,
    Etcd,
    Operators,
    Workers,
    Assets,
    Certificates,
}

impl Section {
    pub(crate) const ALL: [Self; 8] = [
        Self::Phases,
        Self::Hosts,
        Self::Requests,
        Self::Etcd,
        Self::Operators,
        Self::Workers,
        Self::Assets,
        Self::Certificates,
    ];
    /// What only the journal knows; of files `status` tells how they are now.
    pub(crate) const OF_CLUSTER: [Self; 5] =
        [Self::Hosts, Self::Requests, Self::Etcd, Self::Operators, Self::Workers];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Phases => "phases",
            Self::Hosts => "hosts",
            Self::Requests => "requests",
            Self::Etcd => "etcd",
            Self::Operators => "operators",
            Self::Workers => "workers",
            Self::Assets => "assets",
            Self::Certificates => "certificates",
        }
    }
}

/// A certificate request and what was last said of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RequestRow<'k> {
    request: &'k str,
    uid: &'k str,
    node: &'k str,
    signer: &'k str,
    verdict: CsrVerdict,
    reason: &'k Reason,
    evidence: &'k [String],
    since: Timestamp,
}

/// A member of etcd.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct EtcdRow<'k> {
    #[serde(flatten)]
    member: &'k EtcdMember,
    since: Timestamp,
}

/// An operator and what it said last.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct OperatorRow<'k> {
    #[serde(flatten)]
    seen: &'k OperatorSeen,
    since: Timestamp,
}

/// A worker of a hosted cluster.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct WorkerRow<'k> {
    worker: &'k str,
    cluster: &'k str,
    #[serde(skip_serializing_if = "Option::is_none")]
    node_pool: Option<&'k str>,
    step: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'k str>,
    since: Timestamp,
}

/// An asset, as it was last seen.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AssetRow<'k> {
    asset: &'k str,
    stale: bool,
    reasons: &'k [String],
    edited: &'k [String],
    since: Timestamp,
}

/// A certificate in the folder.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CertificateRow<'k> {
    name: &'k str,
    not_after: Timestamp,
    due_from: Timestamp,
    since: Timestamp,
}

impl Known {
    /// Nothing yet, of these hosts.
    pub(crate) fn new(cluster: Option<&Cluster>) -> Self {
        let hosts = cluster.map(TrackedHost::all).unwrap_or_default();
        Self { history: History::default(), hosts: HostReports::new(&hosts) }
    }

    /// All that the journal of a folder says by now.
    pub(crate) fn of_folder(workdir: &Workdir, cluster: Option<&Cluster>) -> Result<Self, Report> {
        let path = workdir.path(FILE_NAME);
        let mut known = Self::new(cluster);
        for record in hardway_journal::read(&path).map_err(|error| journal_report(&error))? {
            known.read(&record).map_err(|impossible| {
                journal_report(&JournalError::Impossible { path: path.clone(), impossible })
            })?;
        }
        Ok(known)
    }

    /// One more record.
    pub(crate) fn read(&mut self, record: &Record) -> Result<(), Impossible> {
        self.history.next(record)?;
        self.hosts.read([record]);
        Ok(())
    }

    /// The rows of a section, in their order.
    pub(crate) fn rows(&self, section: Section) -> Vec<(String, Value)> {
        let cluster = &self.history.cluster;
        match section {
            Section::Phases => PhaseName::ALL.iter().filter_map(|phase| self.phase(*phase)).collect(),
            Section::Hosts => {
                self.hosts.states().iter().map(|state| (state.host.clone(), json!(state))).collect()
            }
            Section::Requests => {
                let all = self.history.requests.all().iter();
                all.map(|(uid, decided)| (uid.clone(), request(decided))).collect()
            }
            Section::Etcd => {
                let (since, members) = cluster.etcd().unwrap_or_default();
                let row = |(place, member): (usize, &EtcdMember)| {
                    // A member that has not started has no name; there may be two of them.
                    let key = if member.name.is_empty() { format!("#{place}") } else { member.name.clone() };
                    (key, json!(EtcdRow { member, since }))
                };
                members.iter().enumerate().map(row).collect()
            }
            Section::Operators => {
                let row = |(name, (since, seen)): (&String, &(Timestamp, OperatorSeen))| {
                    (name.clone(), json!(OperatorRow { seen, since: *since }))
                };
                cluster.operators().iter().map(row).collect()
            }
            Section::Workers => {
                self.history.workers.last_steps().keys().filter_map(|name| self.worker(name)).collect()
            }
            Section::Assets => self.assets(),
            Section::Certificates => self.certificates(),
        }
    }

    /// The rows that an event may have changed: a key and what stands there now, none where nothing does. Where that is
    /// not known of single rows, all of the section.
    pub(crate) fn touched(&self, event: &Event) -> Vec<(Section, Touched)> {
        let phase = |name: &PhaseName| {
            vec![(Section::Phases, Touched::Row(name.word().to_owned(), self.phase(*name).map(|row| row.1)))]
        };
        match event {
            Event::PhaseStarted(event) => phase(&event.phase),
            Event::PhaseFinished(event) => phase(&event.phase),
            Event::PhaseFailed(event) => phase(&event.phase),
            Event::PhaseReset(event) => phase(&event.phase),
            Event::Interrupted(event) => phase(&event.phase),
            Event::CsrDecided(CsrDecided { uid, .. }) => {
                let row = self.history.requests.all().get(uid).map(request);
                vec![(Section::Requests, Touched::Row(uid.clone(), row)), (Section::Hosts, Touched::All)]
            }
            Event::OperatorSeen(OperatorSeen { operator, .. }) => {
                let row = self.history.cluster.operators().get(operator);
                let row = row.map(|(since, seen)| json!(OperatorRow { seen, since: *since }));
                vec![(Section::Operators, Touched::Row(operator.clone(), row))]
            }
            Event::AssetsSeen(_) => vec![(Section::Assets, Touched::All)],
            Event::CertificatesSeen(_) => vec![(Section::Certificates, Touched::All)],
            Event::EtcdSeen(_) => vec![(Section::Etcd, Touched::All)],
            Event::HostedStep(step) => {
                let row = self.worker(&step.worker).map(|row| row.1);
                vec![(Section::Workers, Touched::Row(step.worker.clone(), row))]
            }
            Event::HostedMachine(_) | Event::MachineRetired(_) => vec![(Section::Workers, Touched::All)],
            Event::ActionUndone(_)
            | Event::HostSeen(_)
            | Event::IgnitionRedeemed(_)
            | Event::InstallBegun(_)
            | Event::MediumRead(_)
            | Event::NodeJoined(_)
            | Event::NodeSeen(_) => vec![(Section::Hosts, Touched::All), (Section::Workers, Touched::All)],
            Event::MachineGone(_) => vec![(Section::Hosts, Touched::All), (Section::Workers, Touched::All)],
            Event::ActionFinished(_)
            | Event::ActionStarted(_)
            | Event::AnyAddressAllowed(_)
            | Event::BootstrapComplete(_)
            | Event::ClusterStarted(_)
            | Event::ClusterStopped(_)
            | Event::ClusterStopping(_)
            | Event::CsrIntended(_)
            | Event::DayTwoApplied(_)
            | Event::DayTwoBegun(_)
            | Event::DayTwoUndone(_)
            | Event::EtcdRestoreBegun(_)
            | Event::EtcdRestoreStep(_)
            | Event::IgnitionOffered(_)
            | Event::PoolServed(_) => Vec::new(),
        }
    }

    /// As if somebody were at work: whoever shows it knows better.
    fn phase(&self, name: PhaseName) -> Option<(String, Value)> {
        let phase = Phase::ALL.into_iter().find(|phase| recorded(*phase) == name)?;
        Some((name.word().to_owned(), json!(PhaseStatus::of(&self.history, phase, true))))
    }

    fn assets(&self) -> Vec<(String, Value)> {
        let row = |(name, (since, seen)): (&String, &(Timestamp, AssetSeen))| {
            let AssetSeen { asset, reasons, edited } = seen;
            let stale = !reasons.is_empty();
            (name.clone(), json!(AssetRow { asset, stale, reasons, edited, since: *since }))
        };
        self.history.files.assets().iter().map(row).collect()
    }

    fn certificates(&self) -> Vec<(String, Value)> {
        let row = |(name, (since, seen)): (&String, &(Timestamp, CertificateSeen))| {
            let CertificateSeen { certificate, not_after, due_from } = seen;
            let (not_after, due_from, since) = (*not_after, *due_from, *since);
            (name.clone(), json!(CertificateRow { name: certificate, not_after, due_from, since }))
        };
        self.history.files.certificates().iter().map(row).collect()
    }

    fn worker(&self, name: &str) -> Option<(String, Value)> {
        let (since, step) = self.history.workers.last_steps().get(name)?;
        let node_pool = match self.history.owners.of(name) {
            Some(MachineOwner::Hosted(machine)) => Some(machine.node_pool.as_str()),
            _ => None,
        };
        let row = WorkerRow {
            worker: &step.worker,
            cluster: &step.cluster,
            node_pool,
            step: step.step.name(),
            error: step.error.as_deref(),
            since: *since,
        };
        Some((name.to_owned(), json!(row)))
    }

    /// The rows of a section without their keys, as `status -o json` has them.
    pub(crate) fn list(&self, section: Section) -> Value {
        self.rows(section).into_iter().map(|(_, row)| row).collect()
    }
}

/// What an event may have changed in a section.
#[derive(Debug)]
pub(crate) enum Touched {
    /// This row alone.
    Row(String, Option<Value>),
    /// Any.
    All,
}

fn request(decided: &Decided) -> Value {
    let CsrDecided { request, uid, node, signer, verdict, reason, evidence, .. } = &decided.decision;
    let (verdict, since) = (*verdict, decided.since);
    json!(RequestRow { request, uid, node, signer, verdict, reason, evidence, since })
}
