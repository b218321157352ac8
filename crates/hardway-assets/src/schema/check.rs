//! Holding a file against its table.

use std::net::IpAddr;

use ipnet::IpNet;

use super::{Field, FieldKind, Presence, Table};
use crate::nearest::nearest;
use crate::violation::{FieldErrorKind, Violation};
use crate::yaml::{Key, Node, Value};

/// Everything about the file that the table alone can tell: unknown fields, wrong types, missing required fields.
pub fn check(node: &Node, table: &Table) -> Vec<Violation> {
    let mut check = Check { table, found: Vec::new() };
    match &node.value {
        Value::Map(_) | Value::Null => check.object("", node, table.fields),
        _ => check.found.push(Violation {
            span: Some(node.span),
            ..Violation::new(
                "",
                FieldErrorKind::Invalid,
                None,
                format!("{} must be a mapping of fields", table.file),
            )
        }),
    }
    check.found
}

/// Fields that stand in the file but came only with a later release than the one installed.
pub fn too_new(node: &Node, table: &Table, version: (u64, u64)) -> Vec<Violation> {
    let mut found = Vec::new();
    walk("", node, table.fields, &mut |path, key, _, field| {
        let Some(since) = field.since.filter(|since| *since > version) else { return };
        let violation = Violation::new(
            path,
            FieldErrorKind::Unknown,
            None,
            format!(
                "this field came with {}.{}; the release is {}.{}",
                since.0, since.1, version.0, version.1
            ),
        );
        found.push(Violation { span: Some(key.span), ..violation }.fix("remove it"));
    });
    found
}

/// The path of a key below another path.
pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

struct Check<'t> {
    table: &'t Table,
    found: Vec<Violation>,
}

impl Check<'_> {
    fn object(&mut self, path: &str, node: &Node, fields: &'static [Field]) {
        let entries: &[(Key, Node)] = match &node.value {
            Value::Map(entries) => entries,
            _ => &[],
        };
        for (key, value) in entries {
            match Field::find(fields, &key.text) {
                Some(field) => self.value(&join(path, &key.text), value, &field.kind, field.secret),
                None => self.unknown(path, key, fields),
            }
        }
        for field in fields {
            let missing = node.get(field.name).is_none_or(|value| is_nothing(&value.value, &field.kind));
            let detail = match field.presence {
                Presence::Required(detail) => detail.to_owned(),
                Presence::RequiredWord => format!("one of {} is required", field.allowed.join(", ")),
                Presence::Optional | Presence::RefusedByRule | Presence::RequiredByRule => continue,
            };
            if missing {
                let violation = Violation::required(join(path, field.name), detail);
                self.found.push(Violation { span: Some(node.locate(field.name)), ..violation });
            }
        }
    }

    fn unknown(&mut self, path: &str, key: &Key, fields: &'static [Field]) {
        let parent = if path.is_empty() { self.table.file } else { path };
        let violation = Violation::new(
            join(path, &key.text),
            FieldErrorKind::Unknown,
            None,
            format!("{parent} has no such field"),
        );
        let violation = Violation { span: Some(key.span), ..violation };
        self.found.push(match self.advice(path, &key.text, fields) {
            Some(advice) => violation.fix(advice),
            None => violation,
        });
    }

    /// A near name beside it, or the same name elsewhere in the file.
    fn advice(&self, path: &str, name: &str, fields: &'static [Field]) -> Option<String> {
        if let Some(near) = nearest(name, fields.iter().map(|field| field.name)) {
            return Some(format!("did you mean {near}?"));
        }
        let elsewhere = self.table.paths().into_iter().map(|(path, _)| path);
        let found = elsewhere.into_iter().find(|known| known.rsplit('.').next() == Some(name))?;
        let found_below = found.rsplit_once('.').map_or("the top level", |(parent, _)| parent);
        (found_below != path).then(|| format!("it belongs to {found_below}: {found}"))
    }

    fn value(&mut self, path: &str, node: &Node, kind: &'static FieldKind, secret: bool) {
        // Go's readers take null for "not given", whatever the type.
        if node.value == Value::Null {
            if let FieldKind::Object(fields) = kind {
                self.object(path, node, fields);
            }
            return;
        }
        match (kind, &node.value) {
            (FieldKind::Any, _)
            | (FieldKind::AnyObject, Value::Map(_))
            | (FieldKind::String, Value::String(_))
            | (FieldKind::Bool, Value::Bool(_)) => {}
            (FieldKind::Int(min, max), Value::Int(number)) if (min..=max).contains(&number) => {}
            (FieldKind::Int(min, max), Value::Int(_)) => {
                self.wrong(path, node, secret, format!("must be between {min} and {max}"));
            }
            (FieldKind::Cidr, Value::String(text)) => {
                if text.parse::<IpNet>().is_err() {
                    self.wrong(path, node, secret, format!("invalid CIDR address: {text}"));
                }
            }
            (FieldKind::Ip, Value::String(text)) => {
                if text.parse::<IpAddr>().is_err() {
                    self.wrong(path, node, secret, format!("{text:?} is not a valid IP"));
                }
            }
            (FieldKind::Object(fields), Value::Map(_)) => self.object(path, node, fields),
            (FieldKind::List(inner) | FieldKind::OneOrMany(inner), Value::List(items)) => {
                for (i, item) in items.iter().enumerate() {
                    self.item(&format!("{path}[{i}]"), item, inner, secret);
                }
            }
            (FieldKind::OneOrMany(inner), _) => self.value(path, node, inner, secret),
            _ => self.mistyped(path, node, kind, secret),
        }
    }

    fn item(&mut self, path: &str, node: &Node, kind: &'static FieldKind, secret: bool) {
        if node.value == Value::Null {
            self.mistyped(path, node, kind, secret);
        } else {
            self.value(path, node, kind, secret);
        }
    }

    fn mistyped(&mut self, path: &str, node: &Node, kind: &FieldKind, secret: bool) {
        self.wrong(path, node, secret, format!("must be {}, found {}", wanted(kind), found(&node.value)));
        let scalar = matches!(node.value, Value::Bool(_) | Value::Int(_) | Value::Float(_));
        let structure = matches!(node.value, Value::Map(_) | Value::List(_));
        if let (FieldKind::String, Some(last)) = (kind, self.found.last_mut())
            && (scalar || structure && secret)
        {
            last.fix = Some("put quotes around the value".to_owned());
        }
    }

    fn wrong(&mut self, path: &str, node: &Node, secret: bool, detail: String) {
        let violation = match shown(&node.value) {
            _ if secret => Violation::redacted(path, detail),
            Some(value) => Violation::new(path, FieldErrorKind::Invalid, Some(value), detail),
            None => Violation::new(path, FieldErrorKind::Invalid, None, detail),
        };
        self.found.push(Violation { span: Some(node.span), ..violation });
    }
}

/// Calls back for every known field that stands in the file, with its path, key and value.
pub(crate) fn walk<'n>(
    path: &str,
    node: &'n Node,
    fields: &'static [Field],
    call: &mut impl FnMut(&str, &'n Key, &'n Node, &'static Field),
) {
    match &node.value {
        Value::List(items) => {
            for (i, item) in items.iter().enumerate() {
                walk(&format!("{path}[{i}]"), item, fields, call);
            }
        }
        Value::Map(entries) => {
            for (key, value) in entries {
                let known = Field::find(fields, &key.text);
                if let Some(field) = known.filter(|_| value.value != Value::Null) {
                    let path = join(path, &key.text);
                    call(&path, key, value, field);
                    walk(&path, value, field.children(), call);
                }
            }
        }
        _ => {}
    }
}

/// Null, or no text where text is wanted.
fn is_nothing(value: &Value, kind: &FieldKind) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty() && matches!(kind, FieldKind::String),
        _ => false,
    }
}

fn wanted(kind: &FieldKind) -> &'static str {
    match kind {
        FieldKind::String => "a string",
        FieldKind::Bool => "true or false",
        FieldKind::Int(..) => "a whole number",
        FieldKind::Cidr => "a network such as 10.0.0.0/16",
        FieldKind::Ip => "an address",
        FieldKind::List(_) => "a list",
        FieldKind::OneOrMany(inner) => wanted(inner),
        FieldKind::Object(_) | FieldKind::AnyObject => "a mapping",
        FieldKind::Any => "a value",
    }
}

fn found(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Int(_) | Value::Float(_) => "a number",
        Value::String(_) => "a string",
        Value::List(_) => "a list",
        Value::Map(_) => "a mapping",
    }
}

/// Scalars only: what a mapping or list holds could be anything, a password included.
fn shown(value: &Value) -> Option<String> {
    match value {
        Value::Bool(b) => Some(b.to_string()),
        Value::Int(i) => Some(i.to_string()),
        Value::Float(x) => Some(x.to_string()),
        Value::String(s) => Some(format!("{s:?}")),
        Value::Null | Value::List(_) | Value::Map(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::read;

    static HOST: [Field; 2] = [
        Field::new("name", FieldKind::String).required("a name is required"),
        Field::new("ip", FieldKind::OneOrMany(&FieldKind::Ip)),
    ];
    static FIELDS: [Field; 5] = [
        Field::new("fips", FieldKind::Bool),
        Field::new("hosts", FieldKind::List(&FieldKind::Object(&HOST))),
        Field::new("net", FieldKind::Cidr),
        Field::new("secret", FieldKind::String).secret(),
        Field::new("size", FieldKind::Int(0, 9)).since(4, 20),
    ];
    static TABLE: Table = Table { file: "test.yaml", prefix: "", fields: &FIELDS };

    fn messages(text: &str) -> Vec<String> {
        check(&read(text).unwrap(), &TABLE)
            .iter()
            .map(|v| format!("{v}{}", v.fix.as_ref().map(|f| format!(" ({f})")).unwrap_or_default()))
            .collect()
    }

    #[test]
    fn everything_wrong_is_found_at_once() {
        let text = "fip: true\nfips: 'yes'\nhosts:\n- {nam: a, ip: 1.2.3}\n- {name: 4, ip: [fd00::1, 7]}\n-\n\
                    net: 10.0.0.0\nsecret: {hush: 1}\nsize: 10\nip: 1.1.1.1\nzzz: 1\n";
        assert_eq!(
            messages(text),
            [
                "fip: Unknown field: test.yaml has no such field (did you mean fips?)",
                "fips: Invalid value: \"yes\": must be true or false, found a string",
                "hosts[0].nam: Unknown field: hosts[0] has no such field (did you mean name?)",
                "hosts[0].ip: Invalid value: \"1.2.3\": \"1.2.3\" is not a valid IP",
                "hosts[0].name: Required value: a name is required",
                "hosts[1].name: Invalid value: 4: must be a string, found a number (put quotes around the value)",
                "hosts[1].ip[1]: Invalid value: 7: must be an address, found a number",
                "hosts[2]: Invalid value: must be a mapping, found nothing",
                "net: Invalid value: \"10.0.0.0\": invalid CIDR address: 10.0.0.0",
                "secret: Invalid value: <redacted>: must be a string, found a mapping (put quotes around the value)",
                "size: Invalid value: 10: must be between 0 and 9",
                "ip: Unknown field: test.yaml has no such field (it belongs to hosts: hosts.ip)",
                "zzz: Unknown field: test.yaml has no such field",
            ]
        );
    }

    #[test]
    fn null_is_the_same_as_absent() {
        assert!(messages("fips:\nhosts: ~\nnet: null\n").is_empty());
        assert_eq!(messages("hosts: [{name: ~}]"), ["hosts[0].name: Required value: a name is required"]);
        assert_eq!(messages("hosts: [{name: ''}]"), ["hosts[0].name: Required value: a name is required"]);
        assert_eq!(messages("- a\n"), ["Invalid value: test.yaml must be a mapping of fields"]);
    }

    #[test]
    fn a_field_of_a_later_release_is_told_apart() {
        let node = read("size: 3\n").unwrap();
        assert!(too_new(&node, &TABLE, (4, 20)).is_empty());
        assert_eq!(
            too_new(&node, &TABLE, (4, 18))[0].to_string(),
            "size: Unknown field: this field came with 4.20; the release is 4.18"
        );
    }
}
