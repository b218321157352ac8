//! Every object that lies in `manifests/` and `openshift/`, ours and the user's own.

use std::collections::BTreeMap;

use crate::Tree;
use crate::graph::MakeError;
use crate::release_payload::ObjectId;
use crate::yaml::{self, Node};

/// An object of a file.
pub(super) struct Object {
    /// The file.
    pub(super) path: String,
    /// What it is called.
    pub(super) id: ObjectId,
    /// Its text, with places.
    pub(super) node: Node,
}

/// Reads both folders in the order of paths. Two objects with the same name are an error that names both files.
pub(super) fn objects(tree: &Tree) -> Result<Vec<Object>, MakeError> {
    let mut objects: Vec<Object> = Vec::new();
    for (path, bytes) in tree.folder("manifests").chain(tree.folder("openshift")) {
        if [".yaml", ".yml", ".json"].iter().any(|suffix| path.ends_with(suffix)) {
            objects.extend(read(path, bytes)?);
        }
    }
    let mut seen: BTreeMap<&ObjectId, &Object> = BTreeMap::new();
    for object in &objects {
        if let Some(first) = seen.insert(&object.id, object) {
            // The installer's words (`ignition/bootstrap/cvoignore.go`).
            return Err(MakeError::BadFile {
                path: object.path.clone(),
                reason: format!("multiple manifests for {}: {}, {}", object.id, first.path, object.path),
                offset: Some(object.node.span.start),
            });
        }
    }
    Ok(objects)
}

fn read(path: &str, bytes: &[u8]) -> Result<Vec<Object>, MakeError> {
    let bad = |reason: String, offset| MakeError::BadFile { path: path.to_owned(), reason, offset };
    let text = std::str::from_utf8(bytes)
        .map_err(|error| bad("not UTF-8 text".to_owned(), Some(error.valid_up_to())))?;
    let at = |message: &str, offset: usize| bad(message.to_owned(), Some(offset));
    let documents = yaml::read_all(text).map_err(|errors| match errors.first() {
        Some(error) => at(&error.message, error.span.start),
        None => bad("not YAML".to_owned(), None),
    })?;
    let object = |node: Node| match identify(&node) {
        Ok(id) => Ok(Object { path: path.to_owned(), id, node }),
        Err(missing) => Err(at(&missing.to_string(), node.span.start)),
    };
    documents.into_iter().map(object).collect()
}

/// What an object lacks.
#[derive(Clone, Copy, Debug, thiserror::Error)]
enum Unnamed {
    #[error("an object without apiVersion")]
    ApiVersion,
    #[error("an object without kind")]
    Kind,
    #[error("an object without metadata.name")]
    Name,
}

fn identify(node: &Node) -> Result<ObjectId, Unnamed> {
    let object = node.to_json();
    let id = ObjectId::of(&object);
    if object["apiVersion"].as_str().is_none_or(str::is_empty) {
        return Err(Unnamed::ApiVersion);
    }
    if id.kind.is_empty() {
        return Err(Unnamed::Kind);
    }
    if id.name.is_empty() {
        return Err(Unnamed::Name);
    }
    Ok(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Tree {
        let mut tree = Tree::default();
        files.iter().for_each(|(path, text)| tree.insert(*path, *text));
        tree
    }

    fn error(files: &[(&str, &str)]) -> (String, Option<usize>) {
        match objects(&tree(files)) {
            Err(MakeError::BadFile { path, reason, offset }) => (format!("{path}: {reason}"), offset),
            other => panic!("{:?}", other.map(|objects| objects.len())),
        }
    }

    #[test]
    fn reads_yaml_json_and_several_documents_in_path_order() {
        let found = objects(&tree(&[
            ("openshift/a.json", "{\n\t\"apiVersion\": \"v1\",\n\t\"kind\": \"B\",\n\t\"metadata\": {\"name\": \"b\"}\n}"),
            ("manifests/z.yml", "---\napiVersion: x.io/v1\nkind: C\nmetadata: {name: c, namespace: n}\n---\napiVersion: v1\nkind: D\nmetadata:\n  name: d\n---\n"),
            ("manifests/notes.txt", "not: [an object"),
            ("manifests/sub/e.yaml", "not: [an object"),
            ("pki/f.yaml", "not: [an object"),
        ]))
        .unwrap();
        let ids: Vec<String> = found.iter().map(|object| format!("{} {}", object.path, object.id)).collect();
        assert_eq!(
            ids,
            [
                "manifests/z.yml group x.io kind C namespace n name c",
                "manifests/z.yml group  kind D namespace  name d",
                "openshift/a.json group  kind B namespace  name b",
            ]
        );
    }

    #[test]
    fn the_same_object_twice_names_both_files() {
        let object = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n";
        let beta =
            "---\napiVersion: apps/v1beta1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n";
        assert_eq!(
            error(&[("manifests/a.yaml", object), ("openshift/b.yaml", beta)]).0,
            "openshift/b.yaml: multiple manifests for group apps kind Deployment namespace shop name web: \
             manifests/a.yaml, openshift/b.yaml"
        );
        assert!(
            error(&[("manifests/a.yaml", &format!("{object}{beta}"))])
                .0
                .ends_with("manifests/a.yaml, manifests/a.yaml")
        );
    }

    #[test]
    fn mistakes_are_pointed_at() {
        let good = "apiVersion: v1\nkind: A\nmetadata: {name: a}\n";
        let (text, offset) = error(&[("manifests/a.yaml", &format!("{good}---\nkind: B\nkind: C\n"))]);
        assert_eq!(text, "manifests/a.yaml: duplicate key \"kind\"");
        assert_eq!(offset, Some(good.len() + "---\nkind: B\n".len()));
        let (text, offset) = error(&[("openshift/b.yml", "a: [1\n")]);
        assert!(text.starts_with("openshift/b.yml: ") && offset.is_some(), "{text}");
        for (text, message, start) in [
            ("hello\n", "an object without apiVersion", 0),
            ("\napiVersion: v1\nmetadata: {name: a}\n", "an object without kind", 1),
            ("apiVersion: v1\nkind: List\nitems: []\n", "an object without metadata.name", 0),
            ("apiVersion: v1\nkind: A\nmetadata: {name: 12}\n", "an object without metadata.name", 0),
        ] {
            let expected = (format!("manifests/a.yaml: {message}"), Some(start));
            assert_eq!(error(&[("manifests/a.yaml", text)]), expected);
        }
    }
}
