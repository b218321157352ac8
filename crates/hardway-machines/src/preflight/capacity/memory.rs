//! Memory for the machines that run at the same time.

use hardway_assets::Cluster;
use hardway_assets::inventory::{Host, Role};

use crate::preflight::Judged;
use crate::preflight::scene::Scene;
use crate::providers::{Footprint, Ground, descriptor};

pub(in crate::preflight) fn memory(scene: &Scene<'_>) -> Judged {
    if scene.ground() == Ground::Elsewhere {
        return Judged::not_applicable("the machines are on another host");
    }
    let text = fs_err::read_to_string("/proc/meminfo").unwrap_or_default();
    judge(needed(scene.site.cluster), available(&text))
}

/// MiB at the worst moment: workers start when the bootstrap host is gone.
fn needed(cluster: &Cluster) -> u64 {
    let footprint = descriptor(cluster.inventory.machines.provider).surroundings.footprint;
    let of = |host: &Host| match (footprint, host.role) {
        (Footprint::Measured { memory: [_, worker, _], .. }, Role::Worker) => worker,
        (Footprint::Measured { memory: [control_plane, ..], .. }, _) => control_plane,
        (Footprint::Declared, _) => host.memory_gib.map_or_else(|| usual(host.role), u64::from) * 1024,
    };
    let sum = |roles: [Role; 2]| -> u64 {
        cluster.inventory.hosts.iter().filter(|host| roles.contains(&host.role)).map(of).sum()
    };
    let peak = sum([Role::Bootstrap, Role::Master]).max(sum([Role::Master, Role::Worker]));
    match footprint {
        Footprint::Measured { memory: [.., around], .. } => peak + around,
        Footprint::Declared => peak,
    }
}

/// GiB of a machine for which the inventory says nothing: the documented minimum.
pub(super) fn usual(role: Role) -> u64 {
    match role {
        Role::Bootstrap | Role::Master => 16,
        Role::Worker => 8,
    }
}

/// MiB that can be used without swapping.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? / 1024)
}

fn judge(needed: u64, available: Option<u64>) -> Judged {
    let fix = "use fewer or smaller machines, or a host with more memory";
    match available {
        None => Judged::warned(vec!["/proc/meminfo does not say how much memory there is".to_owned()], fix),
        Some(available) if available < needed => Judged::refused(
            format!("the machines need {}, {} are available", gib(needed), gib(available)),
            fix,
        ),
        Some(available) => Judged::passed(format!(
            "the machines need {} of {} that are available",
            gib(needed),
            gib(available)
        )),
    }
}

fn gib(mib: u64) -> String {
    format!("{}.{} GiB", mib / 1024, mib % 1024 * 10 / 1024)
}

#[cfg(test)]
mod tests {
    use hardway_assets::example;
    use hardway_assets::inventory::Provider;

    use super::*;
    use crate::preflight::Verdict;

    #[test]
    fn the_worst_moment_counts() {
        let mut cluster = example::cluster();
        assert_eq!(needed(&cluster), (4 * 16) << 10, "bootstrap host and masters");
        cluster.inventory.hosts[0].memory_gib = Some(8);
        assert_eq!(needed(&cluster), (3 * 16 + 2 * 8) << 10, "masters and workers");
        cluster.inventory.machines.provider = Provider::Lab;
        assert_eq!(needed(&cluster), 4 * 1100 + 200);
    }

    #[test]
    fn both_figures_are_told() {
        let text = |kilobytes: u64| format!("MemTotal:       99 kB\nMemAvailable:   {kilobytes} kB\n");
        assert_eq!(judge(4600, available(&text(4_710_400))).verdict, Verdict::Passed);
        let short = judge(4600, available(&text(4_000_000)));
        assert_eq!(short.seen, ["the machines need 4.4 GiB, 3.8 GiB are available"]);
        assert_eq!((short.verdict, judge(1, None).verdict), (Verdict::Failed, Verdict::Warned));
    }
}
