//! Values out of the file: whatever can be understood, and the table's default where nothing stands.
//!
//! What cannot be understood (a network that does not parse, a word where a number belongs) is reported by the schema check and
//! left out here, so that the rules look at the rest and one run shows everything.

use std::borrow::Cow;

use crate::input_tables::INSTALL_CONFIG;
use crate::yaml::{self, Node, Span, Value};

/// A node at a path without list steps. Null counts as absent, as it does for Go's readers.
pub(super) fn find<'n>(node: &'n Node, path: &str) -> Option<&'n Node> {
    let mut node = node;
    for step in path.split('.') {
        node = node.get(step)?;
    }
    (node.value != Value::Null).then_some(node)
}

/// The text at a path; empty if there is none.
pub(super) fn text(node: &Node, path: &str) -> String {
    match find(node, path).map(|node| &node.value) {
        Some(Value::String(text)) => text.clone(),
        _ => String::new(),
    }
}

/// The text of a field of the file; its default if there is none.
pub(super) fn text_or_default(file: &Node, path: &str) -> String {
    or_default(text(file, path), INSTALL_CONFIG.default(path))
}

/// A text, or a default where it is empty.
pub(super) fn or_default(text: String, default: &str) -> String {
    if text.is_empty() { default.to_owned() } else { text }
}

/// Whether it says true.
pub(super) fn is_true(node: &Node, path: &str) -> bool {
    matches!(find(node, path), Some(Node { value: Value::Bool(true), .. }))
}

pub(super) fn int(node: &Node, path: &str) -> Option<i64> {
    match find(node, path)?.value {
        Value::Int(number) => Some(number),
        _ => None,
    }
}

/// The elements of a list, with their numbers.
pub(super) fn items(list: Option<&Node>) -> impl Iterator<Item = (usize, &Node)> {
    let items: &[Node] = match list.map(|list| &list.value) {
        Some(Value::List(items)) => items,
        _ => &[],
    };
    items.iter().enumerate()
}

/// A list of the file, or its default where it is missing or empty. A list whose elements cannot be understood is not
/// empty: its default must not hide that.
pub(super) fn list_or_default<'n>(file: &'n Node, path: &str) -> Cow<'n, Node> {
    match find(file, path) {
        Some(node) if node.value != Value::List(Vec::new()) => Cow::Borrowed(node),
        _ => Cow::Owned(yaml::read(INSTALL_CONFIG.default(path)).unwrap_or_else(|_| nothing())),
    }
}

/// Places are kept even where an element is no text, so that the numbers in messages stay right.
pub(super) fn texts(list: Option<&Node>) -> Vec<String> {
    items(list)
        .map(|(_, item)| match &item.value {
            Value::String(text) => text.clone(),
            _ => String::new(),
        })
        .collect()
}

fn nothing() -> Node {
    Node { span: Span { start: 0, end: 0 }, value: Value::Null }
}
