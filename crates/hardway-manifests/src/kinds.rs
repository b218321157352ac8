//! All kinds of a cluster, and what its API server would say to an object of one of them.

use std::collections::{BTreeMap, BTreeSet};

use hardway_assets::violation::FieldErrorKind;
use serde_json::Value;

use crate::built_in::{BuiltIn, OBJECT_META};
use crate::custom_kind::{CustomKind, CustomVersion};
use crate::metadata::NameRule;
use crate::pruning::{fill_in_defaults, prune, prune_nulls};
use crate::rules::Tried;
use crate::schema::Schema;
use crate::{FieldPath, Mistake, PathStep, built_in_rules, list_types, metadata, values, workloads};

/// The kinds that objects can be judged by: those of Kubernetes, and those of CRDs that were added.
///
/// ```
/// use hardway_manifests::{Judgement, Kinds};
/// use serde_json::json;
///
/// let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "b"}, "dta": {"key": "value"}});
/// let Judgement::Judged(verdict) = Kinds::of_kubernetes(31).judge(&object) else { panic!() };
/// assert_eq!(verdict.mistakes[0].to_string(), "dta: Unknown field: the API server would silently drop it");
/// assert_eq!(verdict.mistakes[0].fix.as_deref(), Some("did you mean \"data\"?"));
/// ```
#[derive(Debug, Default)]
pub struct Kinds {
    custom: BTreeMap<(String, String), CustomKind>,
    /// Kinds that this cluster does not have, and who does.
    elsewhere: BTreeMap<(String, String), String>,
    /// Minor version of the Kubernetes that will judge, where it is known.
    minor: Option<u32>,
    /// Minor version of the newest Ignition config that nodes take, where it is known.
    ignition: Option<u32>,
}

/// What is known about an object.
#[derive(Debug)]
pub enum Judgement {
    /// It was looked at.
    Judged(Verdict),
    /// Its kind is not known, or accepts anything: nobody could check. The reason is a part of a sentence.
    Unchecked(String),
}

/// What the API server would say.
#[derive(Debug, Default)]
pub struct Verdict {
    /// Why it would refuse, or what it would drop. None: it would be created as it is.
    pub mistakes: Vec<Mistake>,
    /// Rules that nobody could try here.
    pub untried_rules: BTreeSet<String>,
    /// Rules that were tried, and whether they held.
    pub tried_rules: BTreeSet<(String, bool)>,
}

/// Where objects of a kind are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In the cluster.
    Cluster,
    /// In a namespace.
    Namespaced,
}

impl Kinds {
    /// Of an API server of this minor version (31 of 1.31). Fields of another version than the table's are not known for
    /// sure, so that nothing is said about those that the table has not.
    #[must_use]
    pub fn of_kubernetes(minor: u32) -> Self {
        Self { minor: Some(minor), ..Self::default() }
    }

    /// Notes the newest Ignition config (3.4.0) that the machine-config-operator reads.
    #[must_use]
    pub fn with_ignition(self, newest: &str) -> Self {
        let minor = newest.split('.').nth(1).and_then(|minor| minor.parse().ok());
        Self { ignition: minor, ..self }
    }

    pub(crate) fn newest_ignition(&self) -> Option<u32> {
        self.ignition
    }

    /// Adds the kind of a CRD, in place of one of the same name. False when it is none.
    pub fn add(&mut self, crd: &Value) -> bool {
        let Some(kind) = CustomKind::read(crd) else { return false };
        self.custom.insert((kind.group.clone(), kind.kind.clone()), kind);
        true
    }

    /// Notes that a CRD brings its kind elsewhere only: with another feature set, say. An object of it is a mistake here.
    pub fn add_elsewhere(&mut self, crd: &Value, whose: &str) {
        if let Some(kind) = CustomKind::read(crd) {
            self.elsewhere.insert((kind.group, kind.kind), whose.to_owned());
        }
    }

    /// Where objects of a kind are; nothing when it is not known.
    pub fn scope(&self, api_version: &str, kind: &str) -> Option<Scope> {
        let is_namespaced = match BuiltIn::get().kinds.get(&(api_version.to_owned(), kind.to_owned())) {
            Some(kind) => kind.is_namespaced,
            None => self.custom(api_version, kind)?.is_namespaced,
        };
        Some(if is_namespaced { Scope::Namespaced } else { Scope::Cluster })
    }

    /// What an API server would say if the object were created.
    pub fn judge(&self, object: &Value) -> Judgement {
        let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        let missing: Vec<Mistake> = ["apiVersion", "kind"]
            .into_iter()
            .filter(|key| text(key).is_empty())
            .map(|key| Mistake::new(&FieldPath::of(&[key]), FieldErrorKind::Required, "every object has one"))
            .collect();
        if !missing.is_empty() {
            return Judgement::Judged(Verdict { mistakes: missing, ..Verdict::default() });
        }
        if let Some(found) = BuiltIn::get().kinds.get(&(api_version.to_owned(), kind.to_owned())) {
            return Judgement::Judged(self.judge_built_in(object, &found.type_name, found.is_namespaced));
        }
        let Some(custom) = self.custom(api_version, kind) else {
            if let Some(whose) = self.elsewhere.get(&(group(api_version).to_owned(), kind.to_owned())) {
                let detail = format!("no CRD of this cluster defines it: it comes with {whose}");
                let mistake = Mistake::new(&FieldPath::of(&["kind"]), FieldErrorKind::NotFound, detail)
                    .of(&kind.into());
                return Judgement::Judged(Verdict { mistakes: vec![mistake], ..Verdict::default() });
            }
            return Judgement::Unchecked(format!("no CRD defines {kind} in {api_version}"));
        };
        let version = api_version.rsplit('/').next().unwrap_or_default();
        match custom.versions.get(version).filter(|version| version.is_served) {
            Some(found) if found.schema.accepts_anything() => {
                Judgement::Unchecked(format!("the CRD {}.{} has no schema", custom.plural, custom.group))
            }
            Some(found) => Judgement::Judged(judge_custom(object, found, custom.is_namespaced)),
            None => {
                let served: Vec<&str> = custom
                    .versions
                    .iter()
                    .filter(|(_, v)| v.is_served)
                    .map(|(name, _)| name.as_str())
                    .collect();
                let detail = format!("{kind} is served as {}", served.join(", "));
                let path = FieldPath::of(&["apiVersion"]);
                let mistake = Mistake::new(&path, FieldErrorKind::NotFound, detail).of(&api_version.into());
                Judgement::Judged(Verdict { mistakes: vec![mistake], ..Verdict::default() })
            }
        }
    }

    /// What an API server would say when its status is written afterwards, as the bootstrap host does with the status that a file
    /// carries: whoever creates an object cannot set it.
    pub fn judge_status(&self, object: &Value) -> Vec<Mistake> {
        let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
        let status = object.get("status").filter(|status| says_something(status));
        let custom = self.custom(text("apiVersion"), text("kind")).filter(|_| status.is_some());
        let version = text("apiVersion").rsplit('/').next().unwrap_or_default();
        let found = custom.and_then(|custom| custom.versions.get(version));
        found.filter(|found| found.has_status && !found.schema.accepts_anything()).map_or_else(Vec::new, |found| {
            let types = &BuiltIn::get().types;
            let mut kept = object.clone();
            prune(&found.schema, &mut kept, true, types);
            prune_nulls(&found.schema, &mut kept);
            fill_in_defaults(&found.schema, &mut kept);
            let mut mistakes = values::check(&found.schema, &kept, &FieldPath::default(), types);
            list_types::check(&found.schema, &kept, &mut FieldPath::default(), types, &mut mistakes);
            if !mistakes.iter().any(|mistake| keeps_rules_from_running(mistake.kind)) {
                mistakes.extend(Tried::on(&found.schema, &kept).mistakes);
            }
            // Everything else was judged before.
            let is_of_status = |mistake: &Mistake| {
                matches!(mistake.path.steps().first(), Some(PathStep::Field(name)) if name == "status")
            };
            mistakes.retain(is_of_status);
            tidy(mistakes)
        })
    }

    fn custom(&self, api_version: &str, kind: &str) -> Option<&CustomKind> {
        self.custom.get(&(group(api_version).to_owned(), kind.to_owned()))
    }

    fn judge_built_in(&self, object: &Value, type_name: &str, is_namespaced: bool) -> Verdict {
        let built_in = BuiltIn::get();
        let Some(schema) = built_in.types.get(type_name) else { return Verdict::default() };
        let mut kept = object.clone();
        let mut mistakes = prune(schema, &mut kept, false, &built_in.types);
        mistakes.extend(values::check(schema, &kept, &FieldPath::default(), &built_in.types));
        let is_other_version = self.minor.is_some_and(|minor| minor != built_in.minor);
        if is_other_version {
            mistakes.retain(|mistake| {
                !matches!(mistake.kind, FieldErrorKind::Unknown | FieldErrorKind::Unsupported)
            });
        }
        if !mistakes.iter().any(|mistake| mistake.kind == FieldErrorKind::Type) {
            mistakes.extend(metadata::check(&kept, built_in_rules::name_rule(object), is_namespaced));
            mistakes.extend(built_in_rules::check(&kept));
            mistakes.extend(workloads::check(&kept));
        }
        Verdict { mistakes: tidy(mistakes), ..Verdict::default() }
    }
}

/// Whether there is a value in it anywhere.
fn says_something(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.values().any(says_something),
        Value::Array(items) => items.iter().any(says_something),
        Value::String(text) => !text.is_empty(),
        Value::Null => false,
        Value::Bool(_) | Value::Number(_) => true,
    }
}

fn group(api_version: &str) -> &str {
    api_version.rsplit_once('/').map_or("", |(group, _)| group)
}

/// In the server's order: what is decoded, what is dropped and filled in, what is held against the schema, then rules.
fn judge_custom(object: &Value, version: &CustomVersion, is_namespaced: bool) -> Verdict {
    let schema = &version.schema;
    let types = &BuiltIn::get().types;
    let mut kept = object.clone();
    let mut mistakes = check_object_meta(&mut kept);
    let is_readable = mistakes.iter().all(|mistake| mistake.kind != FieldErrorKind::Type);
    mistakes.extend(prune(schema, &mut kept, true, types));
    prune_nulls(schema, &mut kept);
    fill_in_defaults(schema, &mut kept);
    if version.has_status
        && let Value::Object(fields) = &mut kept
    {
        fields.remove("status");
    }
    if is_readable {
        mistakes.extend(metadata::check(&kept, NameRule::Subdomain, is_namespaced));
    }
    mistakes.extend(values::check(schema, &kept, &FieldPath::default(), types));
    embedded(schema, &kept, &FieldPath::default(), &mut mistakes);
    list_types::check(schema, &kept, &mut FieldPath::default(), types, &mut mistakes);
    if mistakes.iter().any(|mistake| keeps_rules_from_running(mistake.kind)) {
        return Verdict { mistakes: tidy(mistakes), ..Verdict::default() };
    }
    let tried = Tried::on(schema, &kept);
    mistakes.extend(tried.mistakes);
    Verdict { mistakes: tidy(mistakes), untried_rules: tried.unknown, tried_rules: tried.reached }
}

/// Types and unknown fields of `metadata`; what is unknown is taken out.
fn check_object_meta(object: &mut Value) -> Vec<Mistake> {
    match object.get_mut("metadata") {
        Some(metadata) => check_metadata_types(metadata, &FieldPath::of(&["metadata"])),
        None => Vec::new(),
    }
}

fn check_metadata_types(metadata: &mut Value, path: &FieldPath) -> Vec<Mistake> {
    let types = &BuiltIn::get().types;
    let Some(schema) = types.get(OBJECT_META) else { return Vec::new() };
    let mut found = prune(schema, metadata, false, types);
    found.iter_mut().for_each(|mistake| mistake.path = mistake.path.below(path));
    found.extend(values::check(schema, metadata, path, types));
    found
}

/// Objects within objects say what they are.
fn embedded(schema: &Schema, value: &Value, path: &FieldPath, found: &mut Vec<Mistake>) {
    match value {
        Value::Object(fields) => {
            if schema.embedded {
                for key in ["apiVersion", "kind"] {
                    let path = path.field(key);
                    match fields.get(key) {
                        None => {
                            found.push(Mistake::new(&path, FieldErrorKind::Required, "must not be empty"))
                        }
                        Some(Value::String(text)) if !text.is_empty() => {}
                        Some(other) => {
                            found.push(
                                Mistake::new(&path, FieldErrorKind::Invalid, "must be a non-empty string")
                                    .of(other),
                            );
                        }
                    }
                }
            }
            if let Some(metadata) = fields.get("metadata").filter(|_| schema.embedded) {
                found.extend(check_metadata_types(&mut metadata.clone(), &path.field("metadata")));
            }
            for (name, value) in fields {
                match (schema.properties.get(name), schema.values()) {
                    (Some(property), _) => embedded(property, value, &path.field(name), found),
                    (None, Some(values)) => embedded(values, value, &path.key(name), found),
                    (None, None) => {}
                }
            }
        }
        Value::Array(items) => {
            let Some(element) = &schema.items else { return };
            for (index, item) in items.iter().enumerate() {
                embedded(element, item, &path.index(index), found);
            }
        }
        _ => {}
    }
}

/// In the order of paths, and none twice.
fn tidy(mut mistakes: Vec<Mistake>) -> Vec<Mistake> {
    mistakes.sort_by(|a, b| a.path.cmp(&b.path));
    let mut kept: Vec<Mistake> = Vec::with_capacity(mistakes.len());
    for mistake in mistakes {
        if !kept.contains(&mistake) {
            kept.push(mistake);
        }
    }
    kept
}

/// Rules are not tried on an object that has one of these (apiextensions-apiserver `hasBlockingErr`).
fn keeps_rules_from_running(kind: FieldErrorKind) -> bool {
    matches!(
        kind,
        FieldErrorKind::Required
            | FieldErrorKind::TooLong
            | FieldErrorKind::TooMany
            | FieldErrorKind::Type
            | FieldErrorKind::Unsupported
    )
}
