//! What the approver and the simulation go by: who is expected, and who approves.

use std::path::Path;

use hardway_assets::yaml;
use hardway_cluster::declared::Declared;
use serde_json::Value;

use super::DeclaredHere;
use crate::inputs::Workdir;
use crate::report::{Code, Report};
use crate::terminal::Output;

/// Who is expected: from the file that was named, or from the two files of the folder.
pub(crate) fn declared(workdir: &Workdir, file: Option<&Path>, out: &Output) -> Result<Declared, Report> {
    let Some(file) = file else {
        return Ok(DeclaredHere::load(workdir, out)?.now());
    };
    let documents = documents(file)?;
    let [document] = documents.as_slice() else {
        return Err(unreadable(file, format!("found {} documents, expected one", documents.len())));
    };
    serde_json::from_value(document.clone()).map_err(|error| {
        unreadable(file, error)
            .fix("create it again with this version: hardway approve declared --dir CLUSTER")
    })
}

/// This host and process: no two approvers are the same.
pub(crate) fn identity() -> String {
    let host = fs_err::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let boot = fs_err::read_to_string("/proc/sys/kernel/random/uuid").unwrap_or_default();
    format!("{}_{}_{}", host.trim(), std::process::id(), boot.get(..8).unwrap_or_default())
}

/// The documents of a YAML or JSON file.
pub(crate) fn documents(file: &Path) -> Result<Vec<Value>, Report> {
    let text =
        fs_err::read_to_string(file).map_err(|error| Report::from_error(Code::CsrUnreadable, &error))?;
    let nodes = yaml::read_all(&text).map_err(|errors| {
        let first = errors.first().map(ToString::to_string).unwrap_or_default();
        unreadable(file, first)
    })?;
    Ok(nodes.iter().map(yaml::Node::to_json).collect())
}

/// A file that is not what it should be.
pub(crate) fn unreadable(file: &Path, why: impl std::fmt::Display) -> Report {
    Report::new(Code::CsrUnreadable, format!("{}: {why}", file.display()))
}
