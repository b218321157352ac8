//! What of a working directory can be wrong by itself.

use fs_err as fs;
use hardway_assets::secrets::is_kubeadmin_password;
use hardway_assets::{Cluster, pki};
use hardway_cluster::diagnosis::{ConfigFacts, FolderFacts};
use hardway_machines::providers::descriptor;
use jiff::Timestamp;

use crate::inputs::Workdir;
use crate::report::Report;

/// Looks at configs, certificates and the password. Files that are not there are not made yet, and not wrong.
pub(super) fn folder_facts(
    workdir: &Workdir,
    cluster: &Cluster,
    now: Timestamp,
) -> Result<FolderFacts, Report> {
    let mut names: Vec<String> = ["bootstrap.ign", "master.ign", "worker.ign"].map(str::to_owned).into();
    if let Ok(entries) = fs::read_dir(workdir.path("ignition")) {
        let files = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        names.extend(files.filter(|name| name.ends_with(".ign")).map(|name| format!("ignition/{name}")));
    }
    let mut facts = FolderFacts::default();
    for name in names {
        if let Some(bytes) = workdir.bytes(&name)? {
            facts.configs.insert(name, ConfigFacts::of(&bytes));
        }
    }
    let over = pki::ended(cluster, &workdir.tree()?, now).into_iter();
    facts.expired = over.map(|end| (end.certificate, end.not_after)).collect();
    facts.password_fits = workdir
        .text("auth/kubeadmin-password")?
        .map(|text| is_kubeadmin_password(text.trim_end().as_bytes()));
    let largest = descriptor(cluster.inventory.machines.provider).largest_config();
    facts.largest_config = largest.and_then(|bytes| usize::try_from(bytes).ok());
    Ok(facts)
}
