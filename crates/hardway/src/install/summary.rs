//! The last words of an install: what was built, how long it took, and how to go on.

use std::fmt::Write as _;

use hardway_assets::Phase;
use hardway_assets::inventory::Role;
use jiff::SignedDuration;

use super::{Install, short};
use crate::journal::recorded;
use crate::report::Report;

/// For the end of `create cluster`.
pub(crate) fn summary(install: &Install) -> Result<String, Report> {
    let (cluster, history) = (&install.cluster, install.history()?);
    let count = |role| cluster.inventory.with_role(role).count();
    let mut text = format!(
        "{} is installed: {} masters, {} workers, release {}\n\n",
        cluster.domain(),
        count(Role::Master),
        count(Role::Worker),
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
    let kubeconfig = install.dir.join("auth/kubeconfig");
    let _ = writeln!(text, "export KUBECONFIG={}", kubeconfig.display());
    let _ =
        writeln!(text, "password of kubeadmin: {}", install.dir.join("auth/kubeadmin-password").display());
    if install.place.is_some() {
        let dir = install.dir.display();
        let _ = writeln!(text, "\nThe lab has a network of its own:");
        let _ = writeln!(text, "  hardway lab run --dir {dir} -- kubectl get nodes");
        let _ = writeln!(text, "  hardway lab shell --dir {dir} master-0");
        let _ = writeln!(text, "  hardway destroy --dir {dir}");
    }
    Ok(text)
}
