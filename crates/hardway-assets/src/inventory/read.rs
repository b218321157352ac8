//! From text to a checked inventory, alone or together with the install-config.

use std::fmt;

use super::draft::{Draft, network_plugin};
use super::{Inventory, rules};
use crate::input_tables::INVENTORY;
use crate::install_config::{self, Examined, InstallConfig, Rules};
use crate::schema::{self, Findings, Read};
use crate::violation::Violation;
use crate::yaml::{self, Node, SyntaxError, Value};

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
    let node = document(text).map_err(schema::syntax)?;
    examine(node, config).map_err(|refused| refused.errors)
}

/// The file as a tree. A minor version is a number to YAML (`4.20` would even be `4.2`): as the release it is the word that was written.
///
/// # Errors
/// When it is not YAML.
pub fn document(text: &str) -> Result<Node, Vec<SyntaxError>> {
    let mut node = yaml::read(text)?;
    let image = node.get_mut("release").and_then(|release| release.get_mut("image"));
    if let Some(image) = image.filter(|image| matches!(image.value, Value::Float(_))) {
        image.value = Value::String(text[image.span.start..image.span.end].to_owned());
    }
    Ok(node)
}

/// What is wrong with each of the two files.
#[derive(Clone, Default)]
pub struct Errors {
    /// In `install-config.yaml`.
    pub install_config: Vec<Violation>,
    /// In `inventory.yaml`, and between the two.
    pub inventory: Vec<Violation>,
    /// What is odd but allowed in `install-config.yaml`.
    pub odd_install_config: Vec<Violation>,
    /// The same in `inventory.yaml`.
    pub odd_inventory: Vec<Violation>,
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
    let inventory_node = document(inventory_text);
    let plugin = inventory_node.as_ref().ok().and_then(network_plugin);
    let Examined { config, errors, warnings, node } =
        install_config::examine(config_text, rules, &|name| plugin.as_deref() == Some(name));
    let inventory = match inventory_node {
        Ok(node) => examine(node, config.as_ref()),
        Err(errors) => Err(Refused { errors: schema::syntax(errors), ..Refused::default() }),
    };
    match (config, inventory) {
        (Some(value), Ok(inventory)) if errors.is_empty() => Ok((Read { value, warnings, node }, inventory)),
        (config, inventory) => {
            let refused = match inventory {
                Ok(read) => {
                    let understood = Some(Box::new(read.value));
                    Refused { errors: Vec::new(), warnings: read.warnings, understood }
                }
                Err(refused) => refused,
            };
            let understood = config.zip(refused.understood);
            Err(Errors {
                install_config: errors,
                inventory: refused.errors,
                odd_install_config: warnings,
                odd_inventory: refused.warnings,
                understood: understood.map(|(config, inventory)| Box::new((config, *inventory))),
            })
        }
    }
}

/// What is wrong, and what could be understood in spite of that.
#[derive(Default)]
struct Refused {
    errors: Vec<Violation>,
    warnings: Vec<Violation>,
    understood: Option<Box<Inventory>>,
}

/// Like [`read`], but keeps what could be understood, so that a provider's settings can be looked at in the same run.
fn examine(node: Node, config: Option<&InstallConfig>) -> Result<Read<Inventory>, Refused> {
    let mut findings = Findings::new(&node, schema::check(&node, &INVENTORY));
    let draft = Draft::new(&node);
    rules::check_all(&draft, config, &mut findings);
    let Findings { errors, warnings, .. } = findings;
    match draft.assemble(config) {
        Some(value) if errors.is_empty() => Ok(Read { value, warnings, node }),
        understood => {
            let (errors, understood) = (schema::reasons(errors), understood.map(Box::new));
            Err(Refused { errors, warnings, understood })
        }
    }
}
