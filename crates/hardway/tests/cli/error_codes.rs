//! Every code that an error carries is explained, and no other.

use std::collections::BTreeSet;
use std::path::Path;

use hardway_assets::explain::{Catalogue, Kind};
use hardway_testing::Snapshot;

use crate::work;

/// The texts that begin a call of `Report::new` or `Report::from_error`.
fn used() -> BTreeSet<String> {
    let sources = Snapshot::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let mut codes = BTreeSet::new();
    for (path, _, bytes) in sources.files() {
        let text = std::str::from_utf8(bytes).unwrap();
        for call in ["Report::new(", "Report::from_error("] {
            for (at, _) in text.match_indices(call) {
                let argument = text[at + call.len()..].trim_start();
                let code = argument.strip_prefix('"').and_then(|rest| rest.split_once('"'));
                codes.insert(
                    code.unwrap_or_else(|| panic!("{path}: a code that is not written out")).0.to_owned(),
                );
            }
        }
    }
    codes
}

#[test]
fn codes_and_explanations_are_the_same_set() {
    let catalogue = Catalogue::read([(Kind::Error, include_str!("../../explanations/errors.md"))]);
    let explained: BTreeSet<String> =
        catalogue.iter().filter(|e| e.kind == Kind::Error).map(|e| e.name.to_owned()).collect();
    assert_eq!(used(), explained);
}

#[test]
fn each_can_be_asked_about() {
    let work = work::empty();
    for code in used() {
        assert!(work.ok(&["explain", &code]).stdout.starts_with(&format!("{code} (error)\n")), "{code}");
    }
}
