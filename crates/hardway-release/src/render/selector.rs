//! Kubernetes label selectors, as far as pools use them.

use std::collections::BTreeMap;

use serde_json::Value;

/// Labels of an object.
pub(super) type Labels = BTreeMap<String, String>;

/// `metadata.labels`.
pub(super) fn labels(object: &Value) -> Labels {
    let entries = object["metadata"]["labels"].as_object().into_iter().flatten();
    entries.map(|(key, value)| (key.clone(), value.as_str().unwrap_or_default().to_owned())).collect()
}

/// Whether the selector picks these labels. An empty or absent one picks nothing, as the controllers of the
/// machine-config-operator have it; elsewhere in Kubernetes an empty one picks everything.
pub(super) fn selects(selector: &Value, labels: &Labels) -> bool {
    let exact: Vec<_> = selector["matchLabels"].as_object().into_iter().flatten().collect();
    let expressions: Vec<_> = selector["matchExpressions"].as_array().into_iter().flatten().collect();
    if exact.is_empty() && expressions.is_empty() {
        return false;
    }
    exact.iter().all(|(key, value)| labels.get(*key).map(String::as_str) == value.as_str())
        && expressions.iter().all(|expression| agrees(expression, labels))
}

fn agrees(expression: &Value, labels: &Labels) -> bool {
    let found = expression["key"].as_str().and_then(|key| labels.get(key));
    let listed = |found: &String| {
        expression["values"].as_array().into_iter().flatten().any(|value| value.as_str() == Some(found))
    };
    match expression["operator"].as_str().unwrap_or_default() {
        "In" => found.is_some_and(listed),
        "NotIn" => !found.is_some_and(listed),
        "Exists" => found.is_some(),
        "DoesNotExist" => found.is_none(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn selectors_pick_as_kubernetes_does_except_the_empty_one() {
        let labels: Labels = [("role".to_owned(), "worker".to_owned())].into();
        let rows = [
            (json!(null), false),
            (json!({}), false),
            (json!({"matchLabels": {"role": "worker"}}), true),
            (json!({"matchLabels": {"role": "master"}}), false),
            (json!({"matchLabels": {"role": "worker", "x": "y"}}), false),
            (
                json!({"matchExpressions": [{"key": "role", "operator": "In", "values": ["worker", "infra"]}]}),
                true,
            ),
            (
                json!({"matchExpressions": [{"key": "role", "operator": "NotIn", "values": ["worker"]}]}),
                false,
            ),
            (json!({"matchExpressions": [{"key": "role", "operator": "Exists"}]}), true),
            (json!({"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}), true),
            (json!({"matchExpressions": [{"key": "x", "operator": "Odd"}]}), false),
        ];
        for (selector, expected) in rows {
            assert_eq!(selects(&selector, &labels), expected, "{selector}");
        }
    }
}
