//! The catalogue and its words.

use std::collections::BTreeSet;
use std::path::Path;

use hardway_assets::example;
use hardway_assets::explain::{Catalogue, Kind};
use hardway_assets::inventory::Provider;

use super::*;

#[test]
fn every_check_is_explained_and_nothing_else() {
    let names: BTreeSet<&str> = CHECKS.iter().map(|check| check.name).collect();
    assert_eq!(names.len(), CHECKS.len(), "no name stands twice");
    let catalogue = Catalogue::load();
    let explained: BTreeSet<&str> =
        catalogue.iter().filter(|e| e.kind == Kind::Check).map(|e| e.name).collect();
    assert_eq!(names, explained);
}

#[test]
fn groups_come_one_after_the_other() {
    assert!(CHECKS.windows(2).all(|two| two[0].group <= two[1].group));
    assert!(CHECKS.iter().all(|check| !check.providers.is_empty()));
}

/// Only what is cheap and the same on every host is run here; all of it is run by the tests of the program.
#[test]
fn what_is_not_wanted_is_not_looked_at() {
    let mut cluster = example::cluster();
    cluster.inventory.machines.provider = Provider::BareMetal;
    let site = Site {
        cluster: &cluster,
        folder: Path::new("."),
        lab_files: None,
        certificates: &[],
        registry: Some(&|| panic!("nobody asked for it")),
        now: jiff::Timestamp::UNIX_EPOCH,
        patience: Patience::default(),
    };
    let words = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let choice = Choice {
        only: words(&["root", "certificates", "release-image", "mirrors"]),
        skip: words(&["mirrors"]),
    };
    let mut told = Vec::new();
    let results = run(&site, &choice, |result| told.push(result.check));
    let verdicts: Vec<(&str, Verdict)> =
        results.iter().map(|result| (result.check, result.verdict)).collect();
    assert_eq!(
        verdicts,
        [
            ("root", Verdict::NotApplicable),
            ("release-image", Verdict::NotApplicable),
            ("mirrors", Verdict::Skipped),
            ("certificates", Verdict::NotApplicable),
        ]
    );
    told.sort_unstable();
    assert_eq!(told, ["certificates", "mirrors", "release-image", "root"]);
    assert_eq!(failed(&results), [""; 0]);
    assert_eq!(Choice { skip: words(&["nonsense"]), ..Choice::default() }.unknown(), Some("nonsense"));
    assert_eq!(choice.unknown(), None);
}
