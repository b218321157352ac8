//! Results and checks for programs.

use hardway_assets::explain::Kind;
use hardway_machines::preflight::{CHECKS, CheckResult, failed};
use serde_json::{Value, json};

use crate::cli::Format;
use crate::explanations;
use crate::terminal::Output;

/// All of it.
pub(super) fn value(results: &[CheckResult]) -> Value {
    json!({"passed": failed(results).is_empty(), "checks": results})
}

/// What is asked, without asking.
pub(super) fn list(format: Format, out: &Output) {
    let catalogue = explanations::catalogue();
    let rows = CHECKS.iter().map(|check| {
        let asks = catalogue.get(Kind::Check, check.name.as_str()).map_or("", |e| e.what);
        let providers: Vec<&str> = check.providers.iter().map(|provider| provider.name()).collect();
        (check, providers, asks)
    });
    match format {
        Format::Text => {
            let width = CHECKS.iter().map(|check| check.name.as_str().len()).max().unwrap_or_default();
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
    use hardway_assets::inventory::Provider;

    use super::*;

    #[test]
    fn what_is_asked_of_some_providers_only_says_of_which() {
        let catalogue = explanations::catalogue();
        for check in CHECKS.iter() {
            let providers: Vec<&str> = check.providers.iter().map(|provider| provider.name()).collect();
            let end = if providers.len() == Provider::ALL.len() {
                "?".to_owned()
            } else {
                format!("? ({})", providers.join(", "))
            };
            let asks = catalogue.get(Kind::Check, check.name.as_str()).unwrap().what;
            assert!(asks.ends_with(&end), "{}: {asks:?} does not end with {end:?}", check.name);
        }
    }
}
