//! Machines for workers, by whatever provider: a fresh pointer is put down, and the provider's actions are carried out.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use fs_err as fs;
use hardway_assets::inventory::Host;
use hardway_assets::secrets::Secret;
use hardway_cluster::approver::Now;
use hardway_journal::Journal;
use hardway_machines::actions::{self, Action, Books, Doer, DoerError};
use hardway_machines::providers::{Provider, is_of_machine, machine_action};

use crate::error::HostedError;

/// What the action that makes a machine's install medium is called.
const MEDIUM: &str = "iso";

/// Makes machines and takes them away, and keeps account of both in the journal of a working folder.
#[derive(Clone)]
pub struct MachineMaker {
    provider: Arc<dyn Provider>,
    hosts: Arc<BTreeMap<String, Host>>,
    folder: PathBuf,
    journal: Arc<Journal>,
    books: Arc<Mutex<Books>>,
    laying: Arc<Mutex<()>>,
    on: actions::Host,
    now: Now,
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
        let journal = Journal::open(&folder.join(hardway_journal::FILE_NAME))?;
        let hosts = hosts.into_iter().map(|host| (host.name.clone(), host)).collect();
        Ok(Self {
            provider,
            hosts: Arc::new(hosts),
            folder: folder.to_owned(),
            journal: Arc::new(journal),
            books: Arc::new(Mutex::new(Books::of(folder))),
            laying: Arc::default(),
            on: actions::Host::default(),
            now,
        })
    }

    /// The same, with programs started in another way.
    pub fn on(self, on: actions::Host) -> Self {
        Self { on, ..self }
    }

    /// Puts the pointer down and switches the machine on. A machine that is on already stays as it is. It waits for programs: not
    /// for the thread of a reactor.
    ///
    /// # Errors
    /// When the provider's actions could not all be carried out; what was done before stays, and the next try goes on.
    pub fn boot(&self, name: &str, pointer: &Secret) -> Result<(), HostedError> {
        let host = self.host(name)?;
        self.put_down(name, pointer)?;
        let (mut own, shared): (Vec<Action>, Vec<Action>) =
            self.provider.infrastructure().into_iter().partition(|action| action.id.starts_with("machine/"));
        own.retain(|action| is_of_machine(&action.id, name));
        own.extend(self.provider.first_boot(host));
        let medium = machine_action(name, MEDIUM);
        let (media, own): (Vec<Action>, Vec<Action>) =
            own.into_iter().partition(|action| action.id == medium);
        self.doing(name, |doer| {
            // What all machines share is made by the first of them; the others wait, and find that it holds. Whoever makes a
            // medium holds the working folder, so that comes one by one as well.
            let laid = self.laying.lock().unwrap_or_else(PoisonError::into_inner);
            doer.up(&shared, &mut ())?;
            doer.up(&media, &mut ())?;
            drop(laid);
            doer.up(&own, &mut ())
        })
    }

    /// Takes back everything that was done for the machine.
    ///
    /// # Errors
    /// At the first action that cannot be taken back.
    pub fn remove(&self, name: &str) -> Result<(), HostedError> {
        self.doing(name, |doer| doer.take_back(|action| is_of_machine(action, name), &mut ()))?;
        self.scrub(name)
    }

    /// Removes the pointer: its token is good for every worker of the pool, and this one does not need it any more.
    ///
    /// # Errors
    /// When it is there and cannot be removed.
    pub fn scrub(&self, name: &str) -> Result<(), HostedError> {
        let path = self.pointer_path(name);
        match fs::remove_file(&path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                Err(HostedError::Pointer { path, source })
            }
            _ => Ok(()),
        }
    }

    /// Where a machine's pointer lies while it boots.
    pub fn pointer_path(&self, name: &str) -> PathBuf {
        let otherwise = || PathBuf::from(format!("ignition/{name}.ign"));
        let path = self.hosts.get(name).map_or_else(otherwise, |host| self.provider.boots_from(host));
        self.folder.join(path)
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
        what: impl FnOnce(&Doer<'_>) -> Result<(), DoerError>,
    ) -> Result<(), HostedError> {
        let now = || (self.now)();
        let doer = Doer::new(&self.folder, &self.journal, &now);
        let doer = doer.with_books(Arc::clone(&self.books)).on(self.on.clone());
        what(&doer).map_err(|error| HostedError::Machine {
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
            let mut file = tempfile::Builder::new().prefix(".hardway-").tempfile_in(folder)?;
            file.as_file().set_permissions(std::fs::Permissions::from_mode(0o600))?;
            file.write_all(pointer.expose())?;
            file.as_file().sync_all()?;
            file.persist(&path).map(drop).map_err(|error| error.error)
        };
        write().map_err(|source| HostedError::Pointer { path: path.clone(), source })
    }
}
