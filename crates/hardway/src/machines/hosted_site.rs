//! The machines of hosted clusters, as `hosted-inventory.yaml` describes them.

use std::collections::BTreeSet;
use std::path::Path;

use hardway_assets::Cluster;
use hardway_assets::host_services::InstallStage;
use hardway_assets::inventory::Host;
use hardway_assets::secrets::SecretsError;
use hardway_assets::work_paths;
use hardway_machines::providers::{Inputs, Provider, ProviderError, descriptor};

use crate::clock;
use crate::inputs::{FolderLock, HostedFile, Workdir};
use crate::project;
use crate::report::{Code, Report};

/// A folder with machines of hosted clusters and nothing else.
pub(crate) struct HostedSite {
    pub(crate) file: HostedFile,
    /// What providers are told.
    pub(crate) cluster: Cluster,
}

impl HostedSite {
    /// To look at; nothing where the folder is another kind.
    pub(crate) fn open(workdir: &Workdir) -> Result<Option<Self>, Report> {
        let Some(file) = HostedFile::open(workdir)? else { return Ok(None) };
        let mut secrets = workdir.secrets()?;
        let is_drawn = secrets.identity().is_ok();
        let mut cluster =
            file.inventory.cluster(&mut secrets, clock::now()).map_err(|error| damaged(&error))?;
        if !is_drawn {
            // The same at every look.
            let id = &mut cluster.identity.infra_id;
            id.truncate(id.len() - project::UNDRAWN.len());
            id.push_str(project::UNDRAWN);
        }
        Ok(Some(Self { file, cluster }))
    }

    /// For somebody who builds: what is built may be named after letters that are drawn once, and kept from now on.
    pub(crate) fn to_build(workdir: &Workdir) -> Result<Option<Self>, Report> {
        if workdir.path(work_paths::IDENTITY).exists() {
            return Self::open(workdir);
        }
        let Some(file) = HostedFile::open(workdir)? else { return Ok(None) };
        let _held = FolderLock::take(workdir)?;
        let on_disk = workdir.secrets()?;
        let mut secrets = on_disk.clone();
        let cluster = file.inventory.cluster(&mut secrets, clock::now()).map_err(|error| damaged(&error))?;
        workdir.write_secrets(&on_disk, &secrets)?;
        Ok(Some(Self { file, cluster }))
    }

    /// The machines that are kept for one hosted cluster. Records of workers are a tenant's to write: by them nobody reaches another's.
    pub(crate) fn hosts_of(&self, namespace: &str, cluster: &str) -> Vec<Host> {
        let pools = self.file.inventory.pools.iter();
        let own =
            pools.filter(|pool| (pool.namespace.as_str(), pool.cluster.as_str()) == (namespace, cluster));
        let own: BTreeSet<&str> =
            own.flat_map(|pool| &pool.hosts).map(|one| one.host.name.as_str()).collect();
        let hosts = self.cluster.inventory.hosts.iter();
        hosts.filter(|host| own.contains(host.name.as_str())).cloned().collect()
    }

    /// Who makes the machines. `dir` is absolute.
    pub(crate) fn provider(&self, dir: &Path) -> Result<Box<dyn Provider>, Report> {
        let program =
            std::env::current_exe().map_err(|error| Report::from_error(Code::WorkdirUnusable, &error))?;
        let inputs =
            Inputs { cluster: &self.cluster, folder: dir, program: &program, stage: InstallStage::Installed };
        descriptor(self.cluster.inventory.machines.provider).planner(&inputs).map_err(|error| {
            let what = error.to_string();
            match error {
                ProviderError::Settings(violations) => self.file.invalid(violations),
                ProviderError::LabFilesMissing { fix } => Report::new(Code::LabFilesMissing, what).fix(fix),
            }
        })
    }
}

fn damaged(error: &SecretsError) -> Report {
    Report::from_error(Code::SecretsDamaged, error)
}
