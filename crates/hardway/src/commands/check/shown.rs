//! Results and checks as they are printed.

use std::fmt::Write as _;

use hardway_assets::explain::Kind;
use hardway_assets::inventory::Provider;
use hardway_machines::preflight::{CHECKS, CheckResult, Verdict, failed, provider_name};
use serde_json::{Value, json};

use crate::cli::Format;
use crate::explanations;
use crate::output::Output;

/// Group by group, a line a check; what was seen and what to do below those that did not pass. Checks that are about
/// another provider are left out.
pub(crate) fn text(results: &[CheckResult], provider: Provider) -> String {
    let is_about = |result: &&CheckResult| {
        CHECKS.iter().any(|check| check.name == result.check && check.providers.contains(&provider))
    };
    let shown: Vec<&CheckResult> = results.iter().filter(is_about).collect();
    let width = shown.iter().map(|result| result.check.len()).max().unwrap_or_default();
    let mut text = String::new();
    let mut group = None;
    for result in &shown {
        if group.replace(result.group) != Some(result.group) {
            let _ = writeln!(text, "{}", result.group);
        }
        let CheckResult { check, verdict, seen, fix, .. } = result;
        let first = seen.first().map_or("", String::as_str);
        let _ = writeln!(text, "  {verdict:14} {check:width$}  {first}");
        let more = seen.iter().skip(1).cloned().chain(fix.iter().map(|fix| format!("fix: {fix}")));
        more.for_each(|line| _ = writeln!(text, "  {:14} {:width$}  {line}", "", ""));
    }
    let count = |verdict| shown.iter().filter(|result| result.verdict == verdict).count();
    let [passed, warned, skipped, other, failed] =
        [Verdict::Passed, Verdict::Warned, Verdict::Skipped, Verdict::NotApplicable, Verdict::Failed]
            .map(count);
    let _ = writeln!(
        text,
        "{passed} passed, {warned} warned, {skipped} skipped, {other} not applicable, {failed} failed"
    );
    text
}

/// All of it.
pub(super) fn value(results: &[CheckResult]) -> Value {
    json!({"passed": failed(results).is_empty(), "checks": results})
}

/// What is asked, without asking.
pub(super) fn list(format: Format, out: &Output) {
    let catalogue = explanations::catalogue();
    let rows = CHECKS.iter().map(|check| {
        let asks = catalogue.get(Kind::Check, check.name).map_or("", |e| e.what);
        let providers: Vec<&str> = check.providers.iter().map(|provider| provider_name(*provider)).collect();
        (check, providers, asks)
    });
    match format {
        Format::Text => {
            let width = CHECKS.iter().map(|check| check.name.len()).max().unwrap_or_default();
            rows.for_each(|(check, _, asks)| {
                out.data(&format!("{:12} {:width$}  {asks}\n", check.group, check.name));
            });
        }
        format => {
            let rows = rows.map(|(check, providers, asks)| {
                json!({"check": check.name, "group": check.group, "providers": providers, "asks": asks})
            });
            out.value(&Value::Array(rows.collect()), format);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many providers as there are.
    const ALL: usize = 4;

    #[test]
    fn what_is_asked_of_some_providers_only_says_of_which() {
        let catalogue = explanations::catalogue();
        for check in CHECKS {
            let providers: Vec<&str> =
                check.providers.iter().map(|provider| provider_name(*provider)).collect();
            let end =
                if providers.len() == ALL { "?".to_owned() } else { format!("? ({})", providers.join(", ")) };
            let asks = catalogue.get(Kind::Check, check.name).unwrap().what;
            assert!(asks.ends_with(&end), "{}: {asks:?} does not end with {end:?}", check.name);
        }
    }
}
