//! Two versions of an object, field by field, as far as people write them.

use hardway_base::redaction::{HIDDEN, without_passwords};
use serde::Serialize;
use serde_json::Value;

/// A field that changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldChange {
    /// `spec.identityProviders[0].name`
    pub path: String,
    /// As JSON; none where there was nothing.
    pub before: Option<String>,
    /// As JSON; none where nothing is left.
    pub after: Option<String>,
}

/// What differs, in the order of names. What the server writes by itself does not count, and nothing of a Secret is shown.
pub(super) fn difference(before: &Value, after: &Value) -> Vec<FieldChange> {
    let is_secret = after["kind"] == "Secret" || before["kind"] == "Secret";
    let mut found = Vec::new();
    compare("", &written(before), &written(after), &mut found);
    if is_secret {
        for change in &mut found {
            for value in [&mut change.before, &mut change.after].into_iter().flatten() {
                HIDDEN.clone_into(value);
            }
        }
    }
    found
}

/// An object without what the server, and nobody else, writes.
pub(super) fn written(object: &Value) -> Value {
    let mut object = object.clone();
    if let Value::Object(fields) = &mut object {
        fields.remove("status");
        if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
            for name in SERVERS {
                metadata.remove(name);
            }
        }
    }
    object
}

const SERVERS: [&str; 6] =
    ["managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink"];

fn compare(path: &str, before: &Value, after: &Value, found: &mut Vec<FieldChange>) {
    match (before, after) {
        (before, after) if before == after => {}
        (Value::Object(old), Value::Object(new)) => {
            let mut keys: Vec<&String> = old.keys().chain(new.keys()).collect();
            keys.sort();
            keys.dedup();
            for key in keys {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                let null = Value::Null;
                compare(&path, old.get(key).unwrap_or(&null), new.get(key).unwrap_or(&null), found);
            }
        }
        (before, after) => {
            // A proxy may have a password in its URL.
            let shown = |value: &Value| (!value.is_null()).then(|| without_passwords(&value.to_string()));
            found.push(FieldChange { path: path.to_owned(), before: shown(before), after: shown(after) });
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_people_write_is_compared_and_secrets_are_hidden() {
        let before = json!({"kind": "Proxy", "metadata": {"name": "c", "resourceVersion": "1"}, "spec": {"a": 1, "b": 2}});
        let after = json!({"kind": "Proxy", "metadata": {"name": "c", "resourceVersion": "2"}, "spec": {"b": 3, "c": [4]}});
        let found: Vec<String> = difference(&before, &after)
            .iter()
            .map(|change| format!("{} {:?} {:?}", change.path, change.before, change.after))
            .collect();
        assert_eq!(
            found,
            [r#"spec.a Some("1") None"#, r#"spec.b Some("2") Some("3")"#, r#"spec.c None Some("[4]")"#]
        );
        let proxy = json!({"kind": "Proxy", "spec": {"httpProxy": "http://alice:hush@proxy:3128"}});
        let shown = format!("{:?}", difference(&json!({"kind": "Proxy", "spec": {}}), &proxy));
        assert!(!shown.contains("hush") && shown.contains("proxy:3128"), "{shown}");
        let secret = json!({"kind": "Secret", "data": {"k": "aHVzaA=="}});
        let shown = format!("{:?}", difference(&json!({}), &secret));
        assert!(!shown.contains("aHVzaA==") && shown.contains("data"), "{shown}");
    }
}
