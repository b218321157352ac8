//! Every entry that has a probe is broken once, in a cluster that is fine otherwise, and must be the first thing that is said.

mod bundles;
mod faults;
mod good;
mod lines;
mod seeds;
mod surroundings;

use std::collections::BTreeSet;

use hardway_assets::explain::{Catalogue, Kind};

use super::*;
use good::{booting, settled};

#[test]
fn nothing_is_broken_in_a_good_cluster() {
    for evidence in [booting(), settled(), Evidence::default()] {
        assert_eq!(all_broken(&evidence), []);
    }
}

#[test]
fn a_line_of_a_log_is_the_first_thing_said() {
    for (id, name, line) in lines::LINES {
        let mut evidence = booting();
        evidence.logs.push(LogTail {
            source: LogSource::Bootstrap,
            name: (*name).to_owned(),
            lines: vec!["fine".to_owned(), (*line).to_owned()],
        });
        let first = first_broken(&evidence).unwrap_or_else(|| panic!("{id}: nothing is found in {line}"));
        assert_eq!(first.code, format!("E-{id}"), "{line}: {first:?}");
        assert!(first.evidence.iter().any(|text| text.contains(line)), "{first:?}");
        // The same words in the log of a node that works are history.
        evidence.logs[0].source = LogSource::Node("m0".to_owned());
        assert_eq!(first_broken(&evidence), None, "{id}");
        evidence.logs[0].source = LogSource::Given;
        assert_eq!(first_broken(&evidence).map(|found| found.code), Some(first.code));
    }
}

#[test]
fn a_fact_is_the_first_thing_said() {
    for (id, evidence) in faults::faults() {
        let found = first_broken(&evidence);
        let first = found.as_ref().unwrap_or_else(|| panic!("{id}: nothing is found"));
        assert_eq!(first.code, format!("E-{id}"), "{first:?}");
        assert!(!first.fix.is_empty() && !first.symptom.is_empty() && !first.cause.is_empty(), "{first:?}");
        assert_eq!(all_broken(&evidence).first(), found.as_ref());
    }
}

#[test]
fn every_probe_is_shown_by_a_fault() {
    let facts: Vec<&str> = faults::faults().iter().map(|(id, _)| *id).collect();
    for row in ROWS {
        let is_logged = lines::LINES.iter().any(|(id, ..)| *id == row.id);
        assert_eq!(is_logged, !row.patterns().is_empty(), "{}: a line of a log", row.id);
        assert_eq!(row.is_probed(), is_logged || facts.contains(&row.id), "{}", row.id);
    }
}

#[test]
fn what_was_all_right_is_not_broken() {
    let mut evidence = settled();
    evidence.install.begun = Some(crate::testing::at(0));
    let fresh = "Ignition: ran on 2099/03/14 14:48:33 UTC (this boot)".to_owned();
    let old = "Ignition: ran on 2019/03/14 14:48:33 UTC (this boot)".to_owned();
    // The last boot of a console counts.
    evidence.logs.push(LogTail {
        source: LogSource::Given,
        name: "console".to_owned(),
        lines: vec![old, fresh],
    });
    evidence.install.is_bootstrap_removed = true;
    evidence.install.api_came_up = true;
    evidence.routers = vec!["w0".to_owned()];
    evidence.routes = Some(Port { host: "x.apps".to_owned(), port: 443, open: Ok(()) });
    // A rollout long after the install is somebody's wish.
    evidence.state.apply(&crate::testing::operator("kube-apiserver", "TTF").into());
    assert_eq!(all_broken(&evidence), []);
}

#[test]
fn rows_are_in_the_order_of_the_chain_and_each_is_explained() {
    assert!(ROWS.windows(2).all(|two| two[0].link <= two[1].link));
    let codes: BTreeSet<String> = ROWS.iter().map(|row| format!("E-{}", row.id)).collect();
    assert_eq!(codes.len(), ROWS.len(), "no number stands twice");
    let catalogue = Catalogue::read(crate::EXPLANATIONS.iter().copied());
    let explained: BTreeSet<String> =
        catalogue.iter().filter(|e| e.kind == Kind::Diagnosis).map(|e| e.name.to_owned()).collect();
    assert_eq!(codes, explained);
    for row in ROWS {
        let explained = catalogue.get(Kind::Diagnosis, &format!("E-{}", row.id)).unwrap();
        assert_eq!(row.is_probed(), !explained.readers.starts_with("Not probed"), "{}", row.id);
    }
}

#[test]
fn what_comes_first_hides_its_consequences() {
    let mut evidence = settled();
    evidence.state.nodes.remove("w0");
    evidence.state.apply(&crate::watch::ClusterEvent::Changed(crate::testing::request("csr-1")));
    evidence.state.apply(&crate::watch::ClusterEvent::Changed(crate::testing::operator("ingress", "FTT")));
    evidence.held.insert("csr-1".to_owned(), "no-ignition".to_owned());
    let first = first_broken(&evidence).unwrap();
    assert_eq!((first.code.as_str(), first.link), ("E-N1", Some(Link::Nodes)));
    assert!(first.evidence[0].contains("is held: no-ignition"), "{first:?}");
    let all: Vec<String> = all_broken(&evidence).into_iter().map(|found| found.code).collect();
    assert_eq!(all, ["E-N1", "E-C14"]);
}

#[test]
fn a_secret_in_a_journal_is_not_printed() {
    let mut evidence = booting();
    let lines = vec![r#"{"auth":"bWU6aHVzaA=="}: cluster ID mismatch"#.to_owned()];
    evidence.logs.push(LogTail { source: LogSource::Bootstrap, name: "etcd".to_owned(), lines });
    let first = first_broken(&evidence).unwrap();
    assert_eq!(first.evidence, [r#"bootstrap host, etcd: {"auth":"<redacted>"}: cluster ID mismatch"#]);
}
