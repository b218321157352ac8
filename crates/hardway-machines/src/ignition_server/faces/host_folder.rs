//! Hosts' configs in a working folder, and what its journal says about the hosts.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use fs_err as fs;
use hardway_journal::{Entry, Fact, Follower, IgnitionRedeemed, Journal, JournalError, NodeJoined, Record};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{HostState, HostTable};
use crate::ignition_server::PreparedConfig;

/// A config of a host can be fetched from now on. Written once for each content, so that a restart does not begin the
/// window anew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IgnitionOffered {
    /// As in the inventory.
    pub host: String,
    /// Which config.
    pub generation: String,
}

impl Fact for IgnitionOffered {
    const KIND: &'static str = "ignition-offered";
}

/// What the journal says about hosts.
#[derive(Clone, Debug, Default)]
pub struct History {
    offered: BTreeMap<(String, String), Timestamp>,
    joined: BTreeMap<String, Timestamp>,
    redeemed: BTreeMap<String, (Timestamp, IpAddr, String)>,
}

impl History {
    /// Takes in one more record. Kinds it does not know, and shapes of a newer hardway, change nothing.
    pub fn note(&mut self, record: &Record) {
        if let Some(Ok(fact)) = record.fact::<IgnitionOffered>() {
            self.offered.entry((fact.host, fact.generation)).or_insert(record.time);
        } else if let Some(Ok(fact)) = record.fact::<NodeJoined>() {
            self.joined.insert(fact.host, record.time);
        } else if let Some(Ok(fact)) = record.fact::<IgnitionRedeemed>()
            && fact.face == "host"
        {
            self.redeemed.insert(fact.host, (record.time, fact.source, fact.generation));
        }
    }

    /// When a host last fetched its config, from where, and which.
    pub fn redeemed(&self, host: &str) -> Option<&(Timestamp, IpAddr, String)> {
        self.redeemed.get(host)
    }

    /// When a host's node joined.
    pub fn joined(&self, host: &str) -> Option<Timestamp> {
        self.joined.get(host).copied()
    }
}

/// One host and where its config lies.
#[derive(Clone, Debug)]
pub struct HostFile {
    /// As in the inventory.
    pub name: String,
    /// Its addresses in the inventory.
    pub addresses: Vec<IpAddr>,
    /// Its config.
    pub path: PathBuf,
}

/// The folder cannot be served from.
#[derive(Debug, thiserror::Error)]
pub enum HostFolderError {
    /// A config is there and cannot be read.
    #[error("a host's config cannot be read")]
    Config(#[source] std::io::Error),
    /// See the source.
    #[error("the journal of the working folder cannot be used")]
    Journal(#[from] JournalError),
}

/// Looks at the folder again and again.
#[derive(Debug)]
pub struct HostFolder {
    hosts: Vec<HostFile>,
    journal: Journal,
    follower: Follower,
    history: History,
    loaded: BTreeMap<String, (Stamp, PreparedConfig)>,
}

/// A file that was written again has another one; files are replaced by rename, so none is seen half-written.
type Stamp = (SystemTime, u64);

impl HostFolder {
    /// With a journal that will say since when each config is on offer.
    pub fn open(hosts: Vec<HostFile>, journal: &Path) -> Result<Self, HostFolderError> {
        Ok(Self {
            hosts,
            journal: Journal::open(journal)?,
            follower: Follower::new(journal),
            history: History::default(),
            loaded: BTreeMap::new(),
        })
    }

    /// What the journal said at the last look.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Reads what is new and gives the hosts as they are now.
    pub fn look(&mut self, now: Timestamp) -> Result<HostTable, HostFolderError> {
        self.follow()?;
        for host in &self.hosts {
            let stamp = match fs::metadata(&host.path) {
                Ok(metadata) => (metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH), metadata.len()),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    self.loaded.remove(&host.name);
                    continue;
                }
                Err(error) => return Err(HostFolderError::Config(error)),
            };
            if self.loaded.get(&host.name).is_none_or(|(known, _)| *known != stamp) {
                let config = PreparedConfig::new(fs::read(&host.path).map_err(HostFolderError::Config)?);
                self.loaded.insert(host.name.clone(), (stamp, config));
            }
        }
        self.offer(now)?;
        Ok(self.hosts.iter().map(|host| (host.name.clone(), self.state(host))).collect())
    }

    fn follow(&mut self) -> Result<(), HostFolderError> {
        self.follower.news()?.iter().for_each(|record| self.history.note(record));
        Ok(())
    }

    /// Writes down every config that was never on offer before.
    fn offer(&mut self, now: Timestamp) -> Result<(), HostFolderError> {
        let generation = |config: &PreparedConfig| config.generation().to_string();
        let fresh: Vec<Entry> = self
            .loaded
            .iter()
            .map(|(host, (_, config))| (host.clone(), generation(config)))
            .filter(|key| !self.history.offered.contains_key(key))
            .map(|(host, generation)| Entry::of(now, &IgnitionOffered { host, generation }))
            .collect();
        if !fresh.is_empty() {
            self.journal.append(&fresh)?;
            self.follow()?;
        }
        Ok(())
    }

    fn state(&self, host: &HostFile) -> HostState {
        let config = self.loaded.get(&host.name).map(|(_, config)| config.clone());
        let key = config.as_ref().map(|config| (host.name.clone(), config.generation().to_string()));
        HostState {
            addresses: host.addresses.clone(),
            offered: key.and_then(|key| self.history.offered.get(&key).copied()),
            joined: self.history.joined(&host.name),
            config,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Timestamp {
        format!("2026-11-15T{text}Z").parse().unwrap()
    }

    #[test]
    fn the_window_begins_once_for_each_content_and_outlives_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.ign");
        let journal = dir.path().join("journal.jsonl");
        let hosts = vec![HostFile { name: "a".to_owned(), addresses: Vec::new(), path: path.clone() }];
        let open = || HostFolder::open(hosts.clone(), &journal).unwrap();

        let mut folder = open();
        assert!(folder.look(time("06:00:00")).unwrap()["a"].config.is_none());
        fs::write(&path, "{}").unwrap();
        assert_eq!(folder.look(time("07:00:00")).unwrap()["a"].offered, Some(time("07:00:00")));
        assert_eq!(folder.look(time("08:00:00")).unwrap()["a"].offered, Some(time("07:00:00")));
        assert_eq!(open().look(time("09:00:00")).unwrap()["a"].offered, Some(time("07:00:00")));

        Journal::open(&journal)
            .unwrap()
            .append(&[Entry::of(time("09:30:00"), &NodeJoined { host: "a".to_owned() })])
            .unwrap();
        assert_eq!(folder.look(time("09:31:00")).unwrap()["a"].joined, Some(time("09:30:00")));

        fs::write(&path, "{\"new\":true}").unwrap();
        let state = &folder.look(time("10:00:00")).unwrap()["a"];
        assert_eq!(state.offered, Some(time("10:00:00")));
        assert_eq!(state.config.as_ref().unwrap().identity(), &b"{\"new\":true}"[..]);
        fs::remove_file(&path).unwrap();
        assert!(folder.look(time("11:00:00")).unwrap()["a"].config.is_none());
    }
}
