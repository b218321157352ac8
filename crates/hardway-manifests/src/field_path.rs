//! Where in an object: a path as Kubernetes prints it, kept in steps so that keys with dots stay whole.

use std::fmt;

use hardway_assets::yaml::{Node, Span, Value};

/// Steps from the root of an object to a field.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldPath(Vec<PathStep>);

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathStep {
    /// A field that the schema names: `.spec`.
    Field(String),
    /// A key of a map: `[app.kubernetes.io/name]`.
    Key(String),
    /// An element of a list: `[0]`.
    Index(usize),
}

impl FieldPath {
    /// A path of fields: `["metadata", "name"]`.
    pub fn of(fields: &[&str]) -> Self {
        Self(fields.iter().map(|field| PathStep::Field((*field).to_owned())).collect())
    }

    /// The same with a field behind it.
    #[must_use]
    pub fn field(&self, name: &str) -> Self {
        self.with(PathStep::Field(name.to_owned()))
    }

    /// The same with a key of a map behind it.
    #[must_use]
    pub fn key(&self, name: &str) -> Self {
        self.with(PathStep::Key(name.to_owned()))
    }

    /// The same with an element of a list behind it.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.with(PathStep::Index(index))
    }

    /// The same below another path.
    pub(crate) fn below(&self, outer: &Self) -> Self {
        Self([outer.0.as_slice(), &self.0].concat())
    }

    /// From the root on.
    pub fn steps(&self) -> &[PathStep] {
        &self.0
    }

    /// Where that is in the text, or the nearest parent that is written there. A mapping or list is pointed at by its key.
    pub fn locate(&self, root: &Node) -> Span {
        let (mut node, mut span) = (root, first_key(root));
        for step in &self.0 {
            let found = match (&node.value, step) {
                (Value::List(items), PathStep::Index(index)) => {
                    items.get(*index).map(|item| (item, first_key(item)))
                }
                (Value::Map(entries), PathStep::Field(name) | PathStep::Key(name)) => entries
                    .iter()
                    .find(|(key, _)| key.text == *name)
                    .map(|(key, value)| (value, key.place_of(value))),
                _ => None,
            };
            let Some((next, place)) = found else { break };
            (node, span) = (next, place);
        }
        span
    }

    /// The node at that path, if it is written.
    pub fn find<'n>(&self, root: &'n Node) -> Option<&'n Node> {
        self.0.iter().try_fold(root, |node, step| match (&node.value, step) {
            (Value::List(items), PathStep::Index(index)) => items.get(*index),
            (Value::Map(_), PathStep::Field(name) | PathStep::Key(name)) => node.get(name),
            _ => None,
        })
    }

    pub(crate) fn push(&mut self, step: PathStep) {
        self.0.push(step);
    }

    pub(crate) fn pop(&mut self) {
        self.0.pop();
    }

    fn with(&self, step: PathStep) -> Self {
        let mut longer = self.clone();
        longer.push(step);
        longer
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, step) in self.0.iter().enumerate() {
            match step {
                PathStep::Field(name) if number == 0 => f.write_str(name)?,
                PathStep::Field(name) => write!(f, ".{name}")?,
                PathStep::Key(name) => write!(f, "[{name}]")?,
                PathStep::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

fn first_key(node: &Node) -> Span {
    match &node.value {
        Value::Map(entries) => entries.first().map_or(node.span, |(key, _)| key.span),
        _ => node.span,
    }
}
