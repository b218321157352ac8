//! This host: programs, clock, and what the inventory still has to say.

mod clock;
mod programs;

pub(super) use clock::clock;
pub(super) use programs::programs;

use std::collections::BTreeSet;

use hardway_assets::violation::Violation;

use super::Judged;
use super::scene::Scene;
use crate::providers;

/// What the machine provider still has to be told.
pub(super) fn inventory_complete(scene: &Scene<'_>) -> Judged {
    judge(&providers::mistakes(scene.site.cluster))
}

/// Files are made without these; no machine boots without them.
fn judge(mistakes: &[Violation]) -> Judged {
    let fixes: BTreeSet<&str> = mistakes.iter().filter_map(|mistake| mistake.fix.as_deref()).collect();
    let fix = match fixes.is_empty() {
        true => "complete inventory.yaml; `hardway explain FIELD` explains each field".to_owned(),
        false => fixes.into_iter().collect::<Vec<_>>().join("; "),
    };
    let wrong = mistakes.iter().map(ToString::to_string).collect();
    Judged::of(wrong, Vec::new(), fix, "inventory.yaml has everything that machines need".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preflight::Verdict;

    #[test]
    fn everything_that_is_missing_is_named_and_what_to_do_once() {
        assert_eq!(judge(&[]).verdict, Verdict::Passed);
        let disk = |i: usize| Violation::required(format!("hosts[{i}].installDisk"), "needed").fix("name it");
        let judged = judge(&[disk(0), disk(1)]);
        assert_eq!(
            (judged.verdict, judged.seen.len(), judged.fix.as_deref()),
            (Verdict::Failed, 2, Some("name it"))
        );
        let judged = judge(&[Violation::required("a", "b")]);
        assert!(judged.fix.unwrap().contains("hardway explain"));
    }
}
