//! Cut off after any action, both ways go on.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hardway_machines::actions::{ActionListener, Executor};
use jiff::Timestamp;

use hardway_testing::inside_with_libvirt;

use super::site::{Work, state};

/// The clock is read right before each record is written: there a run can be cut off.
fn cut_off_after(work: &Work, records: usize, f: impl FnOnce(&Executor<'_>)) -> bool {
    let left = Cell::new(records);
    let now = || {
        assert!(left.get() > 0, "cut off here");
        left.set(left.get() - 1);
        Timestamp::UNIX_EPOCH
    };
    catch_unwind(AssertUnwindSafe(|| work.with(&now, f))).is_err()
}

#[test]
fn cut_off_after_every_action_up_and_down_go_on() {
    if !inside_with_libvirt() {
        return;
    }
    std::panic::set_hook(Box::new(|_| {}));
    let (work, before) = (Work::new(), state());
    let actions = work.actions();
    work.up(&actions);
    let built = state();
    work.down();
    assert_eq!(state(), before);
    // Each run ends the action before, does one, and is cut off before it says so.
    let mut runs = 0;
    while cut_off_after(&work, 1 + runs.min(1), |executor| executor.up(&actions, &mut ()).unwrap()) {
        runs += 1;
    }
    assert_eq!(runs, actions.len());
    assert_eq!(state(), built);
    // And back, likewise: each is taken back twice.
    let mut runs = 0;
    while cut_off_after(&work, 0, down_one) {
        work.with(&|| Timestamp::UNIX_EPOCH, down_one);
        runs += 1;
    }
    assert_eq!(runs, actions.len());
    assert_eq!(state(), before);
}

/// Down from the middle of an up leaves nothing: with all actions before it done, and itself done but not said.
#[test]
fn half_an_up_is_taken_back_whole() {
    if !inside_with_libvirt() {
        return;
    }
    std::panic::set_hook(Box::new(|_| {}));
    let (work, before) = (Work::new(), state());
    let actions = work.actions();
    for middle in ["storage/pool", "network/active", "balancer/haproxy", "machine/bootstrap/disk"] {
        let records = 2 * actions.iter().position(|action| action.id == middle).unwrap() + 1;
        assert!(cut_off_after(&work, records, |executor| executor.up(&actions, &mut ()).unwrap()));
        assert_ne!(state(), before, "{middle}");
        work.down();
        assert_eq!(state(), before, "{middle}");
    }
}

/// One action back, the last.
fn down_one(executor: &Executor<'_>) {
    let last = executor.ledger().unwrap().iter().last().map(|owned| owned.action.clone());
    if let Some(last) = last {
        executor.take_back(|action| action == last, &mut () as &mut dyn ActionListener).unwrap();
    }
}
