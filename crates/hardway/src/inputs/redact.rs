//! What of an input file may be seen beside an error.
//!
//! The rule says what is shown, not what is hidden: keys, and the values of fields that the file's table knows and
//! does not call secret. Everything else (secrets, the values of misspelt fields, comments) is blotted out letter by
//! letter, so that places still fit; the punctuation stays, because that is what syntax errors are about.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use hardway_assets::input_tables::INSTALL_CONFIG;
use hardway_assets::schema::{Field, Table};
use hardway_assets::yaml::{self, Node, Value};
use hardway_base::redaction::HIDDEN;

/// A file as it may be seen. Read once, however many mistakes there are in it.
pub(crate) struct Redacted {
    /// The same text, byte for byte as long, with everything blotted out that may not be seen.
    pub(crate) text: String,
    secrets: Vec<String>,
}

impl Redacted {
    pub(crate) fn of(text: &str, table: &Table) -> Self {
        let (mut seen, mut secrets) = (Seen::default(), Vec::new());
        match yaml::read(text) {
            Ok(node) => {
                seen.node(&node, table.fields);
                let mut found = Vec::new();
                secrets_in(&node, table.fields, &mut found);
                // Shorter ones are no secrets yet, and would be found in every other word.
                secrets.extend(found.into_iter().filter(|secret| secret.len() >= 8).map(str::to_owned));
            }
            Err(_) => shown_lines(text, table, &mut seen.shown),
        }
        Self { text: blot(text, &seen), secrets }
    }

    /// A message about the file, without the secrets that an alias or a copy may have led into it.
    pub(crate) fn message(&self, message: &str) -> String {
        let mut message = message.to_owned();
        for secret in &self.secrets {
            let quoted = format!("{secret:?}");
            message = message.replace(secret, HIDDEN).replace(quoted.trim_matches('"'), HIDDEN);
        }
        message
    }
}

/// The text alone: secrets are not shown.
impl fmt::Debug for Redacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redacted({} bytes)", self.text.len())
    }
}

/// Texts of secret fields, however deep.
fn secrets_in<'n>(node: &'n Node, fields: &'static [Field], found: &mut Vec<&'n str>) {
    match &node.value {
        Value::Map(entries) => {
            for (key, value) in entries {
                match Field::find(fields, &key.text) {
                    Some(field) if field.secret => texts(value, found),
                    Some(field) => secrets_in(value, field.children(), found),
                    None => {}
                }
            }
        }
        Value::List(items) => items.iter().for_each(|item| secrets_in(item, fields, found)),
        _ => {}
    }
}

fn texts<'n>(node: &'n Node, found: &mut Vec<&'n str>) {
    match &node.value {
        Value::String(text) => found.push(text),
        Value::List(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Map(entries) => entries.iter().for_each(|(_, value)| texts(value, found)),
        _ => {}
    }
}

/// Places in the text.
#[derive(Default)]
struct Seen {
    shown: Vec<Range<usize>>,
    /// An alias can lead a field that is shown to the value of one that is not.
    hidden: Vec<Range<usize>>,
}

impl Seen {
    /// What may be seen of a mapping, or of the mappings in a list.
    fn node(&mut self, node: &Node, fields: &'static [Field]) {
        match &node.value {
            Value::Map(entries) => {
                for (key, value) in entries {
                    self.shown.push(key.span.start..key.span.end);
                    match Field::find(fields, &key.text).filter(|field| !field.secret) {
                        Some(field) => self.value(value, field.children()),
                        None => self.hidden.push(value.span.start..value.span.end),
                    }
                }
            }
            Value::List(items) => items.iter().for_each(|item| self.value(item, fields)),
            _ => {}
        }
    }

    fn value(&mut self, node: &Node, fields: &'static [Field]) {
        match &node.value {
            Value::Map(_) | Value::List(_) => self.node(node, fields),
            _ => self.shown.push(node.span.start..node.span.end),
        }
    }
}

/// The same for a text that is not YAML and has no nodes: line by line, and rather too little.
fn shown_lines(text: &str, table: &Table, shown: &mut Vec<Range<usize>>) {
    let mut lines = Lines::new(table);
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        lines.line(line, start, shown);
        start += line.len();
    }
}

struct Lines {
    top: BTreeSet<&'static str>,
    known: BTreeSet<&'static str>,
    secret: BTreeSet<String>,
    hiding: Option<Hiding>,
}

/// A key whose value is not shown, until a key that is no deeper and well known ends it.
#[derive(Clone, Copy)]
struct Hiding {
    indent: usize,
    secret: bool,
}

impl Lines {
    fn new(table: &Table) -> Self {
        let paths = table.paths();
        let open = || paths.iter().filter(|(_, field)| !field.secret);
        Self {
            top: open().filter(|(path, _)| !path.contains('.')).map(|(_, field)| field.name).collect(),
            known: open().map(|(_, field)| field.name).collect(),
            // People paste lines of one file into the other, where a field of that name is no secret.
            secret: paths
                .iter()
                .chain(&INSTALL_CONFIG.paths())
                .filter(|(_, field)| field.secret)
                .map(|(_, field)| plain(field.name))
                .collect(),
            // Text above the first known key could be anything.
            hiding: Some(Hiding { indent: usize::MAX, secret: false }),
        }
    }

    fn line(&mut self, line: &str, start: usize, shown: &mut Vec<Range<usize>>) {
        let indent = line.len() - line.trim_start().len();
        let mut seen = 0;
        for (i, key) in keys(line).into_iter().enumerate() {
            let name = &line[key.clone()];
            if i == 0 && self.hiding.is_some_and(|hiding| self.ends(hiding, indent, name)) {
                self.hiding = None;
            }
            if self.hiding.is_none() {
                let secret = self.secret.contains(&plain(name));
                let end = if secret || self.known.contains(name) { key.end } else { key.start };
                shown.push(start + seen..start + end);
                if end == key.start || secret {
                    self.hiding = Some(Hiding { indent, secret });
                }
            }
            seen = key.end;
        }
        // A line that is neither a field nor an item of a list is a mistake that could hold anything.
        if self.hiding.is_none() && (seen > 0 || line.trim_start().starts_with("- ")) {
            shown.push(start + seen..start + line.len());
        }
    }

    /// JSON that was pasted without indentation has keys of its own; none of them is a field at the top of the file.
    fn ends(&self, hiding: Hiding, indent: usize, name: &str) -> bool {
        let names = if hiding.secret { &self.top } else { &self.known };
        let is_key = names.contains(name) || self.secret.contains(&plain(name));
        is_key && indent <= hiding.indent
    }
}

/// Spelling aside: `pull-secret` is as secret as `pullSecret`.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}

/// The words of a line that a colon makes keys: before white space or the end, or behind a quote.
fn keys(line: &str) -> Vec<Range<usize>> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let mut keys = Vec::new();
    for (colon, _) in line.match_indices(':') {
        let before = &line[..colon];
        let word = before.trim_end_matches(['"', '\'']);
        let is_quoted = word.len() < before.len();
        let start = word.trim_end_matches(is_word).len();
        let ends = line[colon + 1..].chars().next().is_none_or(char::is_whitespace);
        if start < word.len() && (is_quoted || ends) {
            keys.push(start..word.len());
        }
    }
    keys
}

fn blot(text: &str, seen: &Seen) -> String {
    let mut visible = vec![false; text.len()];
    for range in &seen.shown {
        visible[range.clone()].fill(true);
        for password in passwords(&text[range.clone()]) {
            visible[range.start + password.start..range.start + password.end].fill(false);
        }
    }
    seen.hidden.iter().for_each(|range| visible[range.clone()].fill(false));
    let comments = comments(text, &visible);
    let keep = |(i, c): (usize, char)| {
        if comments[i] {
            return blank(c);
        }
        let is_dash = c == '-' && text[i + 1..].starts_with(' ');
        if visible[i] || c.is_whitespace() || is_dash || "{}[]:,\"'#|>&*!?".contains(c) { c } else { ink(c) }
    };
    text.char_indices().map(keep).collect()
}

/// Where comments are, visible or not: people know their own comments, and stars in their place would look like something
/// that matters.
fn comments(text: &str, visible: &[bool]) -> Vec<bool> {
    let mut found = vec![false; text.len()];
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let begins = |at: &usize| {
            let before = &line[..*at];
            !visible[start + at] && (before.is_empty() || before.ends_with(char::is_whitespace))
        };
        let end = line.trim_end_matches(['\r', '\n']).len();
        if let Some(at) = line.match_indices('#').map(|(at, _)| at).find(begins) {
            found[start + at..start + end].fill(true);
        }
        start += line.len();
    }
    found
}

/// `user:password@` of URLs.
fn passwords(shown: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for word in shown.split_inclusive(char::is_whitespace) {
        let user = word.find("//").map_or(0, |slashes| slashes + 2);
        if let Some(at) = word.rfind('@').filter(|at| *at > user)
            && let Some(colon) = word[user..at].find(':')
        {
            found.push(start + user + colon + 1..start + at);
        }
        start += word.len();
    }
    found
}

/// White space of the same number of bytes, where there is some.
fn blank(c: char) -> char {
    match c.len_utf8() {
        1 => ' ',
        2 => '\u{a0}',
        3 => '\u{2003}',
        _ => ink(c),
    }
}

/// Same number of bytes.
fn ink(c: char) -> char {
    match c.len_utf8() {
        1 => '*',
        2 => '·',
        3 => '…',
        _ => '𝄀',
    }
}

#[cfg(test)]
mod tests {
    use hardway_assets::input_tables::INVENTORY;

    use super::*;

    fn config(text: &str) -> String {
        let redacted = Redacted::of(text, &INSTALL_CONFIG).text;
        assert_eq!(redacted.len(), text.len());
        redacted
    }

    #[test]
    fn known_fields_are_seen_and_nothing_else() {
        for (text, seen) in [
            ("baseDomain: example.com # hush\nfips: 1#2\n", "baseDomain: example.com       \nfips: 1#2\n"),
            ("pullSecret: '{\"auths\": \"hush\"}'\n", "pullSecret: '{\"*****\": \"****\"}'\n"),
            ("pullSecret: {auths: {a: {auth: hush}}}\n", "pullSecret: {*****: {*: {****: ****}}}\n"),
            ("{fips: 1, pullSecret: hush, publish: No}", "{fips: 1, pullSecret: ****, publish: No}"),
            ("pulSecret: hush\nfips: no\n", "pulSecret: ****\nfips: no\n"),
            ("sshKey: |\n  hush\nfips: 3\n", "sshKey: |\n  ****\nfips: 3\n"),
            ("pullSecret: >-\n  hush\n\n  hush\nfips: 3\n", "pullSecret: >*\n  ****\n\n  ****\nfips: 3\n"),
            ("compute:\n- {name: é, x: é}\n", "compute:\n- {name: é, x: ·}\n"),
            ("platform: {aws: {key: hush}}", "platform: {aws: {key: ****}}"),
            ("pullSecret: &s [hush]\nfeatureGates: *s\n", "pullSecret: &* [****]\nfeatureGates: **\n"),
            ("hush\n", "****\n"),
            ("proxy: {httpProxy: 'http://me:hu:sh@p:1'}", "proxy: {httpProxy: 'http://me:**:**@p:1'}"),
        ] {
            assert_eq!(config(text), seen);
        }
    }

    #[test]
    fn messages_do_not_repeat_a_secret() {
        let text = "pullSecret: &s '{\"auths\": 1}'\nbaseDomain: *s\nsshKey: [hush-hush]\n";
        let message = "baseDomain: \"{\\\"auths\\\": 1}\": bad; hush-hush; pullSecret";
        let redacted = "baseDomain: \"<redacted>\": bad; <redacted>; pullSecret";
        assert_eq!(Redacted::of(text, &INSTALL_CONFIG).message(message), redacted);
    }

    #[test]
    fn of_text_that_is_not_yaml_rather_too_little_is_seen() {
        for (text, seen) in [
            ("fips: [\npullSecret: '{\"a\": \"hush\"}'\n", "fips: [\npullSecret: '{\"*\": \"****\"}'\n"),
            ("pullSecret: a\npullSecret: hush\n", "pullSecret: *\npullSecret: ****\n"),
            (
                "pullSecret: {\n\"auth\": \"hush\"\n}\n}\nfips: 1\n",
                "pullSecret: {\n\"****\": \"****\"\n}\n}\nfips: 1\n",
            ),
            ("pull_secret: 'hush\nname: hush\n", "pull_secret: '****\n****: ****\n"),
            ("fips: ]\npulsecret: hush\n  hush\nfips: 1", "fips: ]\n*********: ****\n  ****\nfips: 1"),
            ("{fips: ], pullSecret: hush, fips: 1}", "{fips: ], pullSecret: ****, ****: *}"),
            ("{\"auths\": hush", "{\"*****\": ****"),
            ("fips: ]\nhush\n", "fips: ]\n****\n"),
            ("serviceNetwork:\n- 10.0.0.0\n]", "serviceNetwork:\n- 10.0.0.0\n]"),
        ] {
            assert_eq!(config(text), seen);
        }
        let metal = "machines: {bare-metal: {boot: usb, hosts: {a: {bmc: {address: redfish://me:hush@b, user: u, password: hush, pw: hush}}}}}";
        let seen = "machines: {bare-metal: {boot: usb, hosts: {a: {bmc: {address: redfish://me:****@b, user: u, password: ****, pw: ****}}}}}";
        assert_eq!(Redacted::of(metal, &INVENTORY).text, seen);
        let hosts = "hosts:\n- {name: a, ip: 1.2.3.4, mac: \"52:54:00\"\n- {name: b}\n";
        assert_eq!(Redacted::of(hosts, &INVENTORY).text, hosts);
    }
}
