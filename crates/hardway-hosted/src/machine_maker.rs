//! Machines for workers, by whatever provider: a fresh pointer is put down, and the provider's actions are carried out.
//!
//! Who asks is known only by a record that others can write, so nothing is done before it is known whose a machine is: the journal says which
//! pool of which cluster made it, and what the folder's own cluster has booted. A machine of anybody else is left alone.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use fs_err as fs;
use hardway_assets::inventory::Host;
use hardway_base::Secret;
use hardway_base::files;
use hardway_journal::{
    Entry, Fact, History, HostedMachine, Journal, LiveHistory, MachineGone, MachineOwner, Now,
};
use hardway_machines::actions::{self, Action, Executor, ExecutorError};
use hardway_machines::providers::{ActionScope, Provider, is_of_machine, makes_medium};
use jiff::Timestamp;

use crate::error::HostedError;

/// Where pointers lie in the working folder while machines boot. Not where the folder's own cluster has its hosts' configs: a host of
/// its inventory is another cluster's worker here.
const POINTERS: &str = "hosted";

/// Makes machines and takes them away, and keeps account of both in the journal of a working folder.
#[derive(Clone)]
pub struct MachineMaker {
    provider: Arc<dyn Provider>,
    hosts: Arc<BTreeMap<String, Host>>,
    folder: PathBuf,
    journal: Arc<Journal>,
    history: Arc<Mutex<LiveHistory>>,
    laying: Arc<Mutex<()>>,
    on: actions::Host,
    now: Now,
}

/// A worker's machine, and the pool that wants something of it.
pub type MachineOf = HostedMachine;

/// A machine that is on, or that a person is to switch on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchedOn {
    /// Right before that: its medium takes minutes to make, and whoever asks for its certificate meanwhile is another machine. Where a
    /// person is to do it, when that can be done.
    pub at: Timestamp,
    /// The steps for a person, where only a person can switch it on.
    pub by_hand: Vec<String>,
}

/// What makes and boots one machine.
struct Boot {
    /// What all machines share.
    shared: Vec<Action>,
    /// Its install medium.
    media: Vec<Action>,
    /// What is its own.
    own: Vec<Action>,
}

impl MachineMaker {
    /// For the hosts of an inventory.
    ///
    /// # Errors
    /// When the journal cannot be opened.
    pub fn new(
        provider: Arc<dyn Provider>,
        hosts: impl IntoIterator<Item = Host>,
        folder: &Path,
        now: Now,
    ) -> Result<Self, HostedError> {
        let path = folder.join(hardway_journal::FILE_NAME);
        let journal = Journal::open(&path)?;
        let hosts = hosts.into_iter().map(|host| (host.name.clone(), host)).collect();
        Ok(Self {
            provider,
            hosts: Arc::new(hosts),
            folder: folder.to_owned(),
            journal: Arc::new(journal),
            history: Arc::new(Mutex::new(LiveHistory::of(&path))),
            laying: Arc::default(),
            on: actions::Host::default(),
            now,
        })
    }

    /// The same, with programs started in another way.
    pub fn on(self, on: actions::Host) -> Self {
        Self { on, ..self }
    }

    /// Puts the pointer down and switches the machine on, which is the pool's from then on. A machine that is on already stays as it is. It
    /// blocks on programs, so it must not be called on a thread of the async runtime.
    ///
    /// # Errors
    /// When it is somebody else's, or the provider's actions could not all be carried out; what was done before stays, and the next try goes
    /// on.
    pub fn boot(&self, of: &MachineOf, pointer: &Secret) -> Result<SwitchedOn, HostedError> {
        let name = &of.machine;
        let host = self.host(name)?;
        self.take(of)?;
        self.put_down(name, pointer)?;
        let Boot { shared, media, own } = self.plan(host);
        let by_hand = self.provider.by_hand(host);
        let (last, before) = match own.split_last() {
            Some((last, before)) if by_hand.is_empty() => (std::slice::from_ref(last), before),
            _ => (&[][..], &own[..]),
        };
        let mut at = (self.now)();
        self.doing(name, |executor| {
            // What all machines share is made by the first of them; the others wait, and find that it holds. Whoever makes a
            // medium holds the working folder, so that comes one by one as well.
            let laid = self.laying.lock().unwrap_or_else(PoisonError::into_inner);
            executor.up(&shared, &mut ())?;
            executor.up(&media, &mut ())?;
            drop(laid);
            executor.up(before, &mut ())?;
            at = (self.now)();
            executor.up(last, &mut ())
        })?;
        Ok(SwitchedOn { at, by_hand })
    }

    /// What [`Self::boot`] does, in order.
    fn plan(&self, host: &Host) -> Boot {
        let (mut own, shared): (Vec<Action>, Vec<Action>) = self
            .provider
            .infrastructure()
            .into_iter()
            .partition(|action| matches!(ActionScope::of(&action.id), Some(ActionScope::Machine(_))));
        own.retain(|action| is_of_machine(&action.id, &host.name));
        let mut boot = self.provider.first_boot_with(host, &self.pointer_path(&host.name));
        if !self.provider.by_hand(host).is_empty() {
            // The last would wait until the machine is seen. Nobody sees this one before it asks for a certificate, and nobody decides
            // about that before it counts as on.
            boot.retain(makes_medium);
        }
        own.extend(boot);
        let (media, own) = own.into_iter().partition(makes_medium);
        Boot { shared, media, own }
    }

    /// Its node has joined: nothing that only its first boot needed stays, neither in a drive, nor in the metadata of an instance, nor on
    /// this host. Its pointer's token is good for every worker of the pool.
    ///
    /// # Errors
    /// When it is somebody else's, the provider's actions could not all be carried out, or a file cannot be removed.
    pub fn settle(&self, of: &MachineOf) -> Result<(), HostedError> {
        if !self.is_theirs(of)? {
            return Ok(());
        }
        let name = &of.machine;
        if let Some(host) = self.hosts.get(name) {
            let after = self.provider.after_join(host);
            self.doing(name, |executor| executor.up(&after, &mut ()))?;
        }
        self.scrub(name)
    }

    /// Takes back everything that was done for the machine. One that was never made is left as it is.
    ///
    /// # Errors
    /// When it is somebody else's, or at the first action that cannot be taken back.
    pub fn remove(&self, of: &MachineOf) -> Result<(), HostedError> {
        if !self.is_theirs(of)? {
            return Ok(());
        }
        let name = &of.machine;
        self.doing(name, |executor| executor.take_back(|action| is_of_machine(action, name), &mut ()))?;
        self.scrub(name)?;
        // Last: until then the next try goes on, and nobody else begins.
        self.write_down(&MachineGone { host: name.clone() })
    }

    /// Makes the machine the pool's, unless it is somebody else's. Two may ask at once: the journal has an order, and the first line counts.
    fn take(&self, of: &MachineOf) -> Result<(), HostedError> {
        if self.is_theirs(of)? {
            return Ok(());
        }
        self.write_down(of)?;
        match self.is_theirs(of)? {
            true => Ok(()),
            false => {
                Err(HostedError::Bug(format!("machine {} was allocated, but has no record", of.machine)))
            }
        }
    }

    /// Whether it is this pool's; false when it is nobody's.
    fn is_theirs(&self, of: &MachineOf) -> Result<bool, HostedError> {
        let not_ours = |why: String| HostedError::NotOurs { machine: of.machine.clone(), why };
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        let history = history.now()?;
        match history.owners.of(&of.machine) {
            Some(MachineOwner::Hosted(owner)) if owner == of => Ok(true),
            Some(MachineOwner::Hosted(HostedMachine { cluster, node_pool, .. })) => {
                let (wants, pool) = (&of.cluster, &of.node_pool);
                Err(not_ours(format!(
                    "it was made for pool {node_pool} of cluster {cluster}, but pool {pool} of {wants} requests it"
                )))
            }
            Some(MachineOwner::Folder) => Err(not_ours(
                "it fetched its config as a machine of the cluster of this working folder".to_owned(),
            )),
            None if self.has_booted_it(history, &of.machine) => {
                Err(not_ours("it was made for the cluster of this working folder".to_owned()))
            }
            None => Ok(false),
        }
    }

    /// Whether the folder's own cluster has. Of a host that can be a worker, drives and definitions alone say nothing: `hardway infra up` makes
    /// them for whoever comes.
    fn has_booted_it(&self, history: &History, name: &str) -> bool {
        let first_boot: Option<Vec<Action>> = self.hosts.get(name).map(|host| self.provider.first_boot(host));
        let is_boot = |action: &str| {
            first_boot
                .as_ref()
                .is_none_or(|boot| boot.iter().any(|one| one.id == action && !makes_medium(one)))
        };
        history.actions.iter().any(|owned| is_of_machine(&owned.action, name) && is_boot(&owned.action))
    }

    fn write_down<F: Fact>(&self, fact: &F) -> Result<(), HostedError> {
        Ok(self.journal.append(&[Entry::of((self.now)(), fact)]).map(drop)?)
    }

    /// Removes the pointer, and copies of it that were made for the first boot.
    fn scrub(&self, name: &str) -> Result<(), HostedError> {
        let copies = self.hosts.get(name).map(|host| self.provider.copies(host)).unwrap_or_default();
        for path in copies.into_iter().chain([self.pointer_path(name)]) {
            match fs::remove_file(&path) {
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    return Err(HostedError::Pointer { path, source });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Where a machine's pointer lies while it boots.
    pub fn pointer_path(&self, name: &str) -> PathBuf {
        self.folder.join(POINTERS).join(format!("{name}.ign"))
    }

    fn host(&self, name: &str) -> Result<&Host, HostedError> {
        self.hosts.get(name).ok_or_else(|| HostedError::Machine {
            machine: name.to_owned(),
            why: "the inventory has no host of that name with role worker".to_owned(),
        })
    }

    fn doing(
        &self,
        name: &str,
        what: impl FnOnce(&Executor<'_>) -> Result<(), ExecutorError>,
    ) -> Result<(), HostedError> {
        let now = || (self.now)();
        let executor = Executor::new(&self.folder, &self.journal, &now);
        let executor = executor.with_history(Arc::clone(&self.history)).on(self.on.clone());
        what(&executor).map_err(|error| HostedError::Machine {
            machine: name.to_owned(),
            why: hardway_cluster::api_error::sentence(&error),
        })
    }

    /// By rename, and for its owner only.
    fn put_down(&self, name: &str, pointer: &Secret) -> Result<(), HostedError> {
        let path = self.pointer_path(name);
        let write = || {
            let folder = path.parent().unwrap_or(&self.folder);
            fs::create_dir_all(folder)?;
            fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))?;
            files::replace(&path, 0o600, pointer.expose())
        };
        write().map_err(|source| HostedError::Pointer { path: path.clone(), source })
    }
}

#[cfg(test)]
mod tests;
