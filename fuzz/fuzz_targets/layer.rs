//! Any bytes as two layers of a release image, one on the other: the reader comes back within its limits, and gives files of
//! the wanted folder and nothing else.
//!
//! Only the crate itself reads layers, and only those with a right digest. So its files are taken in here.
#![no_main]

#[path = "../../crates/hardway-release/src/archive.rs"]
mod archive;
#[path = "../../crates/hardway-release/src/layer.rs"]
#[allow(dead_code, reason = "the crate uses all of it")]
mod layer;
#[path = "../../crates/hardway-release/src/overlay.rs"]
#[allow(dead_code, reason = "the crate uses all of it")]
mod overlay;

use archive::LayerLimits;
use layer::{Found, find_file, read_layer};
use libfuzzer_sys::fuzz_target;
use overlay::Overlay;

const FOLDERS: [&str; 2] = ["release-manifests/", "manifests/"];
const LIMITS: LayerLimits = LayerLimits { file: 1 << 12, total: 1 << 14, entries: 100, archive: 1 << 20 };

fuzz_target!(|bytes: &[u8]| {
    let (upper, lower) = bytes.split_at(bytes.len() / 2 / 512 * 512);
    let mut overlay = Overlay::default();
    for layer in [bytes, upper, lower] {
        look_for(layer, "release-manifests/image-references");
        look_for(layer, "usr/bin/oc");
        let Ok(found) = read_layer(layer, &FOLDERS, LIMITS) else { continue };
        let names: usize = found.whiteouts.iter().map(String::len).sum();
        let files: usize = found.files.iter().map(|(path, bytes)| path.len() + bytes.len()).sum();
        assert!((names + files) as u64 <= LIMITS.total);
        overlay.add_below(found);
    }
    for (path, bytes) in overlay.files() {
        let name =
            FOLDERS.iter().find_map(|folder| path.strip_prefix(folder)).expect("it is of a wanted folder");
        assert!(!name.is_empty() && !name.contains('/') && name != "..", "{path:?}");
        assert!(!name.starts_with(".wh."), "{path:?}");
        assert!(bytes.len() as u64 <= LIMITS.file);
    }
});

fn look_for(layer: &[u8], path: &str) {
    let mut out = Vec::new();
    match find_file(layer, path, LIMITS, &mut out) {
        Ok(Found::File(size)) => {
            assert!(size == out.len() as u64 && size <= LIMITS.file);
        }
        Ok(Found::Link(target)) => {
            assert!(!target.starts_with('/') && target.split('/').all(|part| part != ".."), "{target:?}");
        }
        // What was written before an error is thrown away by who asked.
        Err(_) => {}
        Ok(Found::Deleted | Found::Absent) => assert!(out.is_empty()),
    }
}
