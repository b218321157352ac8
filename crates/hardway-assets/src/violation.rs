//! What is wrong with an input file, in the words of openshift-install and with the place it stands at.

use std::fmt;

use hardway_base::redaction::HIDDEN;

use crate::yaml::Span;

/// One thing wrong with `install-config.yaml` or `inventory.yaml`.
///
/// Shown as `field.path: Kind: value: detail`, the shape of Kubernetes' field errors that openshift-install prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where: `networking.clusterNetwork[0].hostPrefix`.
    pub path: String,
    /// What sort of thing.
    pub kind: Kind,
    /// The offending value as it may be shown. Never set for a secret: use [`Violation::redacted`].
    pub value: Option<String>,
    /// Why, in a sentence.
    pub detail: String,
    /// What to do about it, where that is not plain from the detail.
    pub fix: Option<String>,
    /// The place in the source text. Filled in by the reader of the file from `path`, or by a syntax error.
    pub span: Option<Span>,
}

/// The kinds of field errors, with the texts Kubernetes gives them (apimachinery `field.ErrorType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The same value stands twice in a list that must be a set.
    Duplicate,
    /// The value may not be set here.
    Forbidden,
    /// hardway itself failed while checking.
    Internal,
    /// The value is not acceptable.
    Invalid,
    /// The value is missing.
    Required,
    /// Not YAML, or a key that stands twice.
    Syntax,
    /// More elements than allowed.
    TooMany,
    /// The value is not one of a fixed set.
    Unsupported,
    /// No such field.
    Unknown,
}

impl Kind {
    /// The text between path and value.
    pub fn text(self) -> &'static str {
        match self {
            Self::Duplicate => "Duplicate value",
            Self::Forbidden => "Forbidden",
            Self::Internal => "Internal error",
            Self::Invalid => "Invalid value",
            Self::Required => "Required value",
            Self::Syntax => "Syntax error",
            Self::TooMany => "Too many",
            Self::Unsupported => "Unsupported value",
            Self::Unknown => "Unknown field",
        }
    }
}

impl Violation {
    /// `path: Invalid value: "value": detail`
    pub fn invalid(path: impl Into<String>, value: impl fmt::Debug, detail: impl Into<String>) -> Self {
        Self::new(path, Kind::Invalid, Some(format!("{value:?}")), detail)
    }

    /// `path: Required value: detail`
    pub fn required(path: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(path, Kind::Required, None, detail)
    }

    /// `path: Unsupported value: "value": supported values: "a", "b"`
    pub fn unsupported(path: impl Into<String>, value: impl fmt::Debug, supported: &[&str]) -> Self {
        let list = supported.iter().map(|s| format!("{s:?}")).collect::<Vec<_>>().join(", ");
        Self::new(path, Kind::Unsupported, Some(format!("{value:?}")), format!("supported values: {list}"))
    }

    /// `path: Forbidden: detail`
    pub fn forbidden(path: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(path, Kind::Forbidden, None, detail)
    }

    /// `path: Duplicate value: "value"`
    pub fn duplicate(path: impl Into<String>, value: impl fmt::Debug) -> Self {
        Self::new(path, Kind::Duplicate, Some(format!("{value:?}")), "")
    }

    /// `path: Invalid value: <redacted>: detail`, for pull secrets, keys and passwords.
    pub fn redacted(path: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(path, Kind::Invalid, Some(HIDDEN.to_owned()), detail)
    }

    /// Any kind, with nothing filled in but what is given.
    pub fn new(
        path: impl Into<String>,
        kind: Kind,
        value: Option<String>,
        detail: impl Into<String>,
    ) -> Self {
        Self { path: path.into(), kind, value, detail: detail.into(), fix: None, span: None }
    }

    /// Says what to do about it.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(self.kind.text())?;
        if let Some(value) = &self.value {
            write!(f, ": {value}")?;
        }
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        Ok(())
    }
}
