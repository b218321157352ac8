//! A pool in a small world that does what it is told.

mod world;

use jiff::SignedDuration;
use proptest::prelude::*;

use self::world::{World, minutes};
use super::*;
use crate::gates::GateName;
use crate::worker::{TroubleReason, WorkerStage};

#[test]
fn workers_come_up_and_are_labelled() {
    let mut world = World::with_workers(3);
    world.hold_gate(true);
    world.settle();
    assert!(world.machines.is_empty(), "no machine boots before the gates are open");
    assert_eq!(world.worker("w-0").history.trouble.as_ref().unwrap().reason.to_string(), "payload");
    world.hold_gate(false);
    world.settle();
    assert_eq!(world.stages(), [WorkerStage::Ready; 3]);
    assert!(
        world
            .view
            .workers
            .iter()
            .all(|worker| worker.history.labelled.is_some() && worker.history.trouble.is_none())
    );
    assert!(world.plan().is_empty(), "nothing is left to do");
}

/// A drive that cannot be emptied, or nobody there who could: labels, upgrades and leaving go on.
#[test]
fn what_a_first_boot_leaves_behind_keeps_nobody() {
    let mut world = World::with_workers(2);
    world.settles = false;
    world.settle();
    assert!(world.plan().iter().all(|step| step.kind() == StepKind::Settle && step.hand() == Hand::Machines));
    assert_eq!((world.stages(), world.plan().len()), (vec![WorkerStage::Ready; 2], 2));
    world.new_config("22222222", true);
    world.settle();
    assert_eq!(world.rebooted, 2);
    world.want("w-1", WantedState::Absent);
    world.settle();
    assert_eq!(world.view.workers.len(), 1);
    world.settles = true;
    world.settle();
    assert!(world.plan().is_empty() && world.worker("w-0").history.settled.is_some());
}

/// Only one of two controllers may see what is in a journal; were it the other's to write down, both would wait for ever.
#[test]
fn whoever_sees_something_writes_it_down() {
    let mut world = World::with_workers(1);
    world.boots = false;
    world.settle();
    let now = world.now;
    world.view.news.insert("w-0".into(), WorkerNews { fetched: Some(now), asked: None });
    let steps = world.plan();
    assert_eq!(steps.iter().map(ReconcileStep::hand).collect::<Vec<_>>(), [Hand::Either]);
    assert!(matches!(&steps[0], ReconcileStep::Observe(worker) if worker.history.fetched == Some(now)));
}

/// Who a machine will be is written down before it is made. Each machine under a name is somebody else; and one that is nobody, of an older
/// hardway, is made anew.
#[test]
fn every_machine_is_somebody_of_its_own() {
    let mut world = World::with_workers(1);
    let steps = world.plan();
    let [ReconcileStep::Record(record)] = steps.as_slice() else { panic!("{steps:?}") };
    let first = record.history.generation;
    assert!(first.is_some() && record.history.booted.is_none());
    world.settle();
    assert_eq!(world.worker("w-0").history.generation, first);
    world.pass(minutes(1));
    world.want("w-0", WantedState::Replaced);
    world.settle();
    let second = world.worker("w-0").history.generation;
    assert!(second > first, "{second:?}");
    world.want("w-0", WantedState::Absent);
    world.settle();
    world.pass(minutes(1));
    world.add("w-0");
    world.boots = false;
    world.settle();
    assert!(world.worker("w-0").history.generation > second, "also under a record that was made again");
    world.view.workers[0].history.generation = None;
    let steps = world.plan();
    let [ReconcileStep::Record(record)] = steps.as_slice() else { panic!("{steps:?}") };
    assert_eq!(record.wanted, WantedState::Replaced);
}

#[test]
fn only_so_many_boot_at_once() {
    let mut world = World::with_workers(9);
    world.settings.boots_at_once = 4;
    world.boots = false;
    world.settle();
    assert_eq!(world.machines.len(), 4);
    world.boots = true;
    world.settle();
    assert_eq!(world.stages(), [WorkerStage::Ready; 9]);
}

#[test]
fn a_worker_goes_in_good_order() {
    let mut world = World::with_workers(2);
    world.settle();
    world.want("w-1", WantedState::Absent);
    world.taken.clear();
    world.settle();
    assert_eq!(world.view.workers.len(), 1);
    let order: Vec<&str> = world.taken.iter().map(|(_, step)| *step).collect();
    assert_eq!(order, ["record", "cordon", "drain", "remove-machine", "delete-node", "forget"]);
}

/// A record under the name of a node that another pool labelled, or that was there before any machine of ours.
#[test]
fn a_node_of_somebody_else_is_neither_drained_nor_deleted() {
    let mut world = World::with_workers(2);
    world.settle();
    let other = (crate::names::NODE_LABEL.to_owned(), "other".to_owned());
    world.view.nodes.get_mut("w-0").unwrap().labels.extend([other]);
    let before = world.worker("w-1").history.booted.unwrap() - minutes(1);
    world.view.nodes.get_mut("w-1").unwrap().created = before;
    for name in ["w-0", "w-1"] {
        world.want(name, WantedState::Absent);
    }
    world.taken.clear();
    world.settle();
    assert!(world.view.workers.is_empty());
    assert_eq!(world.view.nodes.keys().collect::<Vec<_>>(), ["w-0", "w-1"]);
    let touched = ["cordon", "drain", "delete-node"];
    assert!(world.taken.iter().all(|(_, step)| !touched.contains(step)), "{:?}", world.taken);
}

#[test]
fn a_replaced_worker_is_another_node_under_its_name() {
    let mut world = World::with_workers(1);
    world.settle();
    let before = world.worker("w-0").history.node_uid.clone();
    world.want("w-0", WantedState::Replaced);
    world.settle();
    let after = world.worker("w-0");
    assert_eq!((after.incarnation, after.stage()), (2, WorkerStage::Ready));
    assert_ne!(after.history.node_uid, before);
}

#[test]
fn pods_that_a_budget_keeps_are_waited_for_unless_their_node_does_not_work() {
    let mut world = World::with_workers(1);
    world.settle();
    world.drains = false;
    world.want("w-0", WantedState::Absent);
    world.settle();
    world.pass(SignedDuration::from_hours(100));
    world.settle();
    assert_eq!(world.view.workers.len(), 1, "nobody goes below what a budget allows");
    world.break_nodes(&["w-0"]);
    world.pass(minutes(11));
    world.settle();
    assert!(world.view.workers.is_empty() && world.machines.is_empty() && world.view.nodes.is_empty());
}

#[test]
fn pods_that_nobody_would_start_again_are_waited_for_until_the_pools_owner_gives_them_up() {
    let mut world = World::with_workers(1);
    world.settle();
    world.unmanaged = true;
    world.want("w-0", WantedState::Absent);
    world.settle();
    assert_eq!(world.worker("w-0").history.trouble.as_ref().unwrap().reason, TroubleReason::WouldLosePods);
    world.pass(SignedDuration::from_hours(100));
    world.settle();
    assert_eq!(world.view.workers.len(), 1, "whatever the controller's own limit says");
    world.view.pool.spec.node_drain_timeout = Some("101h0m0s".to_owned());
    world.settle();
    assert_eq!(world.view.workers.len(), 1, "not yet");
    world.pass(SignedDuration::from_hours(1));
    world.settle();
    assert!(world.view.workers.is_empty() && world.machines.is_empty() && world.view.nodes.is_empty());
}

/// Its pods do not run any more, whoever would start them again.
#[test]
fn a_node_that_is_dead_has_nothing_to_lose() {
    let mut world = World::with_workers(1);
    world.settle();
    world.unmanaged = true;
    world.want("w-0", WantedState::Absent);
    world.settle();
    world.break_nodes(&["w-0"]);
    world.pass(minutes(6));
    world.settle();
    assert!(world.view.workers.is_empty());
}

#[test]
fn a_pool_has_its_own_limit_for_draining() {
    let mut world = World::with_workers(1);
    world.view.pool.spec.node_drain_timeout = Some("30m0s".to_owned());
    world.settle();
    world.drains = false;
    world.want("w-0", WantedState::Absent);
    world.settle();
    world.pass(minutes(29));
    world.settle();
    assert_eq!(world.view.workers.len(), 1);
    world.pass(minutes(1));
    world.settle();
    assert!(world.view.workers.is_empty());
}

#[test]
fn a_machine_that_never_becomes_a_node_has_a_named_reason() {
    let mut world = World::with_workers(3);
    world.settle();
    world.add("w-3");
    world.boots = false;
    world.settle();
    world.pass(minutes(21));
    world.settle();
    assert_eq!(world.worker("w-3").history.trouble.as_ref().unwrap().reason.to_string(), "not-asked");
    let now = world.now;
    world.view.news.insert("w-0".into(), WorkerNews { fetched: Some(now), asked: None });
    world.forgive("w-3");
    world.settle();
    assert_eq!(
        world.worker("w-3").history.trouble.as_ref().unwrap().reason.to_string(),
        "not-fetched",
        "others were served here"
    );
    world
        .view
        .news
        .insert("w-3".into(), WorkerNews { fetched: None, asked: Some((now, "contested".into())) });
    world.forgive("w-3");
    world.settle();
    assert_eq!(world.worker("w-3").history.trouble.as_ref().unwrap().reason.to_string(), "not-approved");
    assert_eq!(world.worker("w-3").incarnation, 1, "nothing is replaced unless that is wanted");
}

#[test]
fn unwell_workers_are_replaced_but_not_all_of_them() {
    let mut world = World::with_workers(8);
    world.repair(true);
    world.settle();
    world.break_nodes(&["w-0"]);
    world.pass(minutes(17));
    world.settle();
    assert_eq!((world.worker("w-0").incarnation, world.worker("w-0").stage()), (2, WorkerStage::Ready));
    world.break_nodes(&["w-1", "w-2", "w-3"]);
    world.pass(minutes(17));
    world.settle();
    let reasons: Vec<String> = ["w-1", "w-2", "w-3"]
        .map(|name| world.worker(name).history.trouble.clone().unwrap().reason.to_string())
        .into();
    assert_eq!(reasons, ["repairs-paused"; 3], "three at once is no fault of the workers");
    world.mend_nodes(&["w-3"]);
    world.forgive("w-1");
    world.forgive("w-2");
    world.settle();
    let again = |world: &World, name: &str| world.worker(name).incarnation;
    assert_eq!([again(&world, "w-1"), again(&world, "w-2"), again(&world, "w-3")], [2, 2, 1]);
    world.break_nodes(&["w-4"]);
    world.pass(minutes(17));
    world.settle();
    assert_eq!(
        world.worker("w-4").history.trouble.as_ref().unwrap().reason.to_string(),
        "repairs-paused",
        "three within an hour are enough"
    );
    world.pass(minutes(60));
    world.forgive("w-4");
    world.settle();
    assert_eq!(again(&world, "w-4"), 2);
}

#[test]
fn nothing_is_replaced_while_somebody_has_paused_it() {
    let mut world = World::with_workers(2);
    world.repair(true);
    world.settle();
    world.view.gates = vec![Gate {
        name: GateName::Paused,
        is_open: false,
        seen: "NodePool is paused until true".into(),
        fix: None,
    }];
    world.break_nodes(&["w-0"]);
    world.pass(minutes(17));
    world.settle();
    let trouble = world.worker("w-0").history.trouble.clone().unwrap();
    assert_eq!((trouble.reason.to_string().as_str(), world.worker("w-0").incarnation), ("repairs-paused", 1));
    world.view.gates.clear();
    world.forgive("w-0");
    world.settle();
    assert_eq!(world.worker("w-0").incarnation, 2);
}

#[test]
fn a_pointer_that_opens_nothing_any_more_is_given_anew() {
    let mut world = World::with_workers(1);
    world.boots = false;
    world.settle();
    world.settings.startup = SignedDuration::from_hours(24);
    world.pass(minutes(11 * 60));
    world.draw_token();
    world.boots = true;
    world.settle();
    assert_eq!((world.worker("w-0").incarnation, world.worker("w-0").stage()), (2, WorkerStage::Ready));
    // Its config was retired before it could fetch it.
    world.add("w-1");
    world.boots = false;
    world.settle();
    world.new_config("22222222", true);
    world.boots = true;
    world.settle();
    assert_eq!(
        (world.worker("w-1").incarnation, world.worker("w-1").history.config_hash.as_deref()),
        (2, Some("22222222"))
    );
}

#[test]
fn upgrades_in_place_are_one_at_a_time_and_stop_when_one_is_stuck() {
    let mut world = World::with_workers(3);
    world.settle();
    world.new_config("22222222", true);
    world.settle();
    assert!(
        world.view.workers.iter().all(|worker| worker.history.config_hash.as_deref() == Some("22222222"))
    );
    assert_eq!((world.most_away, world.rebooted), (1, 3));
    assert!(
        world.view.workers.iter().all(|worker| worker.incarnation == 1 && worker.history.upgrading.is_none())
    );

    world.upgrades = false;
    world.new_config("33333333", true);
    world.settle();
    world.pass(minutes(46));
    world.settle();
    let stuck: Vec<&Worker> =
        world.view.workers.iter().filter(|worker| worker.history.trouble.is_some()).collect();
    assert_eq!(stuck.len(), 1, "no second one was begun");
    assert_eq!(stuck[0].history.trouble.as_ref().unwrap().reason.to_string(), "upgrade-stuck");
    world.upgrades = true;
    world.settle();
    assert!(
        world.view.workers.iter().all(|worker| worker.history.config_hash.as_deref() == Some("33333333"))
    );
    assert!(world.view.workers.iter().all(|worker| worker.history.trouble.is_none()));
}

#[test]
fn pools_that_replace_get_new_machines_one_by_one() {
    let mut world = World::with_workers(3);
    world.settle();
    world.new_config("22222222", false);
    world.settle();
    assert!(
        world
            .view
            .workers
            .iter()
            .all(|worker| worker.incarnation == 2 && worker.stage() == WorkerStage::Ready)
    );
    assert_eq!(world.most_away, 1);
}

proptest! {
    /// Whatever is wanted and breaks in whatever order: when all is well again, all is as it is wanted, nothing is left over, and
    /// nobody was asked for two things at once.
    #[test]
    fn everything_comes_to_rest(events in prop::collection::vec((0..6_u8, 0..5_usize), 0..12)) {
        let mut world = World::with_workers(3);
        world.repair(true);
        for (event, which) in events {
            let name = format!("w-{which}");
            match event {
                0 => world.add(&name),
                1 => world.want(&name, WantedState::Absent),
                2 => world.want(&name, WantedState::Replaced),
                3 => world.break_nodes(&[&name]),
                4 => { world.new_config(if which % 2 == 0 { "22222222" } else { "33333333" }, true); }
                _ => world.boots = !world.boots,
            }
            world.pass(minutes(7));
            world.rounds(4);
        }
        world.boots = true;
        let all: Vec<String> = world.view.nodes.keys().cloned().collect();
        world.mend_nodes(&all.iter().map(String::as_str).collect::<Vec<_>>());
        for _ in 0..4 {
            world.pass(minutes(61));
            world.forgive_all();
            world.settle();
        }
        prop_assert!(world.plan().is_empty());
        let hash = world.view.pool.config_hash().unwrap().to_owned();
        for worker in &world.view.workers {
            prop_assert_eq!((worker.stage(), worker.wanted), (WorkerStage::Ready, WantedState::Present));
            prop_assert_eq!(worker.history.config_hash.as_deref(), Some(hash.as_str()));
        }
        let names: Vec<&String> = world.view.workers.iter().map(|worker| &worker.name).collect();
        prop_assert_eq!(world.view.nodes.keys().collect::<Vec<_>>(), names.clone());
        prop_assert_eq!(world.machines.keys().collect::<Vec<_>>(), names);
    }
}

#[test]
fn a_config_that_comes_in_the_middle_of_an_upgrade_is_the_one_that_counts() {
    let mut world = World::with_workers(3);
    world.settle();
    world.upgrades = false;
    world.new_config("22222222", true);
    world.settle();
    assert_eq!(world.view.workers.iter().filter(|worker| worker.history.upgrading.is_some()).count(), 1);
    world.new_config("33333333", true);
    world.upgrades = true;
    world.settle();
    assert!(
        world.view.workers.iter().all(|worker| worker.history.config_hash.as_deref() == Some("33333333"))
    );
    assert_eq!(world.most_away, 1);
}
