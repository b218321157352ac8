//! The catalogue and its words.

use std::collections::BTreeSet;
use std::path::Path;

use hardway_assets::Cluster;
use hardway_assets::example;
use hardway_assets::explain::{Catalogue, Kind};
use hardway_assets::inventory::Provider;

use super::*;

#[test]
fn every_check_is_explained_and_nothing_else() {
    let names: BTreeSet<&str> = CHECKS.iter().map(|check| check.name.as_str()).collect();
    assert_eq!(names.len(), CHECKS.len(), "no name stands twice");
    let catalogue = Catalogue::read(crate::EXPLANATIONS.iter().copied());
    let explained: BTreeSet<&str> =
        catalogue.iter().filter(|e| e.kind == Kind::Check).map(|e| e.name).collect();
    assert_eq!(names, explained);
}

#[test]
fn groups_come_one_after_the_other() {
    assert!(CHECKS.windows(2).all(|two| two[0].group <= two[1].group));
    assert!(CHECKS.iter().all(|check| !check.providers.is_empty()));
}

#[test]
fn machines_are_not_made_for_the_sample_unless_somebody_insists() {
    let mut cluster = example::cluster();
    cluster.inventory.release.image = "sample".to_owned();
    let only = BTreeSet::from([CheckName::ReleaseImage]);
    let mut verdict = |provider: Provider, is_sample: bool, skip: BTreeSet<CheckName>| {
        cluster.inventory.machines.provider = provider;
        let results = run(
            &site(&cluster, is_sample),
            &Choice { only: only.clone(), skip, ..Choice::default() },
            |_| {},
        );
        (results[0].judged.verdict, results[0].judged.fix.clone().unwrap_or_default())
    };
    for provider in [Provider::BareMetal, Provider::Gce, Provider::Libvirt] {
        let (failed, fix) = verdict(provider, true, BTreeSet::new());
        assert!(failed == Verdict::Failed && fix.contains("inventory.yaml"), "{failed}: {fix}");
        assert_eq!(verdict(provider, true, only.clone()).0, Verdict::Skipped);
        // A folder with another release counts, whatever the inventory names.
        assert_eq!(verdict(provider, false, BTreeSet::new()).0, Verdict::NotApplicable);
    }
    assert_eq!(verdict(Provider::Lab, true, BTreeSet::new()).0, Verdict::NotApplicable);
}

fn site(cluster: &Cluster, is_sample: bool) -> Site<'_> {
    Site {
        cluster,
        folder: Path::new("."),
        certificates: &[],
        is_sample,
        registry: Some(&|| panic!("nobody asked for it")),
        images: None,
        now: jiff::Timestamp::UNIX_EPOCH,
        patience: PreflightPatience::default(),
    }
}

/// Only what is cheap and the same on every host is run here; all of it is run by the tests of the program.
#[test]
fn what_is_not_wanted_is_not_looked_at() {
    let mut cluster = example::cluster();
    cluster.inventory.machines.provider = Provider::BareMetal;
    let site = site(&cluster, false);
    let words = |names: &[&str]| names.iter().map(|name| CheckName::named(name).unwrap()).collect();
    let choice = Choice {
        only: words(&["root", "certificates", "release-image", "mirrors"]),
        skip: words(&["mirrors"]),
        ..Choice::default()
    };
    let mut told = Vec::new();
    let results = run(&site, &choice, |result| told.push(result.check.as_str()));
    let verdicts: Vec<(&str, Verdict)> =
        results.iter().map(|result| (result.check.as_str(), result.judged.verdict)).collect();
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
    assert_eq!(failed(&results), []);
    assert_eq!(CheckName::named("nonsense"), None);
    assert_eq!(choice.foreign(Provider::BareMetal), [(CheckName::Root, &[Provider::Lab][..])]);
    let unasked = Choice {
        only: words(&["certificates", "mirrors"]),
        unasked: &[CheckName::Mirrors],
        ..Choice::default()
    };
    let results = run(&site, &unasked, |_| {});
    assert_eq!(results.iter().map(|result| result.check).collect::<Vec<_>>(), [CheckName::Certificates]);
}
