//! The pull secret: JSON with credentials for some registry. Nothing of it but registry names is ever shown.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::draft::Draft;
use crate::schema::Findings;
use crate::violation::Violation;

pub(super) fn check(draft: &Draft<'_>, findings: &mut Findings<'_>) {
    // Of the wrong type: the schema check said so.
    let mistyped = draft.has("pullSecret") && draft.config.pull_secret.expose_text().is_empty();
    let is_text = matches!(draft.node.get("pullSecret"), Some(node) if matches!(node.value, crate::yaml::Value::String(_)));
    if mistyped && !is_text {
        return;
    }
    if let Err(error) = auths(draft.config.pull_secret.expose_text()) {
        let fix = if draft.config.pull_secret.expose_text().trim().is_empty() { WHERE_FROM } else { AS_JSON };
        findings.error(Violation::redacted("pullSecret", error.to_string()).fix(fix));
    }
}

/// OKD's images are public; its documentation gives this secret, which opens nothing.
const WHERE_FROM: &str = "the logins for the registries that the release's images come from are missing: for OpenShift, copy yours from https://console.redhat.com/openshift/install/pull-secret and put it into \
     single quotes: pullSecret: '{\"auths\":…}'; for OKD, whose images need no login, any will do: \
     pullSecret: '{\"auths\":{\"fake\":{\"auth\":\"aWQ6cGFzcwo=\"}}}'";

const AS_JSON: &str = "it is JSON, in single quotes and on one line: pullSecret: '{\"auths\":{\"quay.io\":{\"auth\":\"…\"}}}'; \
     `jq -c . pull-secret.json` puts a file onto one line";

/// The registries a good pull secret has logins for.
pub(super) fn hosts(secret: &str) -> BTreeSet<String> {
    auths(secret).unwrap_or_default()
}

/// What is wrong with it, in openshift-install's words. serde_json's own sentences name positions, never content, as long as no
/// type is asked for.
#[derive(Debug, thiserror::Error)]
enum PullSecretError {
    #[error("unexpected end of JSON input")]
    CutShort,
    #[error("json: cannot unmarshal {found} into {wanted}")]
    Kind { found: &'static str, wanted: String },
    #[error("auths required")]
    NoAuths,
    #[error("{0:?} requires either auth or credsStore")]
    NoLogin(String),
    #[error("invalid JSON: {0}")]
    NotJson(serde_json::Error),
    #[error("[{}]", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    Several(Vec<PullSecretError>),
}

impl PullSecretError {
    fn kind(found: &Value, wanted: &str) -> Self {
        Self::Kind { found: name(found), wanted: wanted.to_owned() }
    }
}

fn auths(secret: &str) -> Result<BTreeSet<String>, PullSecretError> {
    let secret: Value = serde_json::from_str(secret).map_err(|error| match error.is_eof() {
        true => PullSecretError::CutShort,
        false => PullSecretError::NotJson(error),
    })?;
    let Value::Object(fields) = secret else {
        return Err(PullSecretError::kind(&secret, "an object with auths"));
    };
    let auths = match fields.get("auths") {
        Some(Value::Object(auths)) if !auths.is_empty() => auths,
        Some(Value::Object(_) | Value::Null) | None => return Err(PullSecretError::NoAuths),
        Some(other) => return Err(PullSecretError::kind(other, "an object of registries")),
    };
    let mut errors = Vec::new();
    for (host, login) in auths {
        match login {
            Value::Object(login) if login.contains_key("auth") || login.contains_key("credsStore") => {}
            Value::Object(_) | Value::Null => errors.push(PullSecretError::NoLogin(host.clone())),
            other => errors.push(PullSecretError::kind(other, &format!("the login of {host:?}"))),
        }
    }
    match errors.len() {
        0 => Ok(auths.keys().cloned().collect()),
        1 => Err(errors.remove(0)),
        _ => Err(PullSecretError::Several(errors)),
    }
}

fn name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_are_needed_but_not_looked_into() {
        let good =
            r#"{"auths": {"quay.io": {"auth": "x"}, "r.example:5000": {"credsStore": "y", "email": ""}}}"#;
        assert_eq!(hosts(good).into_iter().collect::<Vec<_>>(), ["quay.io", "r.example:5000"]);
        for (bad, error) in [
            ("", "unexpected end of JSON input"),
            ("{", "unexpected end of JSON input"),
            ("hush", "invalid JSON: expected value at line 1 column 1"),
            ("[]", "json: cannot unmarshal array into an object with auths"),
            ("{}", "auths required"),
            (r#"{"auths": {}}"#, "auths required"),
            (r#"{"auths": "hush"}"#, "json: cannot unmarshal string into an object of registries"),
            (r#"{"auths": {"a": {}}}"#, r#""a" requires either auth or credsStore"#),
            (
                r#"{"auths": {"a": {}, "b": null}}"#,
                r#"["a" requires either auth or credsStore, "b" requires either auth or credsStore]"#,
            ),
            (r#"{"auths": {"a": "hush"}}"#, r#"json: cannot unmarshal string into the login of "a""#),
        ] {
            assert_eq!(auths(bad).unwrap_err().to_string(), error, "{bad}");
        }
    }
}
