//! Both files in one run.

use super::{Inventory, read};
use crate::install_config::{Examined, InstallConfig, Rules, examine};
use crate::schema::Read;
use crate::violation::Violation;

/// What is wrong with each of the two files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Errors {
    /// In `install-config.yaml`.
    pub install_config: Vec<Violation>,
    /// In `inventory.yaml`, and between the two.
    pub inventory: Vec<Violation>,
}

/// Reads both files and reports the errors of both. An install-config with mistakes still serves to check the
/// inventory, as far as it could be understood.
pub fn read_both(
    config_text: &str,
    inventory_text: &str,
    rules: Rules,
) -> Result<(Read<InstallConfig>, Read<Inventory>), Errors> {
    let Examined { config, errors, warnings, node } = examine(config_text, rules);
    let inventory = read(inventory_text, config.as_ref());
    match (config, inventory) {
        (Some(value), Ok(inventory)) if errors.is_empty() => Ok((Read { value, warnings, node }, inventory)),
        (_, inventory) => {
            Err(Errors { install_config: errors, inventory: inventory.err().unwrap_or_default() })
        }
    }
}
