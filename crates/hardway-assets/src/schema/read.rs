//! The result of reading a file, and the errors and warnings found on the way.

use std::collections::BTreeSet;
use std::fmt;

use crate::violation::{FieldErrorKind, Violation};
use crate::yaml::{Node, Span, SyntaxError};

/// A file that was read and found good.
#[derive(Clone)]
pub struct Read<T> {
    /// The typed, defaulted content.
    pub value: T,
    /// What is odd but allowed.
    pub warnings: Vec<Violation>,
    /// The file as it was written, with the place of everything.
    pub node: Node,
}

// By hand: the node holds the pull secret as it stands in the file.
impl<T: fmt::Debug> fmt::Debug for Read<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Read")
            .field("value", &self.value)
            .field("warnings", &self.warnings)
            .finish_non_exhaustive()
    }
}

/// Errors and warnings, each given its place in the file as it comes in.
pub struct Findings<'n> {
    node: &'n Node,
    /// What must be put right.
    pub errors: Vec<Violation>,
    /// What is odd but allowed.
    pub warnings: Vec<Violation>,
    /// Findings reported so far, to report each only once.
    said: BTreeSet<String>,
}

impl<'n> Findings<'n> {
    /// With what the schema found.
    pub fn new(node: &'n Node, errors: Vec<Violation>) -> Self {
        let said = errors.iter().map(said).collect();
        Self { node, errors, warnings: Vec::new(), said }
    }

    /// Something to put right.
    pub fn error(&mut self, violation: Violation) {
        let placed = self.placed(violation);
        // Two rules may come to the same finding; openshift-install drops the repetition as well.
        if self.said.insert(said(&placed)) {
            self.errors.push(placed);
        }
    }

    /// Something to put right whose place is not the path openshift-install prints.
    pub fn error_at(&mut self, place: &str, violation: Violation) {
        self.error(Violation { span: Some(self.node.locate(place)), ..violation });
    }

    /// Something odd but allowed.
    pub fn warn(&mut self, violation: Violation) {
        let placed = self.placed(violation);
        if self.said.insert(said(&placed)) {
            self.warnings.push(placed);
        }
    }

    fn placed(&self, violation: Violation) -> Violation {
        let span = violation.span.unwrap_or_else(|| self.node.locate(&violation.path));
        Violation { span: Some(span), ..violation }
    }
}

/// Text and place: two findings that agree in both are one.
fn said(violation: &Violation) -> String {
    let start = violation.span.map_or(0, |span| span.start);
    format!("{start} {violation}")
}

/// Nothing was made of the file, so there must be a reason. That none was found is a mistake of ours.
pub(crate) fn reasons(errors: Vec<Violation>) -> Vec<Violation> {
    if errors.is_empty() {
        return vec![Violation {
            span: Some(Span { start: 0, end: 0 }),
            ..Violation::new("", FieldErrorKind::Internal, None, "the file was rejected without a reason")
        }];
    }
    errors
}

/// Syntax errors in the shape of everything else that can be wrong.
pub(crate) fn syntax(errors: Vec<SyntaxError>) -> Vec<Violation> {
    errors
        .into_iter()
        .map(|error| Violation {
            span: Some(error.span),
            ..Violation::new("", FieldErrorKind::Syntax, None, error.message)
        })
        .collect()
}
