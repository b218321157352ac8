//! `hosted-inventory.yaml`: the machines of hosted clusters, in a folder of their own.

use hardway_assets::Cluster;
use hardway_assets::hosted_inventory::{self, ExaminedHosted, HostedInventory};
use hardway_assets::input_tables::{HOSTED_INVENTORY, INVENTORY};
use hardway_assets::secrets::SecretBundle;
use hardway_assets::violation::Violation;
use hardway_assets::yaml;
use hardway_base::counted;
use hardway_machines::providers;
use jiff::Timestamp;

use super::{InputFile, Workdir};
use crate::report::{Code, Report};

/// The file, without a mistake in it.
#[derive(Clone)]
pub(crate) struct HostedFile {
    pub(crate) inventory: HostedInventory,
    pub(crate) warnings: Vec<Violation>,
    pub(crate) file: InputFile,
}

/// The file, and everything that was found in it.
pub(crate) struct HostedFindings {
    pub(crate) file: InputFile,
    pub(crate) errors: Vec<Violation>,
    pub(crate) warnings: Vec<Violation>,
    understood: Option<HostedInventory>,
}

impl HostedFile {
    /// The folder's, if it has one; else every mistake in it at once.
    pub(crate) fn open(workdir: &Workdir) -> Result<Option<Self>, Report> {
        let Some(found) = HostedFindings::look(workdir)? else { return Ok(None) };
        match found {
            HostedFindings { file, errors, warnings, understood: Some(inventory) } if errors.is_empty() => {
                Ok(Some(Self { inventory, warnings, file }))
            }
            found => Err(found.report()),
        }
    }

    /// Mistakes that a machine provider found in its settings, each in its place.
    pub(crate) fn invalid(&self, violations: Vec<Violation>) -> Report {
        let errors = placed(&self.file, &self.inventory, violations);
        let (file, warnings) = (self.file.clone(), self.warnings.clone());
        HostedFindings { file, errors, warnings, understood: None }.report()
    }
}

impl HostedFindings {
    /// Looks at the folder's file, if it has one. The machine provider looks at its settings: every mistake is found at once.
    pub(crate) fn look(workdir: &Workdir) -> Result<Option<Self>, Report> {
        let Some(file) = InputFile::read(workdir, &HOSTED_INVENTORY)? else { return Ok(None) };
        if workdir.path(INVENTORY.file).exists() {
            let what = format!("{} and {} are in the same folder", file.path, workdir.shown(INVENTORY.file));
            return Err(Report::new(Code::InventoryInvalid, what)
                .fix("give machines of hosted clusters a folder of their own: both would be recorded in one journal"));
        }
        let ExaminedHosted { mut errors, warnings, understood, .. } = hosted_inventory::examine(&file.text.0);
        if let Some(inventory) = &understood {
            let found = placed(&file, inventory, of_provider(inventory));
            let is_known = |violation: &Violation, errors: &[Violation]| {
                errors.iter().any(|known| known.path == violation.path)
            };
            for violation in found {
                // The same is true of every machine of a range: it is said once.
                if !is_known(&violation, &errors) {
                    errors.push(violation);
                }
            }
        }
        Ok(Some(Self { file, errors, warnings, understood }))
    }

    /// What could be understood: there may be mistakes in it.
    pub(crate) fn machines(&self) -> usize {
        self.understood.as_ref().map_or(0, |inventory| inventory.hosts().count())
    }

    /// How many pools it has.
    pub(crate) fn pools(&self) -> usize {
        self.understood.as_ref().map_or(0, |inventory| inventory.pools.len())
    }

    /// Every mistake, each in its place.
    pub(crate) fn report(&self) -> Report {
        let count = self.errors.len();
        let mistakes = counted(count, "mistake");
        Report::new(Code::InventoryInvalid, format!("{mistakes} in {}", self.file.path))
            .evidence(self.errors.iter().map(|violation| self.file.error(violation)))
            .evidence(self.warnings.iter().map(|violation| self.file.warning(violation)))
    }
}

/// What the provider says. The identity decides about nothing but the length of names: any will do.
fn of_provider(inventory: &HostedInventory) -> Vec<Violation> {
    let cluster: Option<Cluster> =
        inventory.cluster(&mut SecretBundle::default(), Timestamp::UNIX_EPOCH).ok();
    cluster.map(|cluster| providers::mistakes(&cluster)).unwrap_or_default()
}

fn placed(file: &InputFile, inventory: &HostedInventory, violations: Vec<Violation>) -> Vec<Violation> {
    let node = yaml::read(&file.text.0).ok();
    let place = |violation: Violation| {
        let path = inventory.place(&violation.path);
        let span = node.as_ref().map(|node| node.locate(&path));
        Violation { path, span, ..violation }
    };
    violations.into_iter().map(place).collect()
}
