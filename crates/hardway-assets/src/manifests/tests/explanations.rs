//! Every file is explained.

use super::worlds;
use crate::explain::{Catalogue, Kind};

#[test]
fn every_file_is_explained() {
    let catalogue = Catalogue::of_assets();
    for (name, world) in worlds() {
        for path in world.paths() {
            let kind = if path == "metadata.json" { Kind::WorkFile } else { Kind::Manifest };
            let Some(found) = catalogue.get(kind, &path) else { panic!("{name}: {path} is not explained") };
            for part in [found.what, found.why, found.readers, found.without, found.source] {
                assert!(!part.is_empty(), "{path}: a line is missing");
            }
        }
    }
}
