//! What is wrong with an object, in the words of a kube-apiserver.

use std::fmt;

use hardway_assets::violation::FieldErrorKind;
use serde_json::Value;

use crate::FieldPath;

/// One thing wrong with an object. Shown as `spec.replicas: Invalid value: -1: detail`, the shape of Kubernetes' field errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Where.
    pub path: FieldPath,
    /// What sort of thing.
    pub kind: FieldErrorKind,
    /// The offending value as it may be shown.
    pub value: Option<String>,
    /// Why, in a sentence.
    pub detail: String,
    /// What to do about it, where that is not plain from the detail.
    pub fix: Option<String>,
    /// The line of the text that is meant, from one, where the value is a text of several lines.
    pub line_inside: Option<usize>,
}

impl Mistake {
    /// Without value and fix.
    pub fn new(path: &FieldPath, kind: FieldErrorKind, detail: impl Into<String>) -> Self {
        Self { path: path.clone(), kind, value: None, detail: detail.into(), fix: None, line_inside: None }
    }

    /// The same with the value, as far as it may and can be shown.
    #[must_use]
    pub fn of(mut self, value: &Value) -> Self {
        self.value = shown(value);
        self
    }

    /// Points at a line of a text, from one.
    #[must_use]
    pub(crate) fn at_line(mut self, line: usize) -> Self {
        self.line_inside = Some(line);
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.show(f, &self.path.to_string(), self.value.as_deref(), &self.detail)
    }
}

/// Long texts and whole objects say nothing that the place does not.
const SHOWN: usize = 80;

fn shown(value: &Value) -> Option<String> {
    match value {
        Value::Null | Value::Array(_) | Value::Object(_) => None,
        scalar => Some(scalar.to_string()).filter(|text| text.len() <= SHOWN),
    }
}
