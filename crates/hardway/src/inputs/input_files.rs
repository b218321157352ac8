//! Both files, read once in a run.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use hardway_assets::input_tables::{INSTALL_CONFIG, INVENTORY};
use hardway_assets::install_config::Rules;
use hardway_assets::inventory::Errors;
use hardway_assets::violation::Violation;
use hardway_assets::yaml;

use super::mistakes::{self, FilesRead, Purpose, invalid};
use super::{InputFile, Workdir};
use crate::report::Report;

/// `install-config.yaml` and `inventory.yaml` as they were when a run began. What is edited meanwhile counts in the next.
#[derive(Clone)]
pub(crate) struct InputFiles {
    pub(crate) config: InputFile,
    pub(crate) inventory: InputFile,
    stamp: InputStamp,
    /// What was found good, by the rules that it was checked with: those before the release is known, and the release's.
    checked: Arc<Mutex<Checked>>,
}

type Checked = Vec<(Rules, Arc<FilesRead>)>;

/// When the files were last written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InputStamp([Option<SystemTime>; 2]);

impl InputStamp {
    pub(crate) fn of(dir: &Path) -> Self {
        let written = |name| fs_err::metadata(dir.join(name)).and_then(|metadata| metadata.modified()).ok();
        Self([INSTALL_CONFIG.file, INVENTORY.file].map(written))
    }
}

impl InputFiles {
    /// Both files, or which of them are not there.
    pub(crate) fn open(workdir: &Workdir) -> Result<Self, Report> {
        // Before the content: a change in between is then seen at the next look.
        let stamp = InputStamp::of(&workdir.path(""));
        let (config, inventory) = InputFile::both(workdir)?;
        Ok(Self { config, inventory, stamp, checked: Arc::default() })
    }

    /// The same, if both are there: other folders of a cluster have none.
    pub(crate) fn open_if_there(workdir: &Workdir) -> Result<Option<Self>, Report> {
        let is_there = |name: &str| workdir.path(name).exists();
        match is_there(INVENTORY.file) && is_there(INSTALL_CONFIG.file) {
            true => Self::open(workdir).map(Some),
            false => Ok(None),
        }
    }

    pub(crate) fn stamp(&self) -> InputStamp {
        self.stamp
    }

    /// Without a mistake by these rules; else every mistake at once.
    pub(crate) fn check(&self, rules: Rules, purpose: Purpose) -> Result<Arc<FilesRead>, Report> {
        self.examine(rules, purpose).map_err(|errors| self.invalid(&errors))
    }

    /// The same before it is a report.
    pub(crate) fn examine(&self, rules: Rules, purpose: Purpose) -> Result<Arc<FilesRead>, Errors> {
        let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, read)) = checked.iter().find(|(known, _)| *known == rules) {
            return Ok(read.clone());
        }
        let read = Arc::new(mistakes::examine(&self.config, &self.inventory, rules, purpose)?);
        checked.push((rules, read.clone()));
        Ok(read)
    }

    /// Mistakes that a machine provider found in its settings, each in its place.
    pub(crate) fn in_inventory(&self, violations: Vec<Violation>) -> Report {
        let node = yaml::read(&self.inventory.text.0).ok();
        let place = |violation: Violation| {
            let span = node.as_ref().map(|node| node.locate(&violation.path));
            Violation { span, ..violation }
        };
        let inventory = violations.into_iter().map(place).collect();
        self.invalid(&Errors { inventory, ..Errors::default() })
    }

    /// Every mistake, each in its place.
    pub(crate) fn invalid(&self, errors: &Errors) -> Report {
        invalid(&self.config, &self.inventory, errors)
    }
}
