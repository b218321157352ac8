//! Everything that `hardway explain` knows: the explanations of all crates, and those of this program's own errors.

use hardway_assets::explain::{Catalogue, Kind};

/// All of them.
pub(crate) fn catalogue() -> Catalogue {
    Catalogue::read(texts())
}

/// A file for each kind, from the crate that owns what it explains.
pub(crate) fn texts() -> impl Iterator<Item = (Kind, &'static str)> {
    const OWN: &[(Kind, &str)] = &[
        (Kind::Error, include_str!("../explanations/errors.md")),
        (Kind::WorkFile, include_str!("../explanations/files.md")),
    ];
    [
        hardway_assets::explain::EXPLANATIONS,
        hardway_machines::EXPLANATIONS,
        hardway_cluster::EXPLANATIONS,
        hardway_hosted::EXPLANATIONS,
        OWN,
    ]
    .into_iter()
    .flatten()
    .copied()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use hardway_assets::guide;

    use super::*;

    /// A sixth line would be read by nobody, a line in another order by nobody who edits the file next.
    #[test]
    fn a_section_is_a_name_and_five_labelled_lines() {
        for (kind, text) in texts() {
            for section in text.split("\n## ").skip(1) {
                let mut lines = section.trim_end().lines();
                let name = lines.next().unwrap_or_default();
                let labels: Vec<&str> =
                    lines.map(|line| line.split_once(": ").map_or(line, |(label, _)| label)).collect();
                assert_eq!(labels, ["what", "why", "readers", "without", "source"], "{kind:?} {name}");
            }
        }
    }

    #[test]
    fn no_name_stands_twice_within_a_kind_and_no_line_is_empty() {
        let mut seen = BTreeSet::new();
        for e in catalogue().iter() {
            assert!(seen.insert((e.kind, e.name)), "{:?} {} is explained twice", e.kind, e.name);
            for text in [e.what, e.why, e.readers, e.without, e.source] {
                assert!(!text.is_empty(), "{:?} {}", e.kind, e.name);
            }
        }
    }

    /// `hardway explain …` as the pages of the guide show it works.
    #[test]
    fn what_the_pages_tell_to_explain_is_explained() {
        let catalogue = catalogue();
        let pages = guide::pages().iter().map(|page| (page.file, page.text));
        for (file, text) in pages.chain([("README.md", guide::index())]) {
            for command in text.lines().filter_map(|line| line.strip_prefix("hardway explain ")) {
                let what = command.split("  ").next().unwrap_or_default().trim_matches('\'');
                let is_known = match what.strip_prefix("stage ") {
                    Some(stage) => guide::page(stage).is_some(),
                    None => !catalogue.find(what).is_empty(),
                };
                assert!(is_known, "{file}: hardway explain {what}");
            }
        }
    }
}
