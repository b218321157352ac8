//! Layers on top of each other: upper files win, whiteouts delete what is below (image-spec `layer.md`).

use std::collections::{BTreeMap, BTreeSet};

/// What a layer says about the wanted folders.
#[derive(Debug, Default)]
pub(crate) struct LayerFiles {
    /// By path below the root.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// Paths deleted from the layers below.
    pub(crate) whiteouts: BTreeSet<String>,
    /// Folders of which the layers below show nothing.
    pub(crate) opaque: BTreeSet<String>,
}

/// Files of several layers, the topmost first.
#[derive(Debug, Default)]
pub(crate) struct Overlay(LayerFiles);

impl Overlay {
    /// Lays a layer under those before.
    pub(crate) fn add_below(&mut self, below: LayerFiles) {
        for (path, bytes) in below.files {
            if !self.hides(&path) {
                self.0.files.entry(path).or_insert(bytes);
            }
        }
        self.0.whiteouts.extend(below.whiteouts);
        self.0.opaque.extend(below.opaque);
    }

    /// The files seen in the end.
    pub(crate) fn files(&self) -> &BTreeMap<String, Vec<u8>> {
        &self.0.files
    }

    pub(crate) fn into_files(self) -> BTreeMap<String, Vec<u8>> {
        self.0.files
    }

    fn hides(&self, path: &str) -> bool {
        self.0.whiteouts.contains(path)
            || parents(path).any(|p| self.0.whiteouts.contains(p) || self.0.opaque.contains(p))
    }
}

/// `a/b/c` is in `a/b`, `a` and the root.
pub(crate) fn parents(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at]).chain([""])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(files: &[&str], whiteouts: &[&str], opaque: &[&str]) -> LayerFiles {
        let set = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
        LayerFiles {
            files: files.iter().map(|path| ((*path).to_owned(), files[0].into())).collect(),
            whiteouts: set(whiteouts),
            opaque: set(opaque),
        }
    }

    fn paths(layers: Vec<LayerFiles>) -> Vec<String> {
        let mut overlay = Overlay::default();
        layers.into_iter().for_each(|layer| overlay.add_below(layer));
        overlay.into_files().into_keys().collect()
    }

    #[test]
    fn the_upper_file_wins() {
        let mut overlay = Overlay::default();
        overlay.add_below(layer(&["m/a"], &[], &[]));
        overlay.add_below(layer(&["m/b", "m/a"], &[], &[]));
        assert_eq!(overlay.files()["m/a"], b"m/a");
        assert_eq!(overlay.files().len(), 2);
    }

    #[test]
    fn whiteouts_delete_below_and_not_beside() {
        let below = || layer(&["m/a", "m/b", "n/a"], &[], &[]);
        assert_eq!(paths(vec![layer(&["x/y"], &["m/a"], &[]), below()]), ["m/b", "n/a", "x/y"]);
        assert_eq!(paths(vec![layer(&["x/y"], &["m"], &[]), below()]), ["n/a", "x/y"]);
        assert_eq!(paths(vec![layer(&["m/c"], &[], &["m"]), below()]), ["m/c", "n/a"]);
        assert_eq!(paths(vec![layer(&["m/c"], &["m/c"], &[])]), ["m/c"]);
        assert_eq!(
            paths(vec![layer(&["x"], &["m/a"], &[]), layer(&["y"], &[], &[]), below()]),
            ["m/b", "n/a", "x", "y"]
        );
    }
}
