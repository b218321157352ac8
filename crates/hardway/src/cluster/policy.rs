//! What the approver and the simulation go by: who is expected, and who approves.

use std::collections::BTreeMap;
use std::path::Path;

use hardway_assets::install_config::InstallConfig;
use hardway_assets::inventory::Inventory;
use hardway_assets::secrets::HostGeneration;
use hardway_assets::yaml;
use hardway_cluster::declared::Declared;
use serde_json::Value;

use crate::inputs::Workdir;
use crate::project::Checked;
use crate::release::Reach;
use crate::report::{Code, Report};
use crate::terminal::Output;

/// Who is expected by the files of a folder, and which generation of its identity each host is in. Those change while an
/// approver runs, when another process replaces a machine.
pub(crate) struct DeclaredHere {
    config: InstallConfig,
    inventory: Inventory,
    generations: BTreeMap<String, HostGeneration>,
}

impl DeclaredHere {
    /// Reads the two input files, and what the secrets say.
    pub(crate) fn load(workdir: &Workdir, out: &Output) -> Result<Self, Report> {
        Self::of(workdir, Checked::load(workdir, Reach::Here(None), out)?)
    }

    /// The same, with the files read already.
    pub(crate) fn of(workdir: &Workdir, checked: Checked) -> Result<Self, Report> {
        // Before secrets were drawn, nobody is in a later generation than the first.
        let generations = workdir.identity()?.map(|identity| identity.generations).unwrap_or_default();
        Ok(Self { config: checked.config, inventory: checked.inventory, generations })
    }

    /// Who is expected.
    pub(crate) fn now(&self) -> Declared {
        Declared::new(&self.config, &self.inventory, &self.generations)
    }

    /// Looks again; whether a host is in another generation than before. Where there is nothing to read any more, what was known
    /// stays in force: an older generation never comes back by that.
    pub(crate) fn look(&mut self, workdir: &Workdir) -> Result<bool, Report> {
        let Some(identity) = workdir.identity()? else { return Ok(false) };
        let is_other = identity.generations != self.generations;
        self.generations = identity.generations;
        Ok(is_other)
    }
}

/// Who is expected: from the file that was named, or from the two files of the folder.
pub(crate) fn declared(workdir: &Workdir, file: Option<&Path>, out: &Output) -> Result<Declared, Report> {
    let Some(file) = file else {
        return Ok(DeclaredHere::load(workdir, out)?.now());
    };
    let documents = documents(file)?;
    let [document] = documents.as_slice() else {
        return Err(unreadable(file, format!("{} documents, where one is needed", documents.len())));
    };
    serde_json::from_value(document.clone()).map_err(|error| {
        unreadable(file, error).fix("print it anew, with this version: hardway csr declared --dir CLUSTER")
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
