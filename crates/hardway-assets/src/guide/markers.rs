//! Tables between markers: `<!-- table: certificates -->` … `<!-- end -->`.

use super::table;
use crate::explain::Catalogue;

const BEGIN: &str = "<!-- table: ";
const END: &str = "<!-- end -->";

/// The text with every table made anew. A marker whose table nobody knows, or without an end, is left as it is.
pub fn fill(text: &str, explained: &Catalogue) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(begin) = rest.find(BEGIN) {
        let (before, marked) = rest.split_at(begin);
        filled.push_str(before);
        let found = marked.find(END).and_then(|end| {
            let (name, _) = marked[BEGIN.len()..end].split_once(" -->")?;
            Some((end, name, table(name, explained)?))
        });
        match found {
            Some((end, name, table)) => {
                filled.push_str(&format!("{BEGIN}{name} -->\n{table}"));
                rest = &marked[end..];
            }
            None => {
                filled.push_str(BEGIN);
                rest = &marked[BEGIN.len()..];
            }
        }
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_markers_is_replaced() {
        let page = "a\n<!-- table: key-pairs -->\nold\n<!-- end -->\nb\n";
        let explained = Catalogue::of_assets();
        let filled = fill(page, &explained);
        assert!(
            filled.starts_with("a\n<!-- table: key-pairs -->\n| ")
                && filled.ends_with("|\n<!-- end -->\nb\n")
        );
        assert!(!filled.contains("old"));
        assert_eq!(fill(&filled, &explained), filled);
    }

    #[test]
    fn what_cannot_be_filled_stays() {
        for page in
            ["<!-- table: nonsense -->\nx\n<!-- end -->\n", "<!-- table: key-pairs -->\nno end\n", "plain"]
        {
            assert_eq!(fill(page, &Catalogue::of_assets()), page);
        }
    }
}
