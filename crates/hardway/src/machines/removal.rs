//! What a removal would take away from this host.

use serde_json::Value;

use crate::inputs::{Workdir, io};
use crate::journal::history;
use crate::report::Report;

/// What was done and not taken back, in the order in which it is taken back: last first.
pub(crate) fn owned_actions(workdir: &Workdir) -> Result<Vec<String>, Report> {
    let ledger = history(workdir)?.actions;
    Ok(ledger.iter().rev().map(|owned| owned.action.clone()).collect())
}

pub(crate) fn removal_text(actions: &[String]) -> String {
    if actions.is_empty() {
        return "nothing to undo: the journal records no changes to this host or its machines\n".to_owned();
    }
    let rows: String = actions.iter().map(|action| format!("  {action}\n")).collect();
    match actions.len() {
        1 => format!("1 change would be undone:\n{rows}"),
        count => format!("{count} changes would be undone, in this order:\n{rows}"),
    }
}

/// What a person calls the cluster of a folder. Its inputs may be gone or broken by now.
pub(crate) fn cluster_name(workdir: &Workdir) -> Result<String, Report> {
    let metadata = fs_err::read(workdir.path("metadata.json")).unwrap_or_default();
    let metadata: Value = serde_json::from_slice(&metadata).unwrap_or_default();
    if let Some(name) = metadata["clusterName"].as_str() {
        return Ok(name.to_owned());
    }
    let folder = fs_err::canonicalize(workdir.path("")).map_err(|error| io(&error))?;
    Ok(folder.file_name().unwrap_or_default().to_string_lossy().into_owned())
}
