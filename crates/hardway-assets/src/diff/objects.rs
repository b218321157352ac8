//! Kubernetes objects by what they are called, whatever file they lie in.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value as Json;

use super::Difference;
use super::meaning::{Fields, Meaning};
use super::reader::Reader;
use super::side::Document;
use super::walk::walk;
use crate::release_payload::ObjectId;

/// The objects of a side, by name.
pub(super) type Objects = BTreeMap<ObjectName, Meaning>;

/// An object of a side, even where two carry one name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ObjectName {
    id: ObjectId,
    /// 2 for the second object of the same name, which the API would refuse.
    number: usize,
}

impl ObjectName {
    /// `Secret kube-system/kubeadmin`. Only kinds of operator.openshift.io carry their group: their names are used twice.
    fn place(&self) -> String {
        let ObjectId { kind, group, namespace, name } = &self.id;
        let kind = match group.as_str() {
            "operator.openshift.io" => format!("{kind}.{group}"),
            _ => kind.clone(),
        };
        let name = match namespace.as_str() {
            "" => name.clone(),
            namespace => format!("{namespace}/{name}"),
        };
        let number = if self.number > 1 { format!(" ({})", self.number) } else { String::new() };
        format!("{kind} {name}{number}")
    }
}

/// Reads the objects of some files.
pub(super) fn read(reader: &Reader<'_>, documents: &[Document]) -> Objects {
    let mut objects = Objects::new();
    for document in documents {
        let mut name = ObjectName { id: ObjectId::of(&document.object), number: 1 };
        while objects.contains_key(&name) {
            name.number += 1;
        }
        let mut fields = fields(reader, &document.object);
        fields.insert("file".to_owned(), Meaning::text(document.file.clone()));
        if let Some(mode) = document.mode {
            fields.insert("mode".to_owned(), Meaning::text(format!("{mode:04o}")));
        }
        objects.insert(name, Meaning::Document(fields));
    }
    objects
}

/// Forgets what only objects inside Ignition have: a mode, and the overrides that keep the cluster-version operator's
/// hands off while bootstrapping.
pub(super) fn forget_ignition(objects: &mut Objects) {
    for (name, object) in objects {
        let Meaning::Document(fields) = object else { continue };
        fields.remove("mode");
        if let ("ClusterVersion", Some(Meaning::Map(spec))) = (name.id.kind.as_str(), fields.get_mut("spec"))
        {
            spec.remove("overrides");
        }
    }
}

/// Notes every difference between two sets of objects.
pub(super) fn compare(ours: &Objects, theirs: &Objects, found: &mut Vec<Difference>) {
    let names: BTreeSet<&ObjectName> = ours.keys().chain(theirs.keys()).collect();
    for name in names {
        walk(&name.place(), ours.get(name), theirs.get(name), found);
    }
}

/// Has it what the API asks of every object?
pub(super) fn is_object(json: &Json) -> bool {
    json["apiVersion"].is_string() && json["kind"].is_string() && json["metadata"].is_object()
}

/// What an object says, wherever it lies: the data of secrets is hidden.
pub(super) fn fields(reader: &Reader<'_>, object: &Json) -> Fields {
    let id = ObjectId::of(object);
    let Some(parts) = object.as_object() else { return Fields::new() };
    let mut fields = reader.fields("", parts);
    let data = |part: &str, read: &dyn Fn(&str, &Json) -> Option<Meaning>| -> Option<(String, Meaning)> {
        let values = parts.get(part)?.as_object()?;
        let values: Fields =
            values.iter().filter_map(|(key, v)| Some((key.clone(), read(key, v)?))).collect();
        (!values.is_empty()).then(|| (part.to_owned(), Meaning::Map(values)))
    };
    match id.kind.as_str() {
        "ConfigMap" if id.name == "user-ca-bundle" => {
            fields.extend(data("data", &|key, value| reader.of_the_user().json(key, value)));
        }
        "Secret" => {
            fields.extend(data("data", &|key, value| secret(reader, key, value)));
            fields.extend(data("stringData", &|key, value| reader.hiding().json(key, value)));
        }
        _ => {}
    }
    fields
}

fn secret(reader: &Reader<'_>, key: &str, value: &Json) -> Option<Meaning> {
    let text = value.as_str()?;
    match STANDARD.decode(text) {
        Ok(bytes) => reader.hiding().bytes(key, &bytes),
        Err(_) => reader.hiding().text(key, text),
    }
}
