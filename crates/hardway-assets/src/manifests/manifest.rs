//! One Kubernetes object in one file, as an asset.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::graph::{Asset, Inputs, MakeError, Output, Source};
use crate::{Phase, yaml};

/// A rule that makes one object.
pub(super) struct Manifest {
    id: String,
    output: Output,
    sources: Vec<Source>,
    build: Box<Build>,
}

type Build = dyn Fn(&Inputs<'_>) -> Result<Value, MakeError> + Send + Sync;

impl Manifest {
    /// An object that anyone may read.
    pub(super) fn new(
        id: impl Into<String>,
        path: impl Into<String>,
        sources: impl Into<Vec<Source>>,
        build: impl Fn(&Inputs<'_>) -> Result<Value, MakeError> + Send + Sync + 'static,
    ) -> Self {
        Self { id: id.into(), output: Output::public(path), sources: sources.into(), build: Box::new(build) }
    }

    /// The same with a file that only its owner may read.
    pub(super) fn secret(self) -> Self {
        Self { output: Output::secret(self.output.path), ..self }
    }

    /// As the graph wants it.
    pub(super) fn boxed(self) -> Box<dyn Asset> {
        Box::new(self)
    }
}

impl Asset for Manifest {
    fn id(&self) -> String {
        self.id.clone()
    }

    fn phase(&self) -> Phase {
        Phase::MakeManifests
    }

    fn sources(&self) -> Vec<Source> {
        self.sources.clone()
    }

    fn outputs(&self) -> Vec<Output> {
        vec![self.output.clone()]
    }

    fn make(&self, inputs: &Inputs<'_>) -> Result<Vec<Vec<u8>>, MakeError> {
        Ok(vec![yaml::write(&(self.build)(inputs)?).into_bytes()])
    }
}

/// Sources for fields of install-config.yaml.
pub(super) fn fields<const N: usize>(paths: [&'static str; N]) -> Vec<Source> {
    paths.map(Source::config).into()
}

/// The one object of a kind of config.openshift.io. All are called `cluster`.
pub(super) fn config_object(kind: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": "config.openshift.io/v1",
        "kind": kind,
        "metadata": {"name": "cluster"},
        "spec": spec,
    })
}

/// As the values of a Secret are written.
pub(super) fn base64(bytes: impl AsRef<[u8]>) -> String {
    STANDARD.encode(bytes)
}
