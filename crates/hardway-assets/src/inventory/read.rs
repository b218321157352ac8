//! From text to a checked inventory.

use super::draft::Draft;
use super::{Inventory, rules};
use crate::install_config::InstallConfig;
use crate::schema::{self, Findings, INVENTORY, Read};
use crate::violation::{Kind, Violation};
use crate::yaml;

/// Reads the file and holds it against the install-config, if there is one. Every violation is reported in one run;
/// only a syntax error ends it early.
pub fn read(text: &str, config: Option<&InstallConfig>) -> Result<Read<Inventory>, Vec<Violation>> {
    let node = yaml::read(text).map_err(schema::syntax)?;
    let mut findings = Findings::new(&node);
    findings.errors = schema::check(&node, &INVENTORY);
    let readable = findings.errors.iter().all(|violation| violation.kind == Kind::Unknown);
    let draft = Draft::new(&node);
    rules::check_all(&draft, config, &mut findings);
    let Findings { errors, warnings, .. } = findings;
    match draft.assemble(config).filter(|_| readable) {
        Some(value) if errors.is_empty() => Ok(Read { value, warnings, node }),
        _ => Err(schema::reasons(errors)),
    }
}
