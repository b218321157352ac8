//! The identity that a host of a cluster which runs asks with: its next generation, and its kubeconfig.

use std::collections::BTreeSet;

use hardway_assets::graph::{Asset as _, Inputs, MakeError};
use hardway_assets::inventory::Host;
use hardway_assets::kubeconfigs::HostKubeconfig;
use hardway_assets::pki::KnownHosts;
use hardway_assets::secrets::Comes;
use hardway_base::Secret;

use super::files_seen::note_made;
use super::{Checked, Project, damaged};
use crate::clock;
use crate::inputs::Workdir;
use crate::report::{Code, Report};
use crate::terminal::Output;

/// From now on the hosts are in their next generation, in a folder that the caller holds: what asks with the one before is denied.
pub(crate) fn next_generation(workdir: &Workdir, hosts: &[&Host], comes: Comes) -> Result<(), Report> {
    let on_disk = workdir.secrets()?;
    let mut secrets = on_disk.clone();
    for host in hosts {
        secrets.next_generation(&host.name, comes, clock::now()).map_err(|error| damaged(&error))?;
    }
    workdir.write_secrets(&on_disk, &secrets)
}

/// Makes the hosts' certificates and kubeconfigs, and `auth/known_hosts` with their ssh keys, in a folder that the caller holds, and
/// returns the kubeconfigs as the hosts need them: with the authorities that the cluster has now, where those are known.
pub(crate) fn host_kubeconfigs(
    workdir: &Workdir,
    checked: Checked,
    hosts: &[&Host],
    authorities: Option<&[u8]>,
) -> Result<Vec<Secret>, Report> {
    let project = Project::load(workdir, checked, &Output::silent())?;
    let assets: Vec<HostKubeconfig> = hosts.iter().map(|host| HostKubeconfig::new(host)).collect();
    let mut wanted: BTreeSet<String> = assets.iter().map(HostKubeconfig::id).collect();
    wanted.insert(KnownHosts::of(project.cluster()).id());
    let plan = project.plan(|asset| wanted.contains(&asset.id()))?;
    workdir.write_secrets(&project.secrets_on_disk, project.secrets())?;
    workdir.apply(&plan, project.lock())?;
    note_made(workdir, &project, &plan, &Output::silent());
    let tree = plan.tree(project.tree());
    let inputs = Inputs {
        cluster: project.cluster(),
        release: project.release(),
        secrets: project.secrets(),
        tree: &tree,
    };
    let kubeconfig = |asset: &HostKubeconfig| match authorities {
        Some(authorities) => asset.trusting(&inputs, authorities),
        None => asset.make(&inputs).map(|mut made| made.remove(0)),
    };
    let made: Result<Vec<Vec<u8>>, MakeError> = assets.iter().map(kubeconfig).collect();
    let made = made.map_err(|error| Report::from_error(Code::AssetFailed, &error))?;
    Ok(made.into_iter().map(Secret::new).collect())
}
