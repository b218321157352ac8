//! The last words of an install: what was built, how long it took, and how to go on.

use std::fmt::Write as _;

use hardway_assets::Phase;
use hardway_assets::inventory::Role;
use hardway_assets::work_paths;
use hardway_base::counted;
use jiff::SignedDuration;

use super::{Install, short};
use crate::journal::recorded;
use crate::report::Report;

/// For the end of `create cluster`.
pub(crate) fn summary(install: &Install) -> Result<String, Report> {
    let (cluster, history) = (&install.cluster, install.history()?);
    let hosts = |role, noun| counted(cluster.inventory.with_role(role).count(), noun);
    let mut text = format!(
        "{} is installed: {}, {}, release {}\n\n",
        cluster.domain(),
        hosts(Role::Master, "master"),
        hosts(Role::Worker, "worker"),
        cluster.inventory.release.image
    );
    let mut total = SignedDuration::ZERO;
    for phase in Phase::ALL {
        if let Some(took) = history.phases.took(recorded(phase)) {
            let _ = writeln!(text, "  {:20} {:>12}", phase.name(), short(took));
            total += took;
        }
    }
    let _ = writeln!(text, "  {:20} {:>12}\n", "all phases", short(total));
    let kubeconfig = install.dir.join(work_paths::KUBECONFIG);
    let _ = writeln!(text, "export KUBECONFIG={}", kubeconfig.display());
    let _ = writeln!(
        text,
        "password of kubeadmin: {}",
        install.dir.join(work_paths::KUBEADMIN_PASSWORD).display()
    );
    if install.lab.is_some() {
        let dir = install.dir.display();
        let _ = writeln!(text, "\nThe lab has a network of its own:");
        let _ = writeln!(text, "  hardway lab run --dir {dir} -- kubectl get nodes");
        let _ = writeln!(text, "  hardway lab shell --dir {dir} master-0");
        let _ = writeln!(text, "  hardway destroy --dir {dir}");
    }
    Ok(text)
}
