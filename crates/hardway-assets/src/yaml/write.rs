//! Writing YAML: sorted keys, compact lists, literal blocks; strings that any YAML reader could take for something
//! else are quoted. The readers are Go programs with YAML 1.1 rules.

use serde_json::Value;

/// Writes one document, with a final newline.
pub fn write(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => mapping(&mut out, map, 0),
        Value::Array(items) if !items.is_empty() => sequence(&mut out, items, 0),
        scalar => {
            inline(&mut out, scalar, 0);
            out.push('\n');
        }
    }
    out
}

fn mapping(out: &mut String, map: &serde_json::Map<String, Value>, indent: usize) {
    // Sorted here, not by the map type: `serde_json/preserve_order` could be switched on by any crate in the graph.
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_by_key(|(key, _)| *key);
    for (i, (key, value)) in entries.into_iter().enumerate() {
        if i > 0 {
            pad(out, indent);
        }
        out.push_str(&scalar_text(key));
        out.push(':');
        child(out, value, indent);
    }
}

fn child(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            out.push('\n');
            pad(out, indent + 2);
            mapping(out, map, indent + 2);
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('\n');
            pad(out, indent);
            sequence(out, items, indent);
        }
        scalar => {
            out.push(' ');
            inline(out, scalar, indent + 2);
            out.push('\n');
        }
    }
}

fn sequence(out: &mut String, items: &[Value], indent: usize) {
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            pad(out, indent);
        }
        out.push_str("- ");
        match item {
            Value::Object(map) if !map.is_empty() => mapping(out, map, indent + 2),
            Value::Array(inner) if !inner.is_empty() => sequence(out, inner, indent + 2),
            scalar => {
                inline(out, scalar, indent + 2);
                out.push('\n');
            }
        }
    }
}

/// A scalar or an empty collection. Leaves out the final newline, which a literal block's last line shares.
fn inline(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(_) => out.push_str("{}"),
        Value::Array(_) => out.push_str("[]"),
        Value::String(text) if is_block(text) => block(out, text, indent),
        Value::String(text) => out.push_str(&scalar_text(text)),
        other => out.push_str(&other.to_string()),
    }
}

fn block(out: &mut String, text: &str, indent: usize) {
    out.push('|');
    if !text.ends_with('\n') {
        out.push('-');
    }
    for line in text.trim_end_matches('\n').split('\n') {
        out.push('\n');
        if !line.is_empty() {
            pad(out, indent);
            out.push_str(line);
        }
    }
}

/// Several lines, none of which a literal block would change.
fn is_block(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    body.contains('\n')
        && !body.ends_with('\n')
        && !body.starts_with([' ', '\n', '\t'])
        && body.chars().all(|c| {
            c == '\n'
                || c == '\t'
                || !c.is_control() && c != '\u{feff}' && c != '\u{85}' && c != '\u{2028}' && c != '\u{2029}'
        })
        && !body.lines().any(|line| line.ends_with(' ') || line.starts_with('\t'))
}

fn scalar_text(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { Value::from(text).to_string() }
}

/// Safe without quotes: begins with a letter, `/` or `*.`-free punctuation, holds nothing that YAML gives a meaning.
fn is_plain(text: &str) -> bool {
    const WORDS: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_./:@+=-,() ".contains(c))
        && !text.contains(": ")
        && !text.ends_with([':', ' '])
        && !WORDS.contains(&text.to_ascii_lowercase().as_str())
}

fn pad(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::read;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn looks_like_what_oc_prints() {
        let text = write(
            &json!({"b": ["x", {"z": 1, "a": [] }, ["q"]], "a": {"k": "line 1\nline 2\n"}, "0644": "0644", "e": {}}),
        );
        assert_eq!(
            text,
            "\"0644\": \"0644\"\na:\n  k: |\n    line 1\n    line 2\nb:\n- x\n- a: []\n  z: 1\n- - q\ne: {}\n"
        );
    }

    #[test]
    fn words_with_a_meaning_are_quoted() {
        for word in [
            "yes",
            "No",
            "null",
            "~",
            "1e3",
            "0x1f",
            "12:30:45",
            "2024-01-01",
            "1.0",
            "<<",
            "=",
            "",
            "- a",
            "a: b",
            "*",
            "a #b",
        ] {
            assert_eq!(write(&json!({ "k": word })), format!("k: {word:?}\n"), "{word}");
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "\\PC*".prop_map(Value::from),
            "[a-z0-9:#\\-'\" \n\t{}\\[\\]&*!|>%@`~,?]{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map("[a-zA-Z0-9:# ~]{0,6}", inner, 0..5)
                    .prop_map(|m| m.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(value in any_json()) {
            let text = write(&value);
            let node = read(&text).map_err(|e| TestCaseError::fail(format!("{e:?} in {text:?}")))?;
            prop_assert_eq!(node.to_json(), value, "{}", text);
        }
    }
}
