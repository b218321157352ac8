//! The identity that a host of a cluster which runs asks with: its next generation, and its kubeconfig.

use hardway_assets::graph::{Asset as _, Inputs};
use hardway_assets::inventory::Host;
use hardway_assets::kubeconfigs::HostKubeconfig;
use hardway_assets::secrets::Comes;
use hardway_base::Secret;

use super::{Checked, Project, damaged};
use crate::clock;
use crate::inputs::Workdir;
use crate::report::{Code, Report};

/// From now on the host is in the next generation, in a folder that the caller holds: what asks with the one before is denied.
pub(crate) fn next_generation(workdir: &Workdir, host: &Host, comes: Comes) -> Result<u32, Report> {
    let on_disk = workdir.secrets()?;
    let mut secrets = on_disk.clone();
    let number = secrets.next_generation(&host.name, comes, clock::now()).map_err(|error| damaged(&error))?;
    workdir.write_secrets(&on_disk, &secrets)?;
    Ok(number)
}

/// Makes the host's certificate and kubeconfig, in a folder that the caller holds, and returns the latter as the host needs it:
/// with the authorities that the cluster has now, where those are known.
pub(crate) fn host_kubeconfig(
    workdir: &Workdir,
    checked: Checked,
    host: &Host,
    authorities: Option<&[u8]>,
) -> Result<Secret, Report> {
    let project = Project::load(workdir, checked)?;
    let asset = HostKubeconfig::new(host);
    let plan = project.plan(|other| other.id() == asset.id())?;
    workdir.write_secrets(&project.secrets_on_disk, project.secrets())?;
    workdir.apply(&plan, project.lock())?;
    let tree = plan.tree(project.tree());
    let inputs = Inputs {
        cluster: project.cluster(),
        release: project.release(),
        secrets: project.secrets(),
        tree: &tree,
    };
    let made = match authorities {
        Some(authorities) => asset.trusting(&inputs, authorities),
        None => asset.make(&inputs).map(|mut made| made.remove(0)),
    };
    made.map(Secret::new).map_err(|error| Report::from_error(Code::AssetFailed, &error))
}
