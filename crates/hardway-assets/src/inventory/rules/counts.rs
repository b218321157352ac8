//! As many machines as install-config asks for.

use super::super::Role;
use super::super::draft::Draft;
use crate::install_config::InstallConfig;
use crate::schema::Findings;
use crate::violation::Violation;

pub(super) fn check(draft: &Draft<'_>, config: &InstallConfig, findings: &mut Findings<'_>) {
    let count = |role| draft.with_role(role).count() as u64;
    let masters = config.control_plane.replicas;
    let workers = config.worker_replicas();
    for (role, wanted, field) in
        [(Role::Master, masters, "controlPlane.replicas"), (Role::Worker, workers, "compute[].replicas")]
    {
        let found = count(role);
        if found != wanted {
            let detail = format!("hosts with role {role}: install-config asks for {wanted} ({field})");
            findings.error(Violation::invalid("hosts", found, detail));
        }
    }
    let bootstraps: Vec<_> = draft.with_role(Role::Bootstrap).collect();
    if config.bootstrap_in_place.is_some() {
        for host in bootstraps {
            let detail = "with bootstrapInPlace the node installs itself: there is no bootstrap host";
            findings.error(Violation::forbidden(&host.path, detail));
        }
    } else if bootstraps.len() != 1 {
        let detail = "exactly one host with role bootstrap is required";
        let fix = "add a host that runs the temporary control plane; a single node can do without one: set \
                   bootstrapInPlace in install-config.yaml";
        findings.error(Violation::invalid("hosts", bootstraps.len(), detail).fix(fix));
    }
}
