//! From text to a checked inventory.

use super::draft::Draft;
use super::{Inventory, rules};
use crate::install_config::InstallConfig;
use crate::schema::{self, Findings, INVENTORY, Read};
use crate::violation::Violation;
use crate::yaml;

/// Reads the file and holds it against the install-config, if there is one. Every violation is reported in one run;
/// only a syntax error ends it early.
pub fn read(text: &str, config: Option<&InstallConfig>) -> Result<Read<Inventory>, Vec<Violation>> {
    examine(text, config).map_err(|(errors, _)| errors)
}

/// What is wrong, and what could be understood in spite of that.
pub(super) type Refused = (Vec<Violation>, Option<Box<Inventory>>);

/// Like [`read`], but keeps what could be understood, so that a provider's settings can be looked at in the same run.
pub(super) fn examine(text: &str, config: Option<&InstallConfig>) -> Result<Read<Inventory>, Refused> {
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
