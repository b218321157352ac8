//! Differences as text for a person.

use std::fmt::Write as _;

use super::Difference;

/// What nobody has explained first, then the rest, grouped by reason.
pub fn report(differences: &[Difference]) -> String {
    let (explained, unexplained): (Vec<_>, Vec<_>) = differences.iter().partition(|d| d.reason.is_some());
    let mut text = String::new();
    if differences.is_empty() {
        text.push_str("No differences in meaning.\n");
        return text;
    }
    if !unexplained.is_empty() {
        heading(&mut text, unexplained.len(), "without an explanation");
        for difference in &unexplained {
            entry(&mut text, difference);
        }
        text.push('\n');
    }
    if !explained.is_empty() {
        heading(&mut text, explained.len(), "on purpose");
        for (reason, group) in by_reason(&explained) {
            let _ = writeln!(text, "\n  {reason}");
            let shown = if group.len() > MANY { MANY_SHOWN } else { group.len() };
            for difference in &group[..shown] {
                entry(&mut text, difference);
            }
            if shown < group.len() {
                let _ = writeln!(text, "    and {} more like these", group.len() - shown);
            }
        }
        text.push('\n');
    }
    let _ = writeln!(
        text,
        "{} in all: {} explained, {} unexplained.",
        count(differences.len()),
        explained.len(),
        unexplained.len()
    );
    text
}

/// More explained differences of one reason than this are not all shown: a release has a hundred CRDs.
const MANY: usize = 12;
/// How many of them are.
const MANY_SHOWN: usize = 3;

fn heading(text: &mut String, number: usize, what: &str) {
    let _ = writeln!(text, "{} {what}:", count(number));
}

fn count(number: usize) -> String {
    if number == 1 { "1 difference".to_owned() } else { format!("{number} differences") }
}

fn entry(text: &mut String, difference: &Difference) {
    let _ = match (&difference.ours, &difference.theirs) {
        (Some(ours), None) => writeln!(text, "  + {}: {ours}", difference.place),
        (None, Some(theirs)) => writeln!(text, "  - {}: {theirs}", difference.place),
        (ours, theirs) => writeln!(
            text,
            "  ~ {}: {} (ours), {} (theirs)",
            difference.place,
            ours.as_deref().unwrap_or("nothing"),
            theirs.as_deref().unwrap_or("nothing")
        ),
    };
}

/// Groups in the order of their first difference.
fn by_reason<'a>(differences: &[&'a Difference]) -> Vec<(&'static str, Vec<&'a Difference>)> {
    let mut groups: Vec<(&'static str, Vec<&'a Difference>)> = Vec::new();
    for difference in differences {
        let Some(reason) = difference.reason else { continue };
        match groups.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, group)) => group.push(difference),
            None => groups.push((reason, vec![difference])),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unexplained_come_first_and_reasons_are_said_once() {
        let one = |place: &str, reason| Difference {
            place: place.to_owned(),
            ours: Some("a".to_owned()),
            theirs: None,
            reason,
        };
        let text = report(&[
            one("x", Some("Because.")),
            one("y", None),
            Difference { theirs: Some("b".to_owned()), ..one("z", Some("Because.")) },
        ]);
        assert_eq!(
            text,
            "1 difference without an explanation:\n  + y: a\n\n2 differences on purpose:\n\n  Because.\n  \
             + x: a\n  ~ z: a (ours), b (theirs)\n\n3 differences in all: 2 explained, 1 unexplained.\n"
        );
        assert_eq!(report(&[]), "No differences in meaning.\n");
        let many: Vec<Difference> = (0..20).map(|i| one(&format!("p{i}"), Some("Because."))).collect();
        assert!(report(&many).contains("  + p2: a\n    and 17 more like these\n"), "{}", report(&many));
    }
}
