//! A YAML document with the place of every key and value.

/// A byte range of the source text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where.
    pub span: Span,
    /// What.
    pub value: Value,
}

/// A mapping key and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The key as text; YAML keys of other types are read as their text.
    pub text: String,
    /// Where.
    pub span: Span,
}

impl Key {
    /// Where to point at its value: a scalar is pointed at itself, a mapping or list by its key, which is what a person looks for.
    pub fn place_of(&self, value: &Node) -> Span {
        match value.value {
            Value::List(_) | Value::Map(_) | Value::Null => self.span,
            _ => value.span,
        }
    }
}

/// What a node holds. Scalars are resolved as Go's YAML readers do, because that is who reads these files later.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`, `~` or nothing.
    Null,
    /// `true`, `yes`, …
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// Text.
    String(String),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping, in source order.
    Map(Vec<(Key, Node)>),
}

impl Node {
    /// The value of a key, if this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|(k, _)| k.text == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The same, to change it.
    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        match &mut self.value {
            Value::Map(entries) => entries.iter_mut().find(|(k, _)| k.text == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The place of a dotted path (`networking.clusterNetwork[0].cidr`), or of its nearest ancestor that exists.
    pub fn locate(&self, path: &str) -> Span {
        let mut node = self;
        let mut span = self.span;
        for step in path.split(['.', '[']).filter(|s| !s.is_empty()) {
            let (next, place) = match (&node.value, step.strip_suffix(']')) {
                (Value::List(items), Some(index)) => {
                    match index.parse().ok().and_then(|i: usize| items.get(i)) {
                        Some(item) => (item, item.span),
                        None => return span,
                    }
                }
                (Value::Map(entries), None) => match entries.iter().find(|(k, _)| k.text == step) {
                    Some((key, value)) => (value, key.place_of(value)),
                    None => return span,
                },
                _ => return span,
            };
            node = next;
            span = place;
        }
        span
    }

    /// The same data without places.
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match &self.value {
            Value::Null => Json::Null,
            Value::Bool(b) => (*b).into(),
            Value::Int(i) => (*i).into(),
            Value::Float(x) => (*x).into(),
            Value::String(s) => s.clone().into(),
            Value::List(items) => items.iter().map(Self::to_json).collect(),
            Value::Map(entries) => entries.iter().map(|(k, v)| (k.text.clone(), v.to_json())).collect(),
        }
    }
}
