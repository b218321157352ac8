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
    pub kind: FieldErrorKind,
    /// The offending value as it may be shown. Never set for a secret: use [`Violation::redacted`].
    pub value: Option<String>,
    /// Why, in a sentence.
    pub detail: String,
    /// What to do about it, where that is not plain from the detail.
    pub fix: Option<String>,
    /// The place in the source text. Filled in by the reader of the file from `path`, or by a syntax error.
    pub span: Option<Span>,
}

/// The kinds of field errors, with the texts Kubernetes gives them (apimachinery `field.ErrorType`), and those of decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FieldErrorKind {
    /// The same value or key stands twice.
    Duplicate,
    /// The value may not be set here.
    Forbidden,
    /// hardway itself failed while checking.
    Internal,
    /// The value is not acceptable.
    Invalid,
    /// What it names is nowhere.
    NotFound,
    /// The value is missing.
    Required,
    /// The text cannot be read.
    Syntax,
    /// More characters or bytes than allowed.
    TooLong,
    /// More elements than allowed.
    TooMany,
    /// The value is of another type, or not of its format.
    Type,
    /// No such field: a server would drop it without a word.
    Unknown,
    /// The value is not one of a fixed set.
    Unsupported,
}

impl FieldErrorKind {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Duplicate,
        Self::Forbidden,
        Self::Internal,
        Self::Invalid,
        Self::NotFound,
        Self::Required,
        Self::Syntax,
        Self::TooLong,
        Self::TooMany,
        Self::Type,
        Self::Unknown,
        Self::Unsupported,
    ];

    /// The text between path and value.
    pub fn text(self) -> &'static str {
        match self {
            Self::Duplicate => "Duplicate value",
            Self::Forbidden => "Forbidden",
            Self::Internal => "Internal error",
            Self::Invalid | Self::Type => "Invalid value",
            Self::NotFound => "Not found",
            Self::Required => "Required value",
            Self::Syntax => "Syntax error",
            Self::TooLong => "Too long",
            Self::TooMany => "Too many",
            Self::Unknown => "Unknown field",
            Self::Unsupported => "Unsupported value",
        }
    }

    /// Shows a whole field error, `path: Kind: value: detail`, without what is empty.
    pub fn show(
        self,
        f: &mut fmt::Formatter<'_>,
        path: &str,
        value: Option<&str>,
        detail: &str,
    ) -> fmt::Result {
        if !path.is_empty() {
            write!(f, "{path}: ")?;
        }
        f.write_str(self.text())?;
        if let Some(value) = value {
            write!(f, ": {value}")?;
        }
        if !detail.is_empty() {
            write!(f, ": {detail}")?;
        }
        Ok(())
    }
}

impl Violation {
    /// `path: Invalid value: "value": detail`
    pub fn invalid(path: impl Into<String>, value: impl fmt::Debug, detail: impl Into<String>) -> Self {
        Self::new(path, FieldErrorKind::Invalid, Some(format!("{value:?}")), detail)
    }

    /// `path: Required value: detail`
    pub fn required(path: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(path, FieldErrorKind::Required, None, detail)
    }

    /// `path: Unsupported value: "value": supported values: "a", "b"`
    pub fn unsupported(path: impl Into<String>, value: impl fmt::Debug, supported: &[&str]) -> Self {
        let list = supported.iter().map(|s| format!("{s:?}")).collect::<Vec<_>>().join(", ");
        Self::new(
            path,
            FieldErrorKind::Unsupported,
            Some(format!("{value:?}")),
            format!("supported values: {list}"),
        )
    }

    /// `path: Forbidden: detail`
    pub fn forbidden(path: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(path, FieldErrorKind::Forbidden, None, detail)
    }

    /// `path: Duplicate value: "value"`
    pub fn duplicate(path: impl Into<String>, value: impl fmt::Debug) -> Self {
        Self::new(path, FieldErrorKind::Duplicate, Some(format!("{value:?}")), "")
    }

    /// `path: Invalid value: <redacted>: detail`, for pull secrets, keys and passwords.
    pub fn redacted(path: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(path, FieldErrorKind::Invalid, Some(HIDDEN.to_owned()), detail)
    }

    /// Any kind, with nothing filled in but what is given.
    pub fn new(
        path: impl Into<String>,
        kind: FieldErrorKind,
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
        self.kind.show(f, &self.path, self.value.as_deref(), &self.detail)
    }
}
