//! Random and damaged text: readers must return, and every place they report must be inside the text.

use hardway_assets::install_config::{self, Rules};
use hardway_assets::inventory::{self, read_both};
use hardway_assets::violation::{FieldErrorKind, Violation};
use proptest::prelude::*;

use super::files::{DUAL_STACK, DUAL_STACK_INVENTORY, HA, HA_INVENTORY, SINGLE_NODE, SINGLE_NODE_INVENTORY};

fn places_are_inside(text: &str, violations: &[Violation]) -> Result<(), TestCaseError> {
    for violation in violations {
        prop_assert!(
            violation.kind != FieldErrorKind::Internal || !violation.path.is_empty(),
            "{violation} for {text:?}"
        );
        let span = violation.span;
        let inside = span.is_some_and(|span| text.get(span.start..span.end).is_some());
        prop_assert!(inside, "{violation:?} in {text:?}");
    }
    Ok(())
}

fn both(config: &str, inventory_text: &str) -> Result<(), TestCaseError> {
    for version in ["4.18.3", "5.1.0"] {
        match install_config::read(config, Rules::for_version(version)) {
            Ok(read) => places_are_inside(config, &read.warnings)?,
            Err(errors) => {
                prop_assert!(!errors.is_empty());
                places_are_inside(config, &errors)?;
            }
        }
    }
    match inventory::read(inventory_text, None) {
        Ok(read) => places_are_inside(inventory_text, &read.warnings)?,
        Err(errors) => {
            prop_assert!(!errors.is_empty());
            places_are_inside(inventory_text, &errors)?;
        }
    }
    if let Err(errors) = read_both(config, inventory_text, Rules::for_version("4.18.3")) {
        prop_assert!(!errors.install_config.is_empty() || !errors.inventory.is_empty());
        places_are_inside(config, &errors.install_config)?;
        places_are_inside(inventory_text, &errors.inventory)?;
    }
    Ok(())
}

/// A good file with some lines dropped, repeated, swapped, or with words of theirs replaced.
fn mutated(good: &'static [&'static str]) -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("-1".to_owned()),
        Just("0".to_owned()),
        Just("99999999999999999999".to_owned()),
        Just("9223372036854775807".to_owned()),
        Just("''".to_owned()),
        Just("null".to_owned()),
        Just("[]".to_owned()),
        Just("{}".to_owned()),
        Just("[null, {a: b}]".to_owned()),
        Just("'::/0'".to_owned()),
        Just("0.0.0.0/0".to_owned()),
        Just("255.255.255.255/32".to_owned()),
        Just("é".to_owned()),
        "\\PC{0,8}",
    ];
    let edit = (any::<prop::sample::Index>(), 0..5_u8, word);
    (prop::sample::select(good), prop::collection::vec(edit, 1..6)).prop_map(|(good, edits)| {
        let mut lines: Vec<String> = good.lines().map(str::to_owned).collect();
        for (index, what, word) in edits {
            if lines.is_empty() {
                break;
            }
            let i = index.index(lines.len());
            match what {
                0 => drop(lines.remove(i)),
                1 => lines.insert(i, lines[i].clone()),
                2 => lines.swap(i, 0),
                3 => lines[i] = lines[i].replacen(": ", &format!(": {word} "), 1),
                _ => {
                    let key = lines[i].split(": ").next().unwrap_or_default().to_owned();
                    lines[i] = format!("{key}: {word}");
                }
            }
        }
        lines.join("\n") + "\n"
    })
}

proptest! {
    #[test]
    fn any_text_comes_back(config in "\\PC*", inventory in "\\PC*") {
        both(&config, &inventory)?;
    }

    #[test]
    fn anything_like_yaml_comes_back(text in "([a-zA-Z]{1,8}: ?|- |\\{|\\}|\\[|\\]|\n|  |'|\"|&a |\\*a|<<|#|[0-9./:]{1,9}){0,60}") {
        both(&text, &text)?;
    }

    #[test]
    fn mutated_files_come_back(
        config in mutated(&[HA, DUAL_STACK, SINGLE_NODE]),
        inventory in mutated(&[HA_INVENTORY, DUAL_STACK_INVENTORY, SINGLE_NODE_INVENTORY]),
    ) {
        both(&config, &inventory)?;
    }
}
