//! Hosts' configs in a working folder, and what its journal says about the hosts.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use fs_err as fs;
use hardway_journal::{Appended, Entry, Hosts, IgnitionOffered, Journal, JournalError, Record};
use jiff::Timestamp;

use super::{HostOffer, HostTable};
use crate::ignition_server::PreparedConfig;

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

/// A config is there and cannot be read. The other hosts are served all the same.
#[derive(Debug, thiserror::Error)]
#[error("the config of {host} cannot be read")]
pub struct UnreadableConfig {
    /// As in the inventory.
    pub host: String,
    /// Why, with its path.
    #[source]
    pub source: std::io::Error,
}

/// What a look at the folder found.
#[derive(Debug)]
pub struct Looked {
    /// The hosts as they are now.
    pub table: HostTable,
    /// Of these hosts what was read before stays in use, if anything was.
    pub unreadable: Vec<UnreadableConfig>,
}

/// Looks at the folder again and again.
#[derive(Debug)]
pub struct HostFolder {
    hosts: Vec<HostFile>,
    journal: Arc<Journal>,
    /// What the journal says about hosts.
    told: Hosts,
    loaded: BTreeMap<String, Loaded>,
}

#[derive(Debug)]
struct Loaded {
    path: PathBuf,
    stamp: Stamp,
    config: PreparedConfig,
}

/// A file that was written again has another one; files are replaced by rename, so none is seen half-written.
type Stamp = (SystemTime, u64);

impl HostFolder {
    /// With a journal that will say since when each config is on offer. What is in it already comes by [`Self::note`].
    pub fn new(hosts: Vec<HostFile>, journal: Arc<Journal>) -> Self {
        Self { hosts, journal, told: Hosts::default(), loaded: BTreeMap::new() }
    }

    /// Takes in what the journal said before the first look.
    pub fn note<'r>(&mut self, records: impl IntoIterator<Item = &'r Record>) {
        records.into_iter().for_each(|record| self.told.note(record));
    }

    /// Takes in what the journal said since the last look.
    pub fn follow(&mut self, appended: &Appended) {
        if appended.began_anew {
            self.told = Hosts::default();
        }
        self.note(&appended.records);
    }

    /// Other hosts, or the same at other addresses.
    pub fn set_hosts(&mut self, hosts: Vec<HostFile>) {
        self.loaded
            .retain(|name, loaded| hosts.iter().any(|host| host.name == *name && host.path == loaded.path));
        self.hosts = hosts;
    }

    /// What the journal said at the last look.
    pub fn told(&self) -> &Hosts {
        &self.told
    }

    /// Reads what is new and gives the hosts as they are now.
    ///
    /// # Errors
    /// When a config is new and the journal cannot be told so.
    pub fn look(&mut self, now: Timestamp) -> Result<Looked, JournalError> {
        let mut unreadable = Vec::new();
        for host in &self.hosts {
            if let Err(source) = read(host, &mut self.loaded) {
                unreadable.push(UnreadableConfig { host: host.name.clone(), source });
            }
        }
        self.offer(now)?;
        let table = self.hosts.iter().map(|host| (host.name.clone(), self.state(host))).collect();
        Ok(Looked { table, unreadable })
    }

    /// Writes down every config that was never on offer before.
    fn offer(&mut self, now: Timestamp) -> Result<(), JournalError> {
        let fresh: Vec<IgnitionOffered> = self
            .loaded
            .iter()
            .map(|(host, loaded)| IgnitionOffered {
                host: host.clone(),
                digest: loaded.config.digest().to_string(),
            })
            .filter(|fact| self.told.offered(&fact.host, &fact.digest).is_none())
            .collect();
        if !fresh.is_empty() {
            let entries: Vec<Entry> = fresh.iter().map(|fact| Entry::of(now, fact)).collect();
            let numbers = self.journal.append(&entries)?;
            let records = numbers.into_iter().zip(&entries);
            records.for_each(|(seq, entry)| self.told.note(&Record::numbered(seq, entry)));
        }
        Ok(())
    }

    fn state(&self, host: &HostFile) -> HostOffer {
        let config = self.loaded.get(&host.name).map(|loaded| loaded.config.clone());
        let digest = config.as_ref().map(|config| config.digest().to_string());
        HostOffer {
            addresses: host.addresses.clone(),
            offered: digest.and_then(|digest| self.told.offered(&host.name, &digest)),
            joined: self.told.joined(&host.name),
            ended: self.told.ended(&host.name),
            config,
        }
    }
}

/// Reads a host's config if it is new. One that is gone is forgotten.
fn read(host: &HostFile, loaded: &mut BTreeMap<String, Loaded>) -> std::io::Result<()> {
    let stamp = match fs::metadata(&host.path) {
        Ok(metadata) => (metadata.modified()?, metadata.len()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            loaded.remove(&host.name);
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    if loaded.get(&host.name).is_none_or(|known| known.stamp != stamp) {
        let config = PreparedConfig::new(fs::read(&host.path)?);
        loaded.insert(host.name.clone(), Loaded { path: host.path.clone(), stamp, config });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use hardway_journal::{MachineGone, NodeJoined};

    use super::*;

    fn time(text: &str) -> Timestamp {
        format!("2026-11-15T{text}Z").parse().unwrap()
    }

    fn host(name: &str, dir: &Path) -> HostFile {
        HostFile { name: name.to_owned(), addresses: Vec::new(), path: dir.join(format!("{name}.ign")) }
    }

    /// As after a start: with everything the journal knows.
    fn open(hosts: &[HostFile], dir: &Path) -> HostFolder {
        let path = dir.join("journal.jsonl");
        let mut folder = HostFolder::new(hosts.to_vec(), Arc::new(Journal::open(&path).unwrap()));
        folder.note(&hardway_journal::read(&path).unwrap());
        folder
    }

    #[test]
    fn the_window_begins_once_for_each_content_and_outlives_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let hosts = [host("a", dir.path())];
        let path = hosts[0].path.clone();

        let mut folder = open(&hosts, dir.path());
        assert!(folder.look(time("06:00:00")).unwrap().table["a"].config.is_none());
        fs::write(&path, "{}").unwrap();
        assert_eq!(folder.look(time("07:00:00")).unwrap().table["a"].offered, Some(time("07:00:00")));
        assert_eq!(folder.look(time("08:00:00")).unwrap().table["a"].offered, Some(time("07:00:00")));
        let mut again = open(&hosts, dir.path());
        assert_eq!(again.look(time("09:00:00")).unwrap().table["a"].offered, Some(time("07:00:00")));

        let joined = NodeJoined { host: "a".to_owned() };
        folder.journal.append(&[Entry::of(time("09:30:00"), &joined)]).unwrap();
        folder.note(&hardway_journal::read(&dir.path().join("journal.jsonl")).unwrap());
        assert_eq!(folder.look(time("09:31:00")).unwrap().table["a"].joined, Some(time("09:30:00")));

        let gone = MachineGone { host: "a".to_owned() };
        folder.note(&[Record::numbered(9, &Entry::of(time("09:40:00"), &gone))]);
        assert_eq!(folder.look(time("09:41:00")).unwrap().table["a"].ended, Some(time("09:40:00")));

        fs::write(&path, "{\"new\":true}").unwrap();
        let state = &folder.look(time("10:00:00")).unwrap().table["a"];
        assert_eq!(state.offered, Some(time("10:00:00")));
        assert_eq!(state.config.as_ref().unwrap().identity(), &b"{\"new\":true}"[..]);
        fs::remove_file(&path).unwrap();
        assert!(folder.look(time("11:00:00")).unwrap().table["a"].config.is_none());
    }

    #[test]
    fn one_unreadable_config_keeps_no_other_host_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let hosts = ["a", "b", "c"].map(|name| host(name, dir.path()));
        fs::create_dir(&hosts[0].path).unwrap();
        fs::write(&hosts[1].path, "{}").unwrap();
        fs::write(&hosts[2].path, "{}").unwrap();
        let mut folder = open(&hosts, dir.path());
        let looked = folder.look(time("06:00:00")).unwrap();
        assert_eq!(looked.unreadable.iter().map(|bad| bad.host.as_str()).collect::<Vec<_>>(), ["a"]);
        let is_served = |looked: &Looked, host: &str| looked.table[host].config.is_some();
        assert!(!is_served(&looked, "a") && is_served(&looked, "b") && is_served(&looked, "c"));

        fs::remove_file(&hosts[1].path).unwrap();
        fs::create_dir(&hosts[1].path).unwrap();
        let looked = folder.look(time("06:01:00")).unwrap();
        assert_eq!(looked.unreadable.len(), 2);
        assert!(is_served(&looked, "b"), "what was read before stays in use");
    }

    #[test]
    fn a_journal_that_began_anew_says_nothing_of_the_one_before() {
        let dir = tempfile::tempdir().unwrap();
        let hosts = [host("a", dir.path())];
        fs::write(&hosts[0].path, "{}").unwrap();
        let mut folder = open(&hosts, dir.path());
        folder.look(time("06:00:00")).unwrap();
        let gone = MachineGone { host: "a".to_owned() };
        folder.note(&[Record::numbered(2, &Entry::of(time("07:00:00"), &gone))]);
        assert!(folder.look(time("07:01:00")).unwrap().table["a"].ended.is_some());

        fs::remove_file(dir.path().join("journal.jsonl")).unwrap();
        let other = NodeJoined { host: "b".to_owned() };
        let records = vec![Record::numbered(1, &Entry::of(time("08:00:00"), &other))];
        folder.follow(&Appended { began_anew: true, records });
        let state = &folder.look(time("08:01:00")).unwrap().table["a"];
        assert_eq!((state.ended, state.offered), (None, Some(time("08:01:00"))));
    }

    #[test]
    fn hosts_come_and_go() {
        let dir = tempfile::tempdir().unwrap();
        let [a, b] = ["a", "b"].map(|name| host(name, dir.path()));
        fs::write(&a.path, "{}").unwrap();
        fs::write(&b.path, "{}").unwrap();
        let mut folder = open(std::slice::from_ref(&a), dir.path());
        assert_eq!(folder.look(time("06:00:00")).unwrap().table.len(), 1);
        folder.set_hosts(vec![b]);
        let table = folder.look(time("07:00:00")).unwrap().table;
        assert_eq!(table.keys().collect::<Vec<_>>(), ["b"]);
        assert_eq!(table["b"].offered, Some(time("07:00:00")));
    }
}
