//! First certificates of an install that have ended before it was over.

use std::path::Path;

use hardway_assets::pki;
use jiff::Timestamp;
use serde::Serialize;

use crate::inputs::Workdir;
use crate::project::{Checked, Forecast, Project};
use crate::release::Reach;
use crate::report::Report;
use crate::terminal::Output;

/// What the machines of an install were given, and can no longer use.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExpiredInstall {
    /// By name, with their end.
    pub(crate) certificates: Vec<(String, Timestamp)>,
    /// Files of the folder that are made again because of it.
    pub(crate) files: Vec<String>,
}

impl ExpiredInstall {
    /// Of a working folder; nothing where nothing was made.
    pub(crate) fn of(workdir: &Workdir, release_dir: Option<&Path>, out: &Output) -> Result<Self, Report> {
        let checked = Checked::load(workdir, Reach::local(release_dir), out)?;
        let project = Project::look(workdir, checked)?;
        let over = pki::ended(project.cluster(), project.tree(), project.now()).into_iter();
        let certificates: Vec<_> = over.map(|end| (end.certificate, end.not_after)).collect();
        if certificates.is_empty() {
            return Ok(Self::default());
        }
        let forecast = Forecast::of(&project, |_| true)?;
        let stale = forecast.steps().into_iter().filter(|step| !step.reasons.is_empty());
        let mut files: Vec<String> =
            stale.flat_map(|step| step.files.iter().map(|(output, _)| output.path.clone())).collect();
        files.sort();
        files.dedup();
        Ok(Self { certificates, files })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.certificates.is_empty()
    }

    /// In one line.
    pub(crate) fn sentence(&self) -> String {
        let earliest = self.certificates.iter().map(|(_, end)| *end).min();
        let earliest = earliest.map(|end| format!(", the earliest at {end:.0}")).unwrap_or_default();
        format!(
            "{} of the first certificates expired before the install was complete{earliest}",
            self.certificates.len()
        )
    }
}
