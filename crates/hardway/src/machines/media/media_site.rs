//! Whose machines media are made for: those of the folder's own cluster, or of hosted clusters.

use std::path::Path;

use hardway_assets::{Cluster, Tree};

use crate::inputs::Workdir;
use crate::machines::hosted_site::HostedSite;
use crate::project::{Checked, Project};
use crate::release::Reach;
use crate::report::{Code, Report};
use crate::terminal::Output;

/// A folder that media are made in.
pub(super) enum MediaSite {
    /// Its hosts have configs of their own there.
    Own(Box<Project>),
    /// Its hosts get theirs from HyperShift.
    Hosted(Box<Cluster>, Tree),
}

impl MediaSite {
    pub(super) fn open(workdir: &Workdir, release_dir: Option<&Path>, out: &Output) -> Result<Self, Report> {
        if let Some(site) = HostedSite::open(workdir)? {
            return Ok(Self::Hosted(Box::new(site.cluster), Tree::default()));
        }
        let checked = Checked::load(workdir, Reach::local(release_dir), out)?;
        Ok(Self::Own(Box::new(Project::look(workdir, checked)?)))
    }

    pub(super) fn cluster(&self) -> &Cluster {
        match self {
            Self::Own(project) => project.cluster(),
            Self::Hosted(cluster, _) => cluster,
        }
    }

    /// The files on disk that hosts can boot with.
    pub(super) fn tree(&self) -> &Tree {
        match self {
            Self::Own(project) => project.tree(),
            Self::Hosted(_, tree) => tree,
        }
    }

    /// The cluster that hosts of this folder have configs of.
    pub(super) fn project(&self) -> Result<&Project, Report> {
        match self {
            Self::Own(project) => Ok(project),
            Self::Hosted(..) => {
                let what = "the hosts of hosted-inventory.yaml have no configs in this folder: HyperShift makes them";
                Err(Report::new(Code::Usage, what).fix(
                    "`hardway hosted workers` makes media when a worker boots; pass another config with --config FILE",
                ))
            }
        }
    }
}
