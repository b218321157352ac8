//! Every code that an error carries can be asked about. That codes and explanations are the same set is tested beside
//! the catalogue, in `src/report/code.rs`.

use hardway_assets::explain::{Catalogue, Kind};

use crate::work;

#[test]
fn each_can_be_asked_about() {
    let work = work::empty();
    let catalogue = Catalogue::read([(Kind::Error, include_str!("../../explanations/errors.md"))]);
    for code in catalogue.iter().map(|entry| entry.name) {
        assert!(work.ok(&["explain", code]).stdout.starts_with(&format!("{code} (error)\n")), "{code}");
    }
}
