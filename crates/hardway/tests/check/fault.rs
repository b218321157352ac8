//! Faults, each with the one check that fails by it.

use std::sync::Mutex;

use super::world::World;
use super::{balancer_faults, host_faults, libvirt_faults, name_faults};

/// One thing that is wrong.
pub(crate) struct Fault {
    /// The only check that fails.
    pub(crate) check: &'static str,
    /// What it must say: the record, port, host or file.
    pub(crate) says: &'static str,
    pub(crate) world: World,
}

/// A good world with one change.
pub(crate) fn fault(
    check: &'static str,
    says: &'static str,
    mut world: World,
    change: impl FnOnce(&mut World),
) -> Fault {
    change(&mut world);
    Fault { check, says, world }
}

/// All of them.
pub(crate) fn all() -> Vec<Fault> {
    [host_faults::faults(), libvirt_faults::faults(), name_faults::faults(), balancer_faults::faults()]
        .into_iter()
        .flatten()
        .collect()
}

/// Shows that each is found and nothing else is. They mostly wait, so several are run at a time.
pub(crate) fn show(faults: Vec<Fault>) {
    let queue = Mutex::new(faults.into_iter());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let Some(fault) = queue.lock().unwrap().next() else { break };
                    fault.show();
                }
            });
        }
    });
}

impl Fault {
    fn show(&self) {
        let seen = self.world.check();
        assert_eq!(seen.with("failed"), [self.check], "{:#}\n{}", seen.stdout, seen.stderr);
        assert_eq!(seen.code, Some(2));
        assert!(seen.stderr.contains("error[preflight-failed]: 1 of "), "{}", seen.stderr);
        let result = seen.of(self.check);
        assert!(result["seen"].to_string().contains(self.says), "{:?} is not in {result:#}", self.says);
        assert!(result["fix"].as_str().is_some_and(|fix| !fix.is_empty()), "{result:#}");
    }
}

/// Shows that nothing fails in a good world, and that these checks do pass there.
pub(crate) fn show_good(world: &World, passed: &[&str]) {
    let seen = world.check();
    assert_eq!(seen.with("failed"), [""; 0], "{}\n{}", seen.stdout, seen.stderr);
    assert_eq!(seen.code, Some(0), "{}", seen.stderr);
    for check in passed {
        assert_eq!(seen.of(check)["verdict"], "passed", "{:#}", seen.of(check));
    }
}
