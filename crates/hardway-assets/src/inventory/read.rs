//! From text to a checked inventory, alone or together with the install-config.

use std::fmt;

use super::draft::Draft;
use super::{Inventory, rules};
use crate::install_config::{self, Examined, InstallConfig, Rules};
use crate::schema::{self, Findings, INVENTORY, Read};
use crate::violation::Violation;
use crate::yaml;

/// Reads the file and holds it against the install-config, if there is one. Every violation is reported in one run;
/// only a syntax error ends it early.
///
/// ```
/// use hardway_assets::inventory::{self, Role};
///
/// let inventory = inventory::read(hardway_assets::example::INVENTORY, None).unwrap().value;
/// assert_eq!(inventory.with_role(Role::Master).count(), 3);
/// ```
pub fn read(text: &str, config: Option<&InstallConfig>) -> Result<Read<Inventory>, Vec<Violation>> {
    examine(text, config).map_err(|(errors, _)| errors)
}

/// What is wrong with each of the two files.
#[derive(Clone, Default)]
pub struct Errors {
    /// In `install-config.yaml`.
    pub install_config: Vec<Violation>,
    /// In `inventory.yaml`, and between the two.
    pub inventory: Vec<Violation>,
    /// Both files as far as they could be understood: a machine provider can still look at its settings.
    pub understood: Option<Box<(InstallConfig, Inventory)>>,
}

// By hand: what was understood may be a private key where a public one is wanted.
impl fmt::Debug for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Errors")
            .field("install_config", &self.install_config)
            .field("inventory", &self.inventory)
            .finish_non_exhaustive()
    }
}

/// Reads both files and reports the errors of both. An install-config with mistakes still serves to check the
/// inventory, as far as it could be understood.
///
/// ```
/// use hardway_assets::install_config::Rules;
/// use hardway_assets::{example, inventory};
///
/// let one_worker_more = example::INSTALL_CONFIG.replace("replicas: 2", "replicas: 3");
/// let rules = Rules::for_version("4.18.1");
/// let errors = inventory::read_both(&one_worker_more, example::INVENTORY, rules).unwrap_err();
/// assert_eq!(errors.inventory[0].path, "hosts");
/// ```
pub fn read_both(
    config_text: &str,
    inventory_text: &str,
    rules: Rules,
) -> Result<(Read<InstallConfig>, Read<Inventory>), Errors> {
    let Examined { config, errors, warnings, node } = install_config::examine(config_text, rules);
    let inventory = examine(inventory_text, config.as_ref());
    match (config, inventory) {
        (Some(value), Ok(inventory)) if errors.is_empty() => Ok((Read { value, warnings, node }, inventory)),
        (config, inventory) => {
            let (in_inventory, inventory) = match inventory {
                Ok(read) => (Vec::new(), Some(Box::new(read.value))),
                Err(refused) => refused,
            };
            let understood = config.zip(inventory).map(|(config, inventory)| Box::new((config, *inventory)));
            Err(Errors { install_config: errors, inventory: in_inventory, understood })
        }
    }
}

/// What is wrong, and what could be understood in spite of that.
type Refused = (Vec<Violation>, Option<Box<Inventory>>);

/// Like [`read`], but keeps what could be understood, so that a provider's settings can be looked at in the same run.
fn examine(text: &str, config: Option<&InstallConfig>) -> Result<Read<Inventory>, Refused> {
    let node = yaml::read(text).map_err(|errors| (schema::syntax(errors), None))?;
    let mut findings = Findings::new(&node);
    findings.errors = schema::check(&node, &INVENTORY);
    let draft = Draft::new(&node);
    rules::check_all(&draft, config, &mut findings);
    let Findings { errors, warnings, .. } = findings;
    match draft.assemble(config) {
        Some(value) if errors.is_empty() => Ok(Read { value, warnings, node }),
        understood => Err((schema::reasons(errors), understood.map(Box::new))),
    }
}
