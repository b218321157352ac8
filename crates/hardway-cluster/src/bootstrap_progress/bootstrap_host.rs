//! The bootstrap host, by whichever way it answers: ssh tells more, the journal gateway needs no login.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::{Either, select};
use hardway_assets::ignition::bootstrap_files::STAGES;
use tokio::sync::watch::{Receiver, channel};
use tokio::task::JoinHandle;

use super::gateway::{Gateway, GatewayError, Which};
use super::journal_entry::JournalEntry;
use super::probe;
use super::record::ServiceRecord;
use super::report::{BootstrapReport, Manifests};
use crate::remote::{Remote, RemoteError};

/// How the host can be asked.
#[derive(Clone, Debug, Default)]
pub struct BootstrapHost {
    /// With a shell.
    pub ssh: Option<Remote>,
    /// Its journal.
    pub gateway: Option<Gateway>,
}

/// Neither way leads there.
#[derive(Clone, Debug, Default, thiserror::Error)]
#[error("{}", .0.join("; "))]
pub struct HostError(Vec<String>);

/// The program that writes the services' records into the journal
/// (crates/hardway-assets/templates/bootstrap/usr/local/bin/bootstrap-service-record.sh).
pub(crate) const RECORDER: &str = "bootstrap-record";

/// How much longer than the gateway ssh may take.
const GRACE: Duration = Duration::from_secs(3);

/// The end of bootkube's journal that is searched for how many manifests exist.
const RECENT: usize = 200;

impl From<Remote> for BootstrapHost {
    fn from(ssh: Remote) -> Self {
        Self { ssh: Some(ssh), gateway: None }
    }
}

impl BootstrapHost {
    /// Looks once.
    pub async fn look(&self) -> Result<BootstrapReport, HostError> {
        Looking::at(self.clone()).look().await
    }

    /// The last lines of the journals of these units, by unit, over the gateway.
    pub async fn journals(
        &self,
        units: &[&str],
        lines: usize,
    ) -> Result<BTreeMap<String, Vec<String>>, HostError> {
        let gateway = self.gateway.as_ref().ok_or_else(HostError::default)?;
        let mut journals = BTreeMap::new();
        for unit in units {
            let service = format!("{unit}.service");
            let entries = gateway.entries(&[("_SYSTEMD_UNIT", &service)], Which::Last(lines)).await;
            let entries = entries.map_err(|error| HostError(vec![error.to_string()]))?;
            journals.insert((*unit).to_owned(), entries.iter().map(JournalEntry::line).collect());
        }
        Ok(journals)
    }
}

/// Looking again and again: what the journal has told already is not asked for twice.
#[derive(Debug)]
struct Looking {
    host: BootstrapHost,
    cursor: Option<String>,
    records: BTreeMap<String, Vec<ServiceRecord>>,
}

impl Looking {
    fn at(host: BootstrapHost) -> Self {
        Self { host, cursor: None, records: BTreeMap::new() }
    }

    /// Asks both ways at once, and takes ssh's answer if it comes in time.
    async fn look(&mut self) -> Result<BootstrapReport, HostError> {
        let Some(ssh) = self.host.ssh.clone() else {
            return self.journal().await.map_err(|error| failed(None, error));
        };
        if self.host.gateway.is_none() {
            return probe::look(&ssh).await.map_err(|error| failed(Some(error), None));
        }
        let (ssh, journal) = (std::pin::pin!(probe::look(&ssh)), std::pin::pin!(self.journal()));
        match select(ssh, journal).await {
            Either::Left((Ok(report), _)) => Ok(report),
            Either::Left((Err(error), journal)) => journal.await.map_err(|other| failed(Some(error), other)),
            Either::Right((Ok(report), ssh)) => match tokio::time::timeout(GRACE, ssh).await {
                Ok(Ok(better)) => Ok(better),
                _ => Ok(report),
            },
            Either::Right((Err(other), ssh)) => ssh.await.map_err(|error| failed(Some(error), other)),
        }
    }

    async fn journal(&mut self) -> Result<BootstrapReport, Option<GatewayError>> {
        let gateway = self.host.gateway.clone().ok_or(None)?;
        let which = self.cursor.as_deref().map_or(Which::All, Which::After);
        // Only root's word counts: everybody can write into a journal under any name.
        let new =
            gateway.entries(&[("SYSLOG_IDENTIFIER", RECORDER), ("_UID", "0")], which).await.map_err(Some)?;
        for entry in &new {
            if let Ok(record) = serde_json::from_str::<ServiceRecord>(&entry.message) {
                self.records.entry(record.service.clone()).or_default().push(record);
            }
        }
        if let Some(last) = new.last() {
            self.cursor = Some(last.cursor.clone());
        }
        let said = gateway.entries(&[("_SYSTEMD_UNIT", "bootkube.service")], Which::Last(RECENT));
        let said = said.await.map_err(Some)?;
        let mut report = BootstrapReport::new(STAGES, self.records.clone());
        report.clock = said.last().or(new.last()).and_then(|entry| entry.time);
        report.manifests = said.iter().rev().find_map(|entry| manifests(&entry.message));
        Ok(report)
    }
}

/// A host that is being looked at, until this is dropped.
#[derive(Debug)]
pub struct HostWatch {
    reports: Receiver<Option<Result<BootstrapReport, HostError>>>,
    task: JoinHandle<()>,
}

impl HostWatch {
    /// Begins; a look takes as long as it takes, and the next comes after a pause.
    pub fn start(host: impl Into<BootstrapHost>, pause: Duration) -> Self {
        let (sender, reports) = channel(None);
        let mut looking = Looking::at(host.into());
        let task = tokio::spawn(async move {
            loop {
                if sender.send(Some(looking.look().await)).is_err() {
                    return;
                }
                tokio::time::sleep(pause).await;
            }
        });
        Self { reports, task }
    }

    /// What was seen since this was asked last.
    pub fn news(&mut self) -> Option<Result<BootstrapReport, HostError>> {
        let is_new = self.reports.has_changed().unwrap_or(false);
        if is_new { self.reports.borrow_and_update().clone() } else { None }
    }
}

impl Drop for HostWatch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// `created 12 of 345`, as create-manifests.sh says whenever it changes.
fn manifests(line: &str) -> Option<Manifests> {
    let (created, total) = line.strip_prefix("created ")?.split_once(" of ")?;
    Some(Manifests { created: created.parse().ok()?, total: total.parse().ok()?, errors: Vec::new() })
}

fn failed(ssh: Option<RemoteError>, gateway: impl Into<Option<GatewayError>>) -> HostError {
    let ssh = ssh.map(|error| crate::api_error::sentence(&error));
    HostError(ssh.into_iter().chain(gateway.into().map(|error| error.to_string())).collect())
}
