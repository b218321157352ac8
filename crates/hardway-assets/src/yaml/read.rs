//! Reading YAML into nodes with places.

use std::collections::{BTreeMap, BTreeSet};

use granit_parser::{Event, Parser, ScalarStyle};

use super::{Key, Node, Span, Value};

/// The text is not YAML, or not YAML we accept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// Why.
    pub message: String,
    /// Where.
    pub span: Span,
}

/// Reads the one document of a file. A file of comments only reads as null.
///
/// ```
/// let node = hardway_assets::yaml::read("hosts:\n- name: master-0\n").unwrap();
/// let name = node.locate("hosts[0].name");
/// assert_eq!((name.start, name.end), (15, 23));
/// ```
pub fn read(text: &str) -> Result<Node, Vec<SyntaxError>> {
    let mut documents = read_all(text)?;
    match documents.len() {
        0 => Ok(Node { span: Span { start: 0, end: text.len() }, value: Value::Null }),
        1 => Ok(documents.remove(0)),
        _ => Err(vec![SyntaxError { message: "one document expected".to_owned(), span: documents[1].span }]),
    }
}

/// Reads every document of a file; documents that hold nothing are left out.
pub fn read_all(text: &str) -> Result<Vec<Node>, Vec<SyntaxError>> {
    let mut reader = Reader { text, anchors: BTreeMap::new(), size: 0, errors: Vec::new() };
    let mut documents = Vec::new();
    let mut events = Parser::new_from_str(text);
    loop {
        let (event, span) = match reader.next(&mut events) {
            Ok(Some(next)) => next,
            Ok(None) => break,
            Err(error) => {
                reader.errors.push(error);
                break;
            }
        };
        match event {
            Event::StreamStart | Event::StreamEnd | Event::DocumentStart(..) | Event::DocumentEnd => {}
            other => match reader.node(other, span, &mut events, 0) {
                Ok(node) if node.value == Value::Null => {}
                Ok(node) => documents.push(node),
                Err(error) => {
                    reader.errors.push(error);
                    break;
                }
            },
        }
    }
    if reader.errors.is_empty() { Ok(documents) } else { Err(reader.errors) }
}

/// Deeper documents are refused: no file of ours nests further, and recursion must end.
const MAX_DEPTH: usize = 64;
/// Aliases may not blow a small file up to more nodes than this.
const MAX_NODES: usize = 1_000_000;

struct Reader<'t> {
    text: &'t str,
    anchors: BTreeMap<usize, Node>,
    size: usize,
    errors: Vec<SyntaxError>,
}

impl<'t> Reader<'t> {
    fn next(
        &self,
        events: &mut Parser<'t, impl granit_parser::BorrowedInput<'t>>,
    ) -> Result<Option<(Event<'t>, Span)>, SyntaxError> {
        loop {
            return match events.next_event() {
                None => Ok(None),
                Some(Ok((Event::Comment(..), _))) => continue,
                Some(Ok((event, span))) => Ok(Some((event, self.span(span)))),
                Some(Err(error)) => {
                    let at = self.offset(error.marker());
                    Err(SyntaxError { message: error.info().to_owned(), span: Span { start: at, end: at } })
                }
            };
        }
    }

    fn node(
        &mut self,
        event: Event<'t>,
        span: Span,
        events: &mut Parser<'t, impl granit_parser::BorrowedInput<'t>>,
        depth: usize,
    ) -> Result<Node, SyntaxError> {
        self.size += 1;
        if depth > MAX_DEPTH || self.size > MAX_NODES {
            return Err(SyntaxError { message: "nested too deeply".to_owned(), span });
        }
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let forced_string = tag.as_ref().is_some_and(|tag| tag.suffix() == "str");
                let value = if style == ScalarStyle::Plain && !forced_string {
                    resolve(&text)
                } else {
                    Value::String(text.into_owned())
                };
                Ok(self.remember(anchor, Node { span, value }))
            }
            Event::SequenceStart(.., anchor, _) => {
                let mut items = Vec::new();
                let end = loop {
                    match self.next(events)? {
                        Some((Event::SequenceEnd, end)) => break end,
                        Some((event, span)) => items.push(self.node(event, span, events, depth + 1)?),
                        None => return Err(SyntaxError { message: "unfinished list".to_owned(), span }),
                    }
                };
                let span = Span { start: span.start, end: end.end.max(span.end) };
                Ok(self.remember(anchor, Node { span, value: Value::List(items) }))
            }
            Event::MappingStart(.., anchor, _) => {
                let (entries, end) = self.entries(span, events, depth)?;
                let span = Span { start: span.start, end: end.end.max(span.end) };
                Ok(self.remember(anchor, Node { span, value: Value::Map(entries) }))
            }
            Event::Alias(anchor) => match self.anchors.get(&anchor) {
                Some(target) => {
                    self.size += count(target);
                    Ok(Node { span, value: target.value.clone() })
                }
                None => Err(SyntaxError { message: "alias of nothing".to_owned(), span }),
            },
            _ => Err(SyntaxError { message: "unexpected YAML construct".to_owned(), span }),
        }
    }

    fn entries(
        &mut self,
        span: Span,
        events: &mut Parser<'t, impl granit_parser::BorrowedInput<'t>>,
        depth: usize,
    ) -> Result<(Vec<(Key, Node)>, Span), SyntaxError> {
        let mut entries: Vec<(Key, Node)> = Vec::new();
        // A mapping may have an entry for each of many hosts.
        let mut known = BTreeSet::new();
        let mut merged: Vec<(Key, Node)> = Vec::new();
        let end = loop {
            let (event, key_span) = match self.next(events)? {
                Some((Event::MappingEnd, end)) => break end,
                Some(next) => next,
                None => return Err(SyntaxError { message: "unfinished mapping".to_owned(), span }),
            };
            let text = match &event {
                Event::Scalar(text, ..) => text.to_string(),
                _ => {
                    return Err(SyntaxError {
                        message: "a key must be plain text".to_owned(),
                        span: key_span,
                    });
                }
            };
            let key = Key { text, span: key_span };
            let Some((event, value_span)) = self.next(events)? else {
                return Err(SyntaxError { message: "a key without a value".to_owned(), span: key_span });
            };
            let value = self.node(event, value_span, events, depth + 1)?;
            if key.text == "<<" {
                merge(&mut merged, value);
            } else if !known.insert(key.text.clone()) {
                // Reported and read on, so that one run shows every mistake.
                self.errors
                    .push(SyntaxError { message: format!("duplicate key {:?}", key.text), span: key.span });
            } else {
                entries.push((key, value));
            }
        };
        for (key, value) in merged {
            if known.insert(key.text.clone()) {
                entries.push((key, value));
            }
        }
        Ok((entries, end))
    }

    fn remember(&mut self, anchor: usize, node: Node) -> Node {
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        node
    }

    fn span(&self, span: granit_parser::Span) -> Span {
        let start = self.offset(&span.start);
        Span { start, end: self.offset(&span.end).max(start) }
    }

    /// The parser counts characters unless its input knows bytes; both come out as a byte offset on a boundary.
    fn offset(&self, marker: &granit_parser::Marker) -> usize {
        let bytes = marker.byte_offset().unwrap_or_else(|| {
            self.text.char_indices().nth(marker.index()).map_or(self.text.len(), |(offset, _)| offset)
        });
        let mut bytes = bytes.min(self.text.len());
        while !self.text.is_char_boundary(bytes) {
            bytes -= 1;
        }
        bytes
    }
}

fn count(node: &Node) -> usize {
    1 + match &node.value {
        Value::List(items) => items.iter().map(count).sum(),
        Value::Map(entries) => entries.iter().map(|(_, v)| count(v)).sum(),
        _ => 0,
    }
}

fn merge(into: &mut Vec<(Key, Node)>, value: Node) {
    match value.value {
        Value::Map(entries) => into.extend(entries),
        Value::List(items) => items.into_iter().for_each(|item| merge(into, item)),
        _ => {}
    }
}

/// YAML 1.1 as Go's readers resolve it: yes/no/on/off are booleans, a leading zero is octal.
fn resolve(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Value::Bool(true),
        "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => {
            return Value::Bool(false);
        }
        _ => {}
    }
    let digits = text.replace('_', "");
    let (sign, magnitude) = match digits.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, digits.strip_prefix('+').unwrap_or(&digits)),
    };
    let radix =
        |prefix: &str, radix| magnitude.strip_prefix(prefix).and_then(|d| i64::from_str_radix(d, radix).ok());
    let whole = if !magnitude.starts_with(|c: char| c.is_ascii_digit()) {
        None
    } else if magnitude.len() > 1
        && magnitude.starts_with('0')
        && magnitude.bytes().all(|b| b.is_ascii_digit())
    {
        i64::from_str_radix(magnitude, 8).ok()
    } else {
        radix("0x", 16)
            .or_else(|| radix("0o", 8))
            .or_else(|| radix("0b", 2))
            .or_else(|| magnitude.parse().ok())
    };
    if let Some(whole) = whole {
        return Value::Int(sign * whole);
    }
    let number_shaped = magnitude.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && magnitude.contains(|c: char| c.is_ascii_digit())
        && magnitude.bytes().all(|b| b.is_ascii_digit() || b".eE+-".contains(&b));
    match digits.parse::<f64>() {
        Ok(number) if number_shaped => Value::Float(number),
        _ => Value::String(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_read_as_go_reads_them() {
        let node =
            read("a: yes\nb: 0644\nc: 1.5\nd: '1'\ne: 172.30.0.0/16\nf:\ng: 1.2.3.4\nh: 12:30").unwrap();
        let values: Vec<_> = ["a", "b", "c", "d", "e", "f", "g", "h"]
            .iter()
            .map(|k| node.get(k).unwrap().value.clone())
            .collect();
        let text = |s: &str| Value::String(s.to_owned());
        assert_eq!(
            values,
            [
                Value::Bool(true),
                Value::Int(0o644),
                Value::Float(1.5),
                text("1"),
                text("172.30.0.0/16"),
                Value::Null,
                text("1.2.3.4"),
                text("12:30")
            ]
        );
    }

    #[test]
    fn places_point_at_the_text() {
        let text = "networking:\n  clusterNetwork:\n  - cidr: 10.128.0.0/14\n    hostPrefix: é23\n";
        let node = read(text).unwrap();
        let at = |path| &text[node.locate(path).start..node.locate(path).end];
        assert_eq!(at("networking.clusterNetwork[0].cidr"), "10.128.0.0/14");
        assert_eq!(at("networking.clusterNetwork[0].hostPrefix"), "é23");
        assert_eq!(at("networking.clusterNetwork[7].cidr"), "clusterNetwork");
        assert_eq!(at("networking.serviceNetwork"), "networking");
    }

    #[test]
    fn comments_are_passed_over_wherever_they_stand() {
        let node = read("# a\nk: # b\n  - 1 # c\n  # d\n  - x: 2\n# e\n").unwrap();
        assert_eq!(node.to_json(), serde_json::json!({"k": [1, {"x": 2}]}));
    }

    #[test]
    fn every_double_key_is_reported() {
        let errors = read("a: 1\na: 2\nb: 1\nb: 2\n").unwrap_err();
        assert_eq!(errors.len(), 2);
        assert_eq!(errors[1].message, "duplicate key \"b\"");
    }

    #[test]
    fn aliases_and_merges_are_followed_but_not_for_ever() {
        let node = read("a: &x {p: 1, q: 2}\nb: {<<: *x, q: 3}\n").unwrap();
        assert_eq!(node.get("b").unwrap().to_json(), serde_json::json!({"p": 1, "q": 3}));
        let mut bomb = String::from("a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n");
        for i in 1..12 {
            let refs = vec![format!("*a{}", i - 1); 10].join(",");
            bomb += &format!("a{i}: &a{i} [{refs}]\n");
        }
        assert!(read(&bomb).is_err());
        assert!(read(&"[".repeat(100_000)).is_err());
    }
}
