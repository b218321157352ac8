//! Kinds of findings, as reports for pipelines name them: `image/missing`, `manifest/unknown-field`.

use hardway_assets::violation::FieldErrorKind;
use hardway_manifests::rule;

use crate::project::HoleKind;

/// What it means, and what shows it. The last part of the name is enough for images.
pub(super) fn find(name: &str) -> Option<(String, &'static str)> {
    let image = HoleKind::ALL.iter().find(|kind| kind.rule() == name || kind.name() == name);
    if let Some(kind) = image {
        return Some((format!("An image is {}.", kind.meaning()), "hardway check images"));
    }
    let kind = FieldErrorKind::ALL.into_iter().find(|kind| rule(*kind) == name)?;
    Some((about(kind).to_owned(), "hardway check manifests, hardway validate"))
}

fn about(kind: FieldErrorKind) -> &'static str {
    match kind {
        FieldErrorKind::Duplicate => "A value or key occurs twice where it may occur once.",
        FieldErrorKind::Forbidden => "A value is set where none may be set.",
        FieldErrorKind::Internal => "hardway itself failed while it checked the object: please report it.",
        FieldErrorKind::Invalid | FieldErrorKind::Type => {
            "A value is of the wrong type or form, or breaks a rule of its kind."
        }
        FieldErrorKind::NotFound => "An object refers to something that is not among the manifests.",
        FieldErrorKind::Required => "A required field is missing or empty.",
        FieldErrorKind::Syntax => "The file is not valid YAML or JSON.",
        FieldErrorKind::TooLong => "A value has more characters or bytes than allowed.",
        FieldErrorKind::TooMany => "A list has more elements than allowed.",
        FieldErrorKind::Unknown => {
            "The kind has no such field. An API server would drop it silently, and whatever it was for would not happen."
        }
        FieldErrorKind::Unsupported => "A value is not one of those allowed.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_finding_is_explained() {
        for kind in HoleKind::ALL {
            assert!(find(&kind.rule()).is_some() && find(kind.name()).is_some(), "{}", kind.rule());
        }
        for kind in FieldErrorKind::ALL {
            assert!(find(&rule(kind)).is_some(), "{}", rule(kind));
        }
        assert!(find("image/cucumber").is_none());
    }
}
