//! Carries actions out, or takes them back, and writes down each.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fs_err as fs;
use hardway_base::files::Replacement;
use hardway_journal::{
    ActionFinished, ActionStarted, ActionUndone, Entry, FILE_NAME, Fact, Journal, JournalError, LiveHistory,
};
use jiff::Timestamp;

use super::{Action, ActionCheck, Host, Ledger, Owned, Step, StepError};

/// How long the last program of a run that was killed may go on: so many looks, so far apart.
const LOOKS: u32 = 10;
const BETWEEN_LOOKS: Duration = Duration::from_millis(300);

/// Does what a provider wants, on this host, with the journal of one cluster.
pub struct Executor<'d> {
    journal: &'d Journal,
    /// Whoever makes many machines reads each line of the journal once, not once a machine.
    history: Arc<Mutex<LiveHistory>>,
    /// Where files that are written over are kept until `down`.
    kept: PathBuf,
    host: Host,
    now: &'d dyn Fn() -> Timestamp,
}

/// What became of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionOutcome {
    /// It held already.
    AlreadyHeld,
    /// It was done.
    Done,
}

/// Told about each action as it happens.
pub trait ActionListener {
    /// It is being looked at.
    fn looks_at(&mut self, action: &Action) {
        let _ = action;
    }
    /// It holds now.
    fn holds(&mut self, action: &Action, outcome: ActionOutcome) {
        let _ = (action, outcome);
    }
    /// It was taken back.
    fn undone(&mut self, action: &str) {
        let _ = action;
    }
}

/// Says nothing.
impl ActionListener for () {}

/// Why it stopped. What was done before stays done, and the next run goes on from there.
#[derive(Debug, thiserror::Error)]
pub enum ExecutorError {
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A file that is to be written over could not be kept.
    #[error("{action}: could not back up what was there before")]
    NotKept {
        /// The action.
        action: String,
        /// What the system says.
        source: io::Error,
    },
    /// A step failed.
    #[error("{action}: {why}")]
    Step {
        /// The action.
        action: String,
        /// What it is for.
        why: String,
        /// What went wrong.
        source: StepError,
    },
    /// Every step went well, and yet it does not hold.
    #[error("{action}: all steps succeeded, but the result is not as expected: {why}")]
    DoesNotHold {
        /// The action.
        action: String,
        /// What it is for.
        why: String,
    },
}

impl<'d> Executor<'d> {
    /// For the cluster in this working folder.
    pub fn new(folder: &Path, journal: &'d Journal, now: &'d dyn Fn() -> Timestamp) -> Self {
        let history = Arc::new(Mutex::new(LiveHistory::of(&folder.join(FILE_NAME))));
        Self { journal, history, kept: folder.join("host-before"), host: Host::default(), now }
    }

    /// The same, with a history that others of the same folder use too.
    pub fn with_history(self, history: Arc<Mutex<LiveHistory>>) -> Self {
        Self { history, ..self }
    }

    /// The same, with programs started in another way.
    pub fn on(self, host: Host) -> Self {
        Self { host, ..self }
    }

    /// What hardway has done here and not taken back.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn ledger(&self) -> Result<Ledger, JournalError> {
        self.in_ledger(Ledger::clone)
    }

    fn in_ledger<T>(&self, look: impl FnOnce(&Ledger) -> T) -> Result<T, JournalError> {
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        history.now().map(|history| look(&history.actions))
    }

    /// Those that do not hold.
    pub fn missing<'a>(&self, actions: &'a [Action]) -> Vec<&'a Action> {
        actions.iter().filter(|action| !self.host.holds(&action.holds)).collect()
    }

    /// Whether this holds now.
    pub fn holds(&self, check: &ActionCheck) -> bool {
        self.host.holds(check)
    }

    /// Makes all of them hold, in order.
    ///
    /// # Errors
    /// At the first that cannot be made to hold.
    pub fn up(&self, actions: &[Action], listener: &mut dyn ActionListener) -> Result<(), ExecutorError> {
        for action in actions {
            listener.looks_at(action);
            let owned = self.in_ledger(|ledger| ledger.get(&action.id).cloned())?;
            let outcome = self.carry_out(action, owned.as_ref())?;
            listener.holds(action, outcome);
        }
        Ok(())
    }

    /// Takes back whatever was done, last first.
    ///
    /// # Errors
    /// At the first that cannot be taken back.
    pub fn down(&self, listener: &mut dyn ActionListener) -> Result<(), ExecutorError> {
        self.down_but(|_| false, listener)
    }

    /// The same, but for what shall outlive it.
    ///
    /// # Errors
    /// At the first that cannot be taken back.
    pub fn down_but(
        &self,
        keeps: impl Fn(&str) -> bool,
        listener: &mut dyn ActionListener,
    ) -> Result<(), ExecutorError> {
        self.take_back(|action| !keeps(action), listener)?;
        // Only now: a step back that was not written down is done once more, and needs the copies.
        self.host.perform(&Step::RemoveFolder { path: self.kept.clone() }).map_err(|source| {
            ExecutorError::Step {
                action: "host-before".to_owned(),
                why: "copies that are no longer needed".to_owned(),
                source,
            }
        })
    }

    /// Takes back what was done under these names, last first: one machine, say.
    ///
    /// # Errors
    /// At the first that cannot be taken back.
    pub fn take_back(
        &self,
        is_meant: impl Fn(&str) -> bool,
        listener: &mut dyn ActionListener,
    ) -> Result<(), ExecutorError> {
        let meant = |ledger: &Ledger| -> Vec<Owned> {
            ledger.iter().rev().filter(|owned| is_meant(&owned.action)).cloned().collect()
        };
        for owned in self.in_ledger(meant)? {
            for step in &owned.undo {
                self.host.perform(step).map_err(|source| ExecutorError::Step {
                    action: owned.action.clone(),
                    why: "undoing it".to_owned(),
                    source,
                })?;
            }
            self.write_down(&ActionUndone { action: owned.action.clone() })?;
            listener.undone(&owned.action);
        }
        Ok(())
    }

    fn carry_out(&self, action: &Action, owned: Option<&Owned>) -> Result<ActionOutcome, ExecutorError> {
        let was_cut_off = owned.is_some_and(|owned| !owned.is_finished);
        if self.host.holds(&action.holds) {
            if was_cut_off {
                self.write_down(&ActionFinished { action: action.id.clone() })?;
            }
            return Ok(ActionOutcome::AlreadyHeld);
        }
        self.write_down(&ActionStarted {
            action: action.id.clone(),
            why: action.why.clone(),
            does: action.does.iter().map(Step::to_string).collect(),
            undo: self.undo_of(action, owned)?,
        })?;
        let failed = action.does.iter().find_map(|step| self.host.perform(step).err());
        // A run that was killed leaves the program of its last step behind: what that makes in the meantime cannot be made
        // again, and need not be.
        if let Some(source) = failed
            && !(was_cut_off && self.comes_to_hold(action))
        {
            return Err(ExecutorError::Step { action: action.id.clone(), why: action.why.clone(), source });
        }
        if !self.host.holds(&action.holds) {
            return Err(ExecutorError::DoesNotHold { action: action.id.clone(), why: action.why.clone() });
        }
        self.write_down(&ActionFinished { action: action.id.clone() })?;
        Ok(ActionOutcome::Done)
    }

    /// Whether it holds, or soon does because somebody who was killed had begun it.
    fn comes_to_hold(&self, action: &Action) -> bool {
        for _ in 0..LOOKS {
            if self.host.holds(&action.holds) {
                return true;
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
        self.host.holds(&action.holds)
    }

    /// The provider's own way back, and for each file what was there before the first time.
    fn undo_of(&self, action: &Action, owned: Option<&Owned>) -> Result<Vec<Step>, ExecutorError> {
        let mut undo = action.undo.clone();
        for step in &action.does {
            let Step::WriteFile { path, .. } = step else { continue };
            let is_known = owned.is_some_and(|owned| owned.undo.iter().any(|undo| gives_back(undo, path)));
            if !is_known {
                let kept = self
                    .keep(path)
                    .map_err(|source| ExecutorError::NotKept { action: action.id.clone(), source })?;
                undo.extend(kept);
            }
        }
        Ok(undo)
    }

    /// How to bring back what is at this path now.
    fn keep(&self, path: &Path) -> io::Result<Vec<Step>> {
        if !path.exists() {
            // And the folders that come with it, innermost first.
            let folders = path.ancestors().skip(1).take_while(|folder| !folder.exists());
            let folders = folders.map(|folder| Step::RemoveEmptyFolder { path: folder.to_owned() });
            return Ok([Step::RemoveFile { path: path.to_owned() }].into_iter().chain(folders).collect());
        }
        fs::create_dir_all(&self.kept)?;
        fs::set_permissions(&self.kept, Permissions::from_mode(0o700))?;
        let from = self.kept.join(path.to_string_lossy().trim_start_matches('/').replace('/', "__"));
        let mut original = fs::File::open(path)?;
        let mut copy = Replacement::begin(&from, original.metadata()?.permissions().mode() & 0o7777)?;
        io::copy(&mut original, &mut copy)?;
        copy.commit()?;
        Ok(vec![Step::RestoreFile { path: path.to_owned(), from: fs::canonicalize(from)? }])
    }

    fn write_down<F: Fact>(&self, fact: &F) -> Result<(), JournalError> {
        self.journal.append(&[Entry::of((self.now)(), fact)]).map(drop)
    }
}

fn gives_back(undo: &Step, path: &Path) -> bool {
    match undo {
        Step::RemoveFile { path: found } | Step::RestoreFile { path: found, .. } => found == path,
        _ => false,
    }
}
