//! What is looked at again and again: hosts, their configs, the journal, certificates.

use std::sync::Arc;

use hardway_assets::ignition::TokenKey;
use hardway_base::error_sentence;
use hardway_journal::{AnyAddressAllowed, Entry, Follower, JournalError, Record};
use hardway_machines::boot_server::{BootServer, installed};
use hardway_machines::ignition_server::faces::{HostFace, HostFolder};
use hardway_machines::ignition_server::{Certificates, Clock};
use jiff::Timestamp;

use super::folder::{Folder, Hosts, Origin};
use super::options::Options;
use super::service::{Listener, Log};
use crate::inputs::InputStamp;

/// Everything that may change while it is served.
pub(super) struct WatchList {
    pub(super) hosts: Option<HostWatch>,
    pub(super) certificates: Option<Arc<Certificates>>,
    pub(super) boot: Option<BootServer>,
    /// Of the journal, for all of them.
    pub(super) follower: Option<Follower>,
    clock: Clock,
}

impl WatchList {
    pub(super) fn new(clock: Clock) -> Self {
        Self { hosts: None, certificates: None, boot: None, follower: None, clock }
    }

    /// Takes note of what changed; says what is wrong. What was good stays in use.
    pub(super) fn look(&mut self, listener: &mut dyn Listener) -> Vec<String> {
        let mut wrong = Vec::new();
        let records = match self.follower.as_mut().map(Follower::news).transpose() {
            Ok(records) => records.unwrap_or_default(),
            Err(error) => {
                wrong.push(error_sentence(&error));
                Vec::new()
            }
        };
        if let Some(watch) = &mut self.hosts {
            wrong.extend(watch.look(&records, (self.clock)()));
            watch.tell(listener);
        }
        if let Some(server) = &self.boot {
            server.mark_installed(installed(&records));
        }
        if let Some(Err(error)) = self.certificates.as_ref().map(|certificates| certificates.refresh()) {
            wrong.push(error_sentence(&error));
        }
        wrong
    }
}

/// The hosts of the inventory and their configs.
pub(super) struct HostWatch {
    origin: Origin,
    stamp: InputStamp,
    hosts: Hosts,
    files: HostFolder,
    face: Arc<HostFace>,
    /// Why the input files cannot be read again, as long as that is so.
    unreadable: Option<String>,
}

impl HostWatch {
    /// Looks for the first time.
    pub(super) fn start(
        folder: &Folder,
        log: &Log,
        key: TokenKey,
        options: &Options,
        now: Timestamp,
    ) -> Result<Self, JournalError> {
        let (origin, stamp) = folder.origin();
        let hosts = folder.hosts();
        let mut files = HostFolder::new(hosts.files.clone(), log.journal.clone());
        files.note(&log.records);
        let table = files.look(now)?.table;
        if !options.only_from_own_address {
            log.journal.append(&[Entry::of(now, &AnyAddressAllowed {})])?;
        }
        let face = Arc::new(HostFace::new(key, options.window, options.only_from_own_address, table));
        Ok(Self { origin, stamp, hosts, files, face, unreadable: None })
    }

    pub(super) fn face(&self) -> Arc<HostFace> {
        self.face.clone()
    }

    fn look(&mut self, records: &[Record], now: Timestamp) -> Vec<String> {
        self.read_inputs();
        self.files.note(records);
        let mut wrong: Vec<String> = self.unreadable.iter().cloned().collect();
        match self.files.look(now) {
            Ok(looked) => {
                wrong.extend(looked.unreadable.iter().map(|error| error_sentence(error)));
                self.face.replace(looked.table);
            }
            Err(error) => wrong.push(error_sentence(&error)),
        }
        wrong
    }

    /// Hosts that were added, moved or taken out. A file that a person is still writing is read again when it changes.
    fn read_inputs(&mut self) {
        let stamp = self.origin.stamp();
        if stamp == self.stamp {
            return;
        }
        self.stamp = stamp;
        match self.origin.hosts() {
            Ok(hosts) => {
                self.files.set_hosts(hosts.files.clone());
                self.hosts = hosts;
                self.unreadable = None;
            }
            Err(report) => {
                self.unreadable = Some(format!("{}; the hosts are served as they were before", report.what));
            }
        }
    }

    pub(super) fn tell(&self, listener: &mut dyn Listener) {
        listener.hosts(&self.hosts, &self.face.table(), self.files.told());
    }
}
