//! A seed: one Kubernetes object in one file of `operator-seeds/`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::graph::{Asset, Inputs, MakeError, Output, Source};
use crate::{Phase, yaml};

/// One object. Most are built from the helpers below, as rows of a table.
pub(super) struct Seed {
    /// Of the file, without folder and suffix.
    name: String,
    is_secret: bool,
    sources: Vec<Source>,
    build: Build,
}

type Build = Box<dyn Fn(&Inputs<'_>) -> Result<Value, MakeError> + Send + Sync>;

impl Seed {
    /// An object that is the same in every cluster.
    pub(super) fn fixed(name: impl Into<String>, object: Value) -> Self {
        Self::public(name, Vec::new(), move |_| Ok(object.clone()))
    }

    /// An object without secrets.
    pub(super) fn public(
        name: impl Into<String>,
        sources: Vec<Source>,
        build: impl Fn(&Inputs<'_>) -> Result<Value, MakeError> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), is_secret: false, sources, build: Box::new(build) }
    }

    /// An object that holds a private key.
    pub(super) fn secret(
        name: impl Into<String>,
        sources: Vec<Source>,
        build: impl Fn(&Inputs<'_>) -> Result<Value, MakeError> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), is_secret: true, sources, build: Box::new(build) }
    }
}

impl Asset for Seed {
    fn id(&self) -> String {
        // Not the bare name: the certificate in a seed is often called the same.
        format!("seed-{}", self.name.replace('_', "-"))
    }

    fn phase(&self) -> Phase {
        Phase::MakeManifests
    }

    fn sources(&self) -> Vec<Source> {
        self.sources.clone()
    }

    fn outputs(&self) -> Vec<Output> {
        let path = format!("operator-seeds/{}.yaml", self.name);
        vec![if self.is_secret { Output::secret(path) } else { Output::public(path) }]
    }

    fn make(&self, inputs: &Inputs<'_>) -> Result<Vec<Vec<u8>>, MakeError> {
        Ok(vec![yaml::write(&(self.build)(inputs)?).into_bytes()])
    }
}

/// A namespace and a name.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) namespace: &'static str,
    pub(super) name: &'static str,
}

/// A ConfigMap of files of `pki/`, each under a key. `component` is who owns it, empty for nobody.
pub(super) fn config_map_of_files(
    name: &'static str,
    place: Place,
    component: &'static str,
    files: &'static [(&'static str, &'static str)],
) -> Seed {
    let sources = files.iter().map(|(_, file)| Source::file(format!("pki/{file}"))).collect();
    Seed::public(name, sources, move |inputs| {
        let mut data = Map::new();
        for (key, file) in files {
            data.insert((*key).to_owned(), inputs.text(&format!("pki/{file}"))?.into());
        }
        let mut object = object("ConfigMap", place.namespace, place.name);
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

/// As a Secret's `data` holds it.
pub(super) fn base64(bytes: impl AsRef<[u8]>) -> Value {
    STANDARD.encode(bytes).into()
}

/// A private key as PEM, for a Secret's `data`.
pub(super) fn private_key(inputs: &Inputs<'_>, name: &str) -> Result<Value, MakeError> {
    Ok(base64(inputs.secrets.get(&format!("{name}.key"))?.expose()))
}

/// Who answers for an object (openshift/api `annotations`).
pub(super) const OWNER: &str = "openshift.io/owning-component";
