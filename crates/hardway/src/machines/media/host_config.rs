//! Which config a host is installed with, and what stands in for it when it is too large.

use std::path::Path;

use hardway_assets::install_media::{hash, hash_in, hashed_pointer};
use hardway_assets::inventory::Host;
use hardway_assets::{Tree, ignition};

use crate::project::Project;
use crate::report::{Code, Report};

/// A host's config: in the working folder, or one that is given.
#[derive(Debug)]
pub(crate) struct HostConfig<'p> {
    /// Where it lies.
    pub(crate) path: String,
    /// What it says.
    pub(crate) bytes: &'p [u8],
    /// Whether it is made for the live system itself, which then installs by its own means.
    pub(crate) is_live: bool,
    /// Whether the command line named it: then nothing in the folder stands in for it.
    is_given: bool,
}

/// A short config that fetches the real one.
#[derive(Debug)]
pub(crate) struct HostPointer {
    /// Where it came from, for a person to read.
    pub(crate) from: String,
    /// What it says.
    pub(crate) bytes: Vec<u8>,
}

impl<'p> HostConfig<'p> {
    /// One that the command line names: of a worker of a hosted cluster, say, whose config is not this cluster's.
    pub(crate) fn given(path: &Path, bytes: &'p [u8]) -> Self {
        Self { path: path.display().to_string(), bytes, is_live: false, is_given: true }
    }

    /// The host's own, or the pool's pointer for a host that is declared to boot from it. Nothing stands in for the former: the
    /// machine would ask as somebody who is not let in.
    pub(crate) fn find(project: &'p Project, host: &Host) -> Result<Self, Report> {
        let is_live = project.cluster().is_bootstrap_in_place();
        let path = ignition::first_boot_config(project.cluster(), host);
        if let Some(bytes) = project.tree().get(&path) {
            return Ok(Self { path, bytes, is_live, is_given: false });
        }
        let what = format!("{} has no config yet: there is no {path}", host.name);
        let target = if is_live { "single-node-ignition-config" } else { "ignition-configs" };
        Err(Report::new(Code::Usage, what).fix(format!("hardway create {target}")))
    }

    /// What is embedded when the config itself is too large: the pointer in the working folder, or one to `url`.
    pub(crate) fn pointer(
        &self,
        tree: &Tree,
        host: &Host,
        url: Option<&str>,
    ) -> Result<Option<HostPointer>, Report> {
        if self.is_given {
            return Ok(None);
        }
        if let Some(url) = url {
            let url = format!("{}/{}", url.trim_end_matches('/'), self.path);
            let bytes = hashed_pointer(&url, self.bytes, None);
            return Ok(Some(HostPointer { from: url, bytes }));
        }
        let path = ignition::HostPointer::path(host);
        let Some(bytes) = tree.get(&path) else { return Ok(None) };
        // One that was made from another config would stop the machine in an emergency shell.
        if hash_in(bytes).is_some_and(|wanted| wanted != hash(self.bytes)) {
            let what = format!("{path} points to another config than {}", self.path);
            return Err(Report::new(Code::AssetFailed, what).fix("hardway create ignition-configs"));
        }
        Ok(Some(HostPointer { from: path, bytes: bytes.to_vec() }))
    }
}
