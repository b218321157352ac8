//! Reading bytes, texts and JSON for their meaning.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value as Json};

use super::masks::Masks;
use super::meaning::{Fields, Meaning};
use super::{certificates, ignition, objects};
use crate::yaml;

/// Reads for one side.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    /// What is random on that side.
    pub(super) masks: &'a Masks,
    /// Inside a secret: no value may be shown.
    secret: bool,
    /// Certificates come from the user.
    given: bool,
}

impl<'a> Reader<'a> {
    /// A reader of things anyone may see.
    pub(super) fn new(masks: &'a Masks) -> Self {
        Self { masks, secret: false, given: false }
    }

    /// The same for a secret.
    pub(super) fn hiding(self) -> Self {
        Self { secret: true, ..self }
    }

    /// The same for certificates of the user, which are not random.
    pub(super) fn of_the_user(self) -> Self {
        Self { given: true, ..self }
    }

    /// A document of its own; `None` when it counts as absent.
    pub(super) fn document(&self, json: &Json) -> Option<Meaning> {
        match self.json("", json)? {
            Meaning::Map(fields) => Some(Meaning::Document(fields)),
            other => Some(other),
        }
    }

    /// The value of a field; `None` when it counts as absent.
    pub(super) fn json(&self, key: &str, json: &Json) -> Option<Meaning> {
        match json {
            Json::Null => None,
            Json::Bool(_) | Json::Number(_) if self.secret => {
                Some(Meaning::hidden(json.to_string().as_bytes()))
            }
            Json::Bool(_) | Json::Number(_) => Some(Meaning::Scalar(json.clone())),
            Json::String(text) => self.text(key, text),
            Json::Array(items) => {
                let items: Vec<Meaning> = items.iter().filter_map(|item| self.json(key, item)).collect();
                (!items.is_empty()).then_some(Meaning::List(items))
            }
            // Its keys are public; what in it is secret is hidden by its own kind.
            Json::Object(_) if ignition::is_ignition(json) => {
                Some(Meaning::Document(ignition::fields(&Reader::new(self.masks), json)))
            }
            Json::Object(_) if objects::is_object(json) => {
                Some(Meaning::Document(objects::fields(self, json)))
            }
            Json::Object(object) => {
                let fields = self.fields(key, object);
                (!fields.is_empty()).then_some(Meaning::Map(fields))
            }
        }
    }

    /// The fields of a mapping that do not count as absent.
    pub(super) fn fields(&self, key: &str, object: &Map<String, Json>) -> Fields {
        object
            .iter()
            .filter(|(name, _)| *name != "creationTimestamp")
            .filter_map(|(name, value)| Some((name.clone(), self.field(key, name, value)?)))
            .collect()
    }

    /// A text: a PEM block, a document inside the document, or just a text.
    pub(super) fn text(&self, key: &str, text: &str) -> Option<Meaning> {
        if text.trim().is_empty() {
            return None;
        }
        if HIDDEN_KEYS.contains(&key) && !self.secret {
            return self.hiding().text(key, text);
        }
        if let Some(pem) = certificates::meaning(text, self.given || key == "additionalTrustBundle") {
            return Some(pem);
        }
        if let Some(document) = self.embedded(key, text) {
            return Some(document);
        }
        // Wherever it stands, a key in base64 is still a key.
        if let Some(pem) = base64_text(text).and_then(|text| certificates::meaning(&text, self.given)) {
            return Some(pem);
        }
        match is_bcrypt(text) {
            true => Some(Meaning::Random("bcrypt hash".to_owned())),
            false if self.secret => Some(Meaning::hidden(text.as_bytes())),
            false => Some(Meaning::text(self.masks.apply(text))),
        }
    }

    /// Bytes of a file or of a secret's data.
    pub(super) fn bytes(&self, key: &str, bytes: &[u8]) -> Option<Meaning> {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.text(key, text),
            Err(_) => Some(Meaning::hidden(bytes)),
        }
    }

    /// The lines of a configuration file that say something.
    pub(super) fn lines(&self, text: &str) -> Option<Meaning> {
        let lines: Vec<Meaning> = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(|line| Meaning::text(self.masks.apply(line)))
            .collect();
        // The title of a section without anything in it says nothing.
        let says_something = |line: &Meaning| !matches!(line, Meaning::Scalar(Json::String(text)) if text.starts_with('[') && !text.starts_with("[["));
        lines.iter().any(says_something).then_some(Meaning::List(lines))
    }

    fn field(&self, parent: &str, name: &str, value: &Json) -> Option<Meaning> {
        let is_empty = value.as_object().is_some_and(Map::is_empty);
        if is_empty && MEANINGFUL_WHEN_EMPTY.contains(&(parent, name)) {
            return Some(Meaning::text("{}"));
        }
        self.json(name, value)
    }

    fn embedded(&self, key: &str, text: &str) -> Option<Meaning> {
        let is_yaml = key == "install-config" || key.ends_with(".yaml") || key.ends_with(".yml");
        let json = match text.trim_start().starts_with('{') {
            _ if is_yaml => yaml::read(text).ok()?.to_json(),
            true => serde_json::from_str(text).ok()?,
            false => return None,
        };
        Some(self.document(&json).unwrap_or_else(|| Meaning::Document(Fields::new())))
    }
}

/// Fields that hold secrets wherever they stand.
const HIDDEN_KEYS: [&str; 8] = [
    "auth",
    "identitytoken",
    "password",
    "passwordHash",
    "pullSecret",
    "registrytoken",
    "secretKey",
    "token",
];

/// Parent and name of objects that say something by being there: an empty policy forbids every external address
/// (openshift/api `config/v1/types_network.go`), `none: {}` names the platform.
const MEANINGFUL_WHEN_EMPTY: [(&str, &str); 2] = [("externalIP", "policy"), ("platform", "none")];

/// What a text of base64 holds, if that is text again.
fn base64_text(text: &str) -> Option<String> {
    STANDARD.decode(text.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok())
}

fn is_bcrypt(text: &str) -> bool {
    text.len() == 60 && text.starts_with("$2")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const KEY: &str = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";

    #[test]
    fn secrets_are_hidden_wherever_they_stand() {
        let masks = Masks::default();
        let config = json!({
            "pullSecret": r#"{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}"#,
            "token": "t0ken", "elsewhere": STANDARD.encode(KEY), "hash": format!("$2a$10${}", "x".repeat(53)),
        });
        let meaning = format!("{:?}", Reader::new(&masks).document(&config).unwrap());
        for secret in ["dXNlcjpwYXNz", "t0ken", "$2a$", "LS0tLS1CRUdJTi"] {
            assert!(!meaning.contains(secret), "{meaning}");
        }
        assert!(meaning.contains("quay.io"));
    }

    #[test]
    fn a_document_inside_a_text_is_read() {
        let masks = Masks::default();
        let reader = Reader::new(&masks);
        let a = reader.json("data", &json!({"install-config": "a: 1\nb: ''\n", "x": "{\"c\": [1, 2]}"}));
        let b = reader.json("data", &json!({"install-config": "{a: 1}", "x": "{\"c\":[1,2]}"}));
        assert_eq!(a, b);
    }
}
