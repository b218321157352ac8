//! Processors for the machines.

use hardway_assets::inventory::Host;

use super::machine_sizes::least;
use crate::preflight::Judged;
use crate::preflight::scene::Scene;
use crate::providers::{Footprint, Ground};

/// How many virtual processors can share a real one before everything takes visibly longer (our judgement, no documented figure).
const SHARED_BY: u64 = 4;

pub(in crate::preflight) fn processors(scene: &Scene<'_>) -> Judged {
    if scene.ground() == Ground::Elsewhere {
        return Judged::not_applicable("the machines are on another host");
    }
    let there = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    match scene.surroundings().footprint {
        Footprint::Measured { one_processor, .. } => judge_shared(there, one_processor),
        Footprint::Declared => judge(&scene.site.cluster.inventory.hosts, there),
    }
}

/// Containers share all processors; an install was seen to succeed with two.
fn judge_shared(there: u64, one_processor: &str) -> Judged {
    match there {
        0..2 => Judged::refused(one_processor, "give this host two processors or more"),
        there => Judged::passed(format!("{there} processors")),
    }
}

fn judge(hosts: &[Host], there: u64) -> Judged {
    let of = |host: &Host| u64::from(host.cpus.unwrap_or(least(host.role).cpus));
    let wrong = hosts
        .iter()
        .filter(|host| of(host) > there)
        .map(|host| format!("{} needs {} processors, this host has {there}", host.name, of(host)))
        .collect();
    let sum: u64 = hosts.iter().map(of).sum();
    let crowded = sum > there * SHARED_BY;
    let odd = crowded.then(|| format!("the machines need {sum} processors together, this host has {there}"));
    let fix = "give the machines fewer processors, or use a larger host";
    Judged::of(
        wrong,
        odd.into_iter().collect(),
        fix,
        format!("the machines need {sum} processors, this host has {there}"),
    )
}

#[cfg(test)]
mod tests {
    use hardway_assets::example;

    use super::*;
    use crate::preflight::Verdict;

    #[test]
    fn a_machine_larger_than_the_host_is_named() {
        let mut hosts = example::cluster().inventory.hosts;
        assert_eq!(judge(&hosts, 8).verdict, Verdict::Passed);
        assert_eq!(judge(&hosts, 4).verdict, Verdict::Warned);
        hosts[1].cpus = Some(12);
        let large = judge(&hosts, 8);
        assert_eq!(large.seen, ["master-0 needs 12 processors, this host has 8"]);
        assert_eq!(
            (judge_shared(2, "one").verdict, judge_shared(1, "one").verdict),
            (Verdict::Passed, Verdict::Failed)
        );
    }
}
