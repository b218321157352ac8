//! A seed: one Kubernetes object in one file of `operator-seeds/`.

use serde_json::{Map, Value, json};

use crate::graph::{Inputs, MakeError, Source};
use crate::object_file::ObjectFile;
use crate::rotation::OWNER;

/// An object that is the same in every cluster.
pub(super) fn fixed(name: impl Into<String>, object: Value) -> ObjectFile {
    public(name, Vec::new(), move |_| Ok(object.clone()))
}

/// An object without secrets. `name` is that of the file, without folder and suffix.
pub(super) fn public(
    name: impl Into<String>,
    sources: Vec<Source>,
    build: impl Fn(&Inputs<'_>) -> Result<Value, MakeError> + Send + Sync + 'static,
) -> ObjectFile {
    let name = name.into();
    // Not the bare name: the certificate in a seed is often called the same.
    let id = format!("seed-{}", name.replace('_', "-"));
    ObjectFile::new(id, format!("operator-seeds/{name}.yaml"), sources, build)
}

/// An object that holds a private key.
pub(super) fn secret(
    name: impl Into<String>,
    sources: Vec<Source>,
    build: impl Fn(&Inputs<'_>) -> Result<Value, MakeError> + Send + Sync + 'static,
) -> ObjectFile {
    public(name, sources, build).secret()
}

/// A namespace and a name.
#[derive(Clone, Copy)]
pub(super) struct NamespacedName {
    pub(super) namespace: &'static str,
    pub(super) name: &'static str,
}

/// A ConfigMap of files of `pki/`, each under a key. `component` is who owns it, empty for nobody.
pub(super) fn config_map_of_files(
    name: &'static str,
    named: NamespacedName,
    component: &'static str,
    files: &'static [(&'static str, &'static str)],
) -> ObjectFile {
    let sources = files.iter().map(|(_, file)| Source::file(format!("pki/{file}"))).collect();
    public(name, sources, move |inputs| {
        let mut data = Map::new();
        for (key, file) in files {
            data.insert((*key).to_owned(), inputs.text(&format!("pki/{file}"))?.into());
        }
        let mut object = object("ConfigMap", named.namespace, named.name);
        object["data"] = data.into();
        if !component.is_empty() {
            object["metadata"]["annotations"] = json!({ OWNER: component });
        }
        Ok(object)
    })
}

/// A v1 object without content.
pub(super) fn object(kind: &str, namespace: &str, name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": kind, "metadata": {"namespace": namespace, "name": name}})
}
