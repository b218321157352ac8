//! The fold, event by event.

use jiff::SignedDuration;
use proptest::prelude::*;

use super::*;
use crate::declared::Declared;
use crate::objects::Truth;
use crate::testing::*;
use crate::watch::{ClusterEvent, Observed, WatchedKind};

const MINUTES_20: SignedDuration = SignedDuration::from_mins(20);

fn listed(operators: &[(&str, &str)]) -> ClusterEvent {
    ClusterEvent::Listed(
        WatchedKind::Operators,
        operators.iter().map(|(name, is)| operator(name, is)).collect(),
    )
}

/// An index that has seen these events, all at the start.
fn index(events: &[ClusterEvent]) -> WatchedCluster {
    let mut index = WatchedCluster::new(declared(), at(0));
    events.iter().for_each(|event| index.apply(event, at(0)));
    index
}

fn done() -> Vec<ClusterEvent> {
    vec![
        ClusterEvent::Up("v1.31.5".to_owned()),
        ClusterEvent::Listed(WatchedKind::Version, vec![version("TFF", "Cluster version is 4.18.1")]),
        listed(&[("network", "TFF"), ("etcd", "TFF"), ("ingress", "TFF"), ("authentication", "TFF")]),
        all_nodes(),
    ]
}

#[test]
fn a_finished_cluster_settles_after_thirty_quiet_seconds() {
    let index = index(&done());
    assert_eq!(index.unstable(at(29)).len(), 4);
    assert_ne!(index.unsettled(at(29)), Vec::<String>::new());
    assert_eq!(index.unsettled(at(30)), Vec::<String>::new());
}

#[test]
fn nothing_is_not_settled() {
    let empty = WatchedCluster::new(declared(), at(0));
    assert!(!empty.unsettled(at(100)).is_empty());
    // The API answers, and with empty lists.
    let empty: Vec<ClusterEvent> =
        WatchedKind::ALL.iter().map(|kind| ClusterEvent::Listed(*kind, Vec::new())).collect();
    assert!(index(&empty).unsettled(at(100)).contains(&"no ClusterOperator has reported".to_owned()));
}

#[test]
fn each_of_these_keeps_a_finished_cluster_from_being_settled() {
    let spoil: [(&str, ClusterEvent); 9] = [
        ("not Available", operator("etcd", "FFF").into()),
        ("Degraded", operator("etcd", "TFT").into()),
        ("Progressing", operator("etcd", "TTF").into()),
        ("Progressing unknown", operator("etcd", "T?F").into()),
        ("no conditions at all", operator("etcd", "---").into()),
        ("failing version", version("TFT", "no").into()),
        ("a worker NotReady", node("w1", "worker", false).into()),
        ("a master deleted", ClusterEvent::Deleted(WatchedKind::Nodes, "m2".to_owned())),
        ("the connection lost", ClusterEvent::Lost(WatchedKind::Operators, "timed out".to_owned())),
    ];
    for (what, event) in spoil {
        let mut index = index(&done());
        assert!(index.unsettled(at(60)).is_empty());
        index.apply(&event, at(60));
        assert!(!index.unsettled(at(120)).is_empty(), "{what}");
    }
}

#[test]
fn without_an_inventory_the_nodes_do_not_count() {
    let mut index = WatchedCluster::new(Declared::default(), at(0));
    done().iter().for_each(|event| index.apply(event, at(0)));
    index.apply(&ClusterEvent::Listed(WatchedKind::Nodes, Vec::new()), at(1));
    assert!(index.unsettled(at(60)).is_empty());
}

#[test]
fn a_change_and_back_that_nobody_saw_still_restarts_the_thirty_seconds() {
    let mut index = index(&done());
    let events =
        [operator_written("etcd", "TFF", Some(at(-5000))), operator_written("etcd", "TFF", Some(at(-4000)))];
    for (event, now) in events.into_iter().zip([10, 50]) {
        index.apply(&event.into(), at(now));
    }
    // The cluster's clock is an hour behind: its times count as different, not as long ago.
    assert_eq!(index.unstable(at(79)), ["etcd"]);
    assert!(index.unstable(at(80)).is_empty());
}

#[test]
fn a_clock_of_the_cluster_that_is_ahead_changes_nothing() {
    let mut index = index(&done());
    index.apply(&operator_written("etcd", "TFF", Some(at(86_400))).into(), at(0));
    assert!(index.unsettled(at(30)).is_empty());
}

#[test]
fn the_chain_ends_at_the_first_broken_link() {
    let base = [
        listed(&[
            ("network", "TFF"),
            ("dns", "TFF"),
            ("service-ca", "TFF"),
            ("openshift-apiserver", "TFF"),
            ("ingress", "F--"),
            ("authentication", "F-T"),
            ("console", "---"),
        ]),
        ClusterEvent::Listed(WatchedKind::Nodes, vec![node("m0", "master", true)]),
    ];
    let subjects = |events: &[ClusterEvent]| -> Vec<String> {
        let mut all = base.to_vec();
        all.extend_from_slice(events);
        let index = index(&all);
        chain("authentication", index.state(), index.declared())
            .into_iter()
            .map(|link| link.subject)
            .collect()
    };
    let head = ["operator authentication", "operator ingress"];
    assert_eq!(subjects(&[]), [&head[..], &["nodes"]].concat());
    let asked = ClusterEvent::Changed(request("csr-1"));
    assert_eq!(subjects(std::slice::from_ref(&asked)), [&head[..], &["certificate requests"]].concat());
    let registered = ClusterEvent::Changed(node("w0", "worker", false));
    assert_eq!(subjects(&[asked, registered.clone()]), [&head[..], &["node w0"]].concat());
    let ready = ClusterEvent::Changed(node("w0", "worker", true));
    assert_eq!(subjects(&[registered, ready.clone()]), head);
    assert_eq!(subjects(&[ready.clone(), operator("ingress", "TFF").into()]), ["operator authentication"]);
    assert_eq!(subjects(&[ready, operator("authentication", "TFF").into()]), Vec::<String>::new());
}

#[test]
fn what_most_wait_for_is_named_first() {
    let index = index(&[
        listed(&[
            ("network", "TFF"),
            ("openshift-samples", "F--"),
            ("ingress", "F--"),
            ("authentication", "F--"),
            ("console", "F--"),
            ("openshift-apiserver", "TFF"),
        ]),
        ClusterEvent::Listed(WatchedKind::Nodes, vec![node("m0", "master", true)]),
        ClusterEvent::Listed(WatchedKind::Requests, vec![request("csr-1"), request("csr-2")]),
    ]);
    let (link, count) = blocking(index.state(), index.declared()).unwrap();
    assert_eq!((link.subject.as_str(), count), ("certificate requests", 3));
    assert!(
        link.what.contains("worker w0 has not registered") && link.what.contains("csr-2"),
        "{}",
        link.what
    );
}

#[test]
fn flapping_is_no_progress_and_a_new_revision_is() {
    let mut index = index(&[listed(&[("etcd", "TFF")]), all_nodes()]);
    for minute in 1..30 {
        let is = if minute % 2 == 0 { "TFF" } else { "FTT" };
        index.apply(&operator("etcd", is).into(), at(60 * minute));
    }
    let stall = index.stall(at(60 * 29), MINUTES_20).expect("it only flaps");
    assert_eq!((stall.since, stall.broken.unwrap().subject.as_str()), (at(0), "operator etcd"));
    index.apply(&operator("dns", "F--").into(), at(60 * 29));
    assert_eq!(index.stall(at(60 * 29), MINUTES_20), None);
}

#[test]
fn a_new_pass_of_the_version_operator_is_no_progress_until_it_gets_further() {
    let mut index = index(&[]);
    let say = |done: u32| {
        ClusterEvent::from(version("FTF", &format!("Working towards 4.18.1: {done} of 902 done")))
    };
    for (minute, done) in [(1, 400), (10, 3), (15, 399)] {
        index.apply(&say(done), at(60 * minute));
    }
    assert!(index.stall(at(60 * 21), MINUTES_20).is_some());
    index.apply(&say(401), at(60 * 21));
    assert!(index.stall(at(60 * 21), MINUTES_20).is_none());
}

#[test]
fn a_lost_connection_is_said_once_and_a_lost_api_is_the_broken_link() {
    let mut index = index(&done());
    for kind in WatchedKind::ALL {
        index.apply(&ClusterEvent::Lost(kind, "connection refused".to_owned()), at(10));
    }
    assert_eq!(index.lost(), Some((at(10), "connection refused")));
    assert_eq!(index.blocking().unwrap().subject, "api");
    assert_eq!(index.state().operators.len(), 4, "what was known is still shown");
    index.apply(&listed(&[("etcd", "TFF")]), at(20));
    assert_eq!(index.lost(), None);
    let said: Vec<&str> = index
        .timeline()
        .moments()
        .filter(|moment| moment.subject == "api")
        .map(|moment| moment.what.as_str())
        .collect();
    assert_eq!(said, ["does not answer: connection refused", "answers again"]);
}

#[test]
fn the_timeline_tells_changes_of_status_and_not_of_messages() {
    let mut index = index(&[]);
    for (second, is) in [(0, "FTF"), (1, "FTF"), (2, "TTF"), (3, "TFF")] {
        index.apply(&operator("dns", is).into(), at(second));
    }
    index.apply(&listed(&[]), at(4));
    let told: Vec<String> = index.timeline().moments().map(|moment| moment.what.clone()).collect();
    let expected = [
        "Available=False",
        "Progressing=True",
        "Degraded=False",
        "Available=True",
        "Progressing=False",
        "is gone",
    ];
    assert_eq!(told, expected);
}

/// Any event that a watch can bring, about a few objects.
fn any_event() -> impl Strategy<Value = ClusterEvent> {
    let name = prop::sample::select(vec!["network", "etcd", "ingress", "authentication"]);
    let is = prop::sample::select(vec!["TFF", "FTF", "TTF", "TFT", "F-T", "???", "---"]);
    let host = prop::sample::select(vec![
        ("m0", "master"),
        ("m1", "master"),
        ("m2", "master"),
        ("w0", "worker"),
        ("w1", "worker"),
    ]);
    let kind = prop::sample::select(WatchedKind::ALL.to_vec());
    prop_oneof![
        6 => (name.clone(), is).prop_map(|(name, is)| operator(name, is).into()),
        3 => (host, any::<bool>()).prop_map(|((name, role), ready)| node(name, role, ready).into()),
        2 => prop::sample::select(vec!["TFF", "FTF", "TFT"]).prop_map(|is| version(is, "5 of 9 done").into()),
        1 => kind.clone().prop_map(|kind| ClusterEvent::Lost(kind, "lost".to_owned())),
        1 => kind.clone().prop_map(|kind| ClusterEvent::Listed(kind, Vec::new())),
        1 => name.prop_map(|name| ClusterEvent::Deleted(WatchedKind::Operators, name.to_owned())),
        1 => Just(all_nodes()),
        1 => Just(ClusterEvent::Tick),
    ]
}

proptest! {
    #[test]
    fn in_any_order_it_is_settled_exactly_when_everything_is_well(events in prop::collection::vec(any_event(), 0..60)) {
        let mut index = WatchedCluster::new(declared(), at(0));
        for (second, event) in events.iter().enumerate() {
            index.apply(event, at(second.try_into().unwrap()));
        }
        let later = at(1000);
        let state = index.state();
        let well = [WatchedKind::Version, WatchedKind::Operators, WatchedKind::Nodes].iter().all(|kind| index.is_fresh(*kind))
            && state.version.as_ref().is_some_and(crate::objects::ClusterVersion::is_initialized)
            && !state.operators.is_empty()
            && state.operators.values().all(crate::objects::ClusterOperator::is_well)
            && declared().nodes.iter().all(|node| state.nodes.get(&node.name).is_some_and(crate::objects::Node::is_ready));
        prop_assert_eq!(index.unsettled(later).is_empty(), well, "{:?}", index.unsettled(later));
    }

    #[test]
    fn a_relist_makes_good_for_everything_that_was_missed(
        events in prop::collection::vec(any_event(), 0..40),
        dropped in prop::collection::vec(any::<bool>(), 40),
    ) {
        let (mut all, mut some) = (WatchedCluster::new(declared(), at(0)), WatchedCluster::new(declared(), at(0)));
        for (event, dropped) in events.iter().zip(dropped) {
            all.apply(event, at(0));
            if !dropped {
                some.apply(event, at(0));
            }
        }
        let state = all.state().clone();
        let relist = [
            ClusterEvent::Listed(WatchedKind::Operators, state.operators.into_values().map(Observed::Operator).collect()),
            ClusterEvent::Listed(WatchedKind::Nodes, state.nodes.into_values().map(Observed::Node).collect()),
            ClusterEvent::Listed(WatchedKind::Version, state.version.into_iter().map(Observed::Version).collect()),
        ];
        for index in [&mut all, &mut some] {
            relist.iter().for_each(|event| index.apply(event, at(1)));
        }
        prop_assert_eq!(all.unsettled(at(100)), some.unsettled(at(100)));
        let shown = |index: &WatchedCluster| -> Vec<(String, [Truth; 3], Vec<Prerequisite>)> {
            let three = |view: OperatorView| (view.name, [view.available, view.progressing, view.degraded], view.waits_for);
            index.operators().into_iter().map(three).collect()
        };
        prop_assert_eq!(shown(&all), shown(&some));
    }

    #[test]
    fn the_chain_never_ends_in_something_that_works(events in prop::collection::vec(any_event(), 0..40)) {
        let mut index = WatchedCluster::new(declared(), at(0));
        events.iter().for_each(|event| index.apply(event, at(0)));
        for view in index.operators() {
            prop_assert_eq!(view.waits_for.is_empty(), view.available == Truth::True);
            for link in &view.waits_for {
                if let Some(name) = link.subject.strip_prefix("operator ") {
                    prop_assert_ne!(index.state().operators[name].truth("Available"), Truth::True);
                }
                if let Some(name) = link.subject.strip_prefix("node ") {
                    prop_assert!(!index.state().nodes[name].is_ready());
                }
            }
        }
    }
}

#[test]
fn a_node_that_calls_itself_otherwise_is_the_broken_link() {
    let mut index = WatchedCluster::new(declared(), at(0));
    index.apply(
        &ClusterEvent::Listed(WatchedKind::Nodes, vec![node("m0.example.com", "master", true)]),
        at(1),
    );
    let link = index.missing_nodes().remove(0);
    assert_eq!(link.what, "master m0 calls itself m0.example.com");
    assert!(link.fix.unwrap().contains("PTR"));
}
