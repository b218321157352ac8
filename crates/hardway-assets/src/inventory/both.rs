//! Both files in one run.

use std::fmt;

use super::Inventory;
use super::read::examine;
use crate::install_config::{self, Examined, InstallConfig, Rules};
use crate::schema::Read;
use crate::violation::Violation;

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
