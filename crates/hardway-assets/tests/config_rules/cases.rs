//! Bad files as data: each case in `cases/` names a rule, changes a good file and lists every message that follows.
//!
//! ```text
//! rule ssh-key @ 4.19.0   the rule, and the release if it is not 4.18
//! - a line of the good file that goes (several: a block)
//! + a line that comes in its place, or behind the first line if none goes
//! ! an error              all of them, in order: a rule that says too much fails as well
//! ? what to do about the error above
//! ~ a warning             compared only where there is no error
//! ```

use hardway_assets::violation::Violation;

/// One case.
pub(crate) struct Case {
    pub(crate) rule: String,
    pub(crate) version: String,
    /// The whole changed file.
    pub(crate) text: String,
    errors: Vec<(String, Option<String>)>,
    warnings: Vec<String>,
}

/// Reads a file of cases.
pub(crate) fn parse(cases: &str, good: &str) -> Vec<Case> {
    cases.split("\nrule ").skip(1).map(|case| one(case, good)).collect()
}

/// Compares what was found with what the case lists.
pub(crate) fn compare(case: &Case, found: &Result<Vec<Violation>, Vec<Violation>>) {
    let (errors, warnings): (&[Violation], &[Violation]) = match found {
        Ok(warnings) => (&[], warnings),
        Err(errors) => (errors, &[]),
    };
    let context = || format!("rule {} ({}) in\n{}", case.rule, case.version, case.text);
    let messages: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let expected: Vec<&String> = case.errors.iter().map(|(error, _)| error).collect();
    assert_eq!(messages.iter().collect::<Vec<_>>(), expected, "{}", context());
    for (error, (_, fix)) in errors.iter().zip(&case.errors) {
        if fix.is_some() {
            assert_eq!(&error.fix, fix, "{}", context());
        }
    }
    if errors.is_empty() {
        let messages: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        assert_eq!(messages, case.warnings, "{}", context());
    }
    for violation in errors.iter().chain(warnings) {
        let span = violation.span.unwrap_or_else(|| panic!("{violation} has no place in {}", context()));
        assert!(span.start <= span.end && case.text.get(span.start..span.end).is_some(), "{violation}");
    }
}

fn one(case: &str, good: &str) -> Case {
    let (head, body) = case.split_once('\n').unwrap_or((case, ""));
    let (rule, version) = head.split_once(" @ ").unwrap_or((head, "4.18.3"));
    let lines = |mark: &str| -> Vec<String> {
        body.lines().filter_map(|line| line.strip_prefix(mark)).map(str::to_owned).collect()
    };
    let block = |mark| lines(mark).iter().map(|line| format!("{line}\n")).collect::<String>();
    let mut errors: Vec<(String, Option<String>)> = Vec::new();
    for line in body.lines() {
        if let Some(error) = line.strip_prefix("! ") {
            errors.push((error.replace("SUBDOMAIN", SUBDOMAIN), None));
        } else if let (Some(fix), Some(last)) = (line.strip_prefix("? "), errors.last_mut()) {
            last.1 = Some(fix.to_owned());
        }
    }
    Case {
        rule: rule.to_owned(),
        version: version.to_owned(),
        text: changed(good, &block("- "), &block("+ ")),
        errors,
        warnings: lines("~ "),
    }
}

/// The block that goes must be there: a case that changes nothing proves nothing.
fn changed(good: &str, old: &str, new: &str) -> String {
    if old.is_empty() {
        let (first, rest) = good.split_once('\n').expect("a good file has lines");
        return format!("{first}\n{new}{rest}");
    }
    assert!(good.contains(old), "the good file has no {old:?}");
    good.replacen(old, new, 1)
}

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and \
     end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
