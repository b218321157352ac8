//! What is looked at again and again: hosts, their configs, the journal, certificates.

use std::sync::Arc;

use hardway_assets::ignition::TokenKey;
use hardway_base::error_sentence;
use hardway_journal::{AnyAddressAllowed, Appended, Entry, Follower, Journal, JournalError, Now};
use hardway_machines::boot_server::{BootServer, installed};
use hardway_machines::ignition_server::faces::{HostFace, HostFolder};
use hardway_machines::ignition_server::{Certificates, Recorder};
use jiff::Timestamp;

use super::folder::{Origin, ServedFolder, ServedHosts};
use super::options::ServeOptions;
use super::service::{Listener, ServedJournal};
use crate::inputs::InputStamp;

/// Everything that may change while it is served.
pub(super) struct WatchList {
    pub(super) hosts: Option<HostWatch>,
    pub(super) certificates: Option<Arc<Certificates>>,
    pub(super) boot: Option<BootServer>,
    /// Of the journal, for all of them.
    pub(super) follower: Option<Follower>,
    /// Who writes down what is given out.
    pub(super) recorder: Option<Recorder>,
    /// Where it is said that configs go to any address, if they do.
    pub(super) allows_any: Option<Arc<Journal>>,
    clock: Now,
}

impl WatchList {
    pub(super) fn new(clock: Now) -> Self {
        Self {
            hosts: None,
            certificates: None,
            boot: None,
            follower: None,
            recorder: None,
            allows_any: None,
            clock,
        }
    }

    /// Takes note of what changed; says what is wrong. What was good stays in use.
    pub(super) fn look(&mut self, listener: &mut dyn Listener) -> Vec<String> {
        let mut wrong = Vec::new();
        let appended = self.follower.as_mut().map(Follower::news).transpose().unwrap_or_else(|error| {
            wrong.push(error_sentence(&error));
            None
        });
        let appended = appended.unwrap_or_default();
        if appended.began_anew {
            self.recorder.iter().for_each(Recorder::begin_anew);
            wrong.extend(self.say_what_is_allowed().err().map(|error| error_sentence(&error)));
        }
        if let Some(watch) = &mut self.hosts {
            wrong.extend(watch.look(&appended, (self.clock)()));
            watch.tell(listener);
            if let Some(server) = &self.boot {
                server.set_addresses(&watch.hosts.addresses());
            }
        }
        if let Some(server) = &self.boot {
            server.mark_installed(installed(&appended.records));
        }
        if let Some(Err(error)) = self.certificates.as_ref().map(|certificates| certificates.refresh()) {
            wrong.push(error_sentence(&error));
        }
        wrong
    }
}

impl WatchList {
    /// Every journal says under which rules configs were given out.
    pub(super) fn say_what_is_allowed(&self) -> Result<(), JournalError> {
        let Some(journal) = &self.allows_any else { return Ok(()) };
        journal.append(&[Entry::of((self.clock)(), &AnyAddressAllowed {})]).map(drop)
    }
}

/// The hosts of the inventory and their configs.
pub(super) struct HostWatch {
    origin: Origin,
    stamp: InputStamp,
    hosts: ServedHosts,
    files: HostFolder,
    face: Arc<HostFace>,
    /// Why the input files cannot be read again, as long as that is so.
    unreadable: Option<String>,
}

impl HostWatch {
    /// Looks for the first time.
    pub(super) fn start(
        folder: &ServedFolder,
        log: &ServedJournal,
        key: TokenKey,
        options: &ServeOptions,
        now: Timestamp,
    ) -> Result<Self, JournalError> {
        let (origin, stamp) = folder.origin();
        let hosts = folder.hosts();
        let mut files = HostFolder::new(hosts.files.clone(), log.journal.clone());
        files.note(&log.records);
        let table = files.look(now)?.table;
        let face = Arc::new(HostFace::new(key, options.window, options.only_from_own_address, table));
        Ok(Self { origin, stamp, hosts, files, face, unreadable: None })
    }

    pub(super) fn face(&self) -> Arc<HostFace> {
        self.face.clone()
    }

    fn look(&mut self, appended: &Appended, now: Timestamp) -> Vec<String> {
        self.read_inputs();
        self.files.follow(appended);
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
                self.unreadable =
                    Some(format!("{}; still serving the previous version of the hosts", report.what));
            }
        }
    }

    pub(super) fn tell(&self, listener: &mut dyn Listener) {
        listener.hosts(&self.hosts, &self.face.table(), self.files.told());
    }
}
