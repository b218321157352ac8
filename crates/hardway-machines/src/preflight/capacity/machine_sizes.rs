//! Whether each machine is as large as the documentation asks for.

use hardway_assets::inventory::{Host, Role};

use crate::preflight::Judged;
use crate::preflight::scene::Scene;

/// The least that a machine must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) cpus: u32,
    pub(super) memory_gib: u32,
    pub(super) disk_gib: u32,
}

/// By role (openshift/openshift-docs modules/installation-minimum-resource-requirements.adoc).
pub(super) fn least(role: Role) -> Size {
    match role {
        Role::Bootstrap | Role::Master => Size { cpus: 4, memory_gib: 16, disk_gib: 100 },
        Role::Worker => Size { cpus: 2, memory_gib: 8, disk_gib: 100 },
    }
}

pub(in crate::preflight) fn machine_sizes(scene: &Scene<'_>) -> Judged {
    judge(&scene.site.cluster.inventory.hosts)
}

fn judge(hosts: &[Host]) -> Judged {
    let mut wrong = Vec::new();
    let mut is_any_declared = false;
    for host in hosts {
        let Size { cpus, memory_gib, disk_gib } = least(host.role);
        let rows = [
            ("cpus", host.cpus, cpus),
            ("memoryGiB", host.memory_gib, memory_gib),
            ("diskGiB", host.disk_gib, disk_gib),
        ];
        for (field, declared, least) in rows {
            let Some(declared) = declared else { continue };
            is_any_declared = true;
            if declared < least {
                wrong.push(format!("{}: {field} is {declared}, a {} needs {least}", host.name, host.role));
            }
        }
    }
    if !is_any_declared {
        return Judged::not_applicable("the inventory does not say how large the machines are");
    }
    let fix = "raise the figures in inventory.yaml, and in the machines";
    Judged::of(wrong, Vec::new(), fix, "every machine is large enough".to_owned())
}

#[cfg(test)]
mod tests {
    use hardway_assets::example;

    use super::*;
    use crate::preflight::Verdict;

    #[test]
    fn every_figure_that_is_too_small_is_named() {
        let mut hosts = example::cluster().inventory.hosts;
        assert_eq!(judge(&hosts).verdict, Verdict::NotApplicable);
        for host in &mut hosts {
            let Size { cpus, memory_gib, disk_gib } = least(host.role);
            (host.cpus, host.memory_gib, host.disk_gib) = (Some(cpus), Some(memory_gib), Some(disk_gib));
        }
        assert_eq!(judge(&hosts).verdict, Verdict::Passed);
        (hosts[2].memory_gib, hosts[5].cpus) = (Some(8), Some(1));
        let small = judge(&hosts);
        assert_eq!(
            small.seen,
            ["master-1: memoryGiB is 8, a master needs 16", "worker-1: cpus is 1, a worker needs 2"]
        );
    }
}
