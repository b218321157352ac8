//! A Kubernetes object in a file, as an asset: what `manifests/`, `openshift/` and `operator-seeds/` are made of.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::graph::{Asset, Inputs, MakeError, Output, Source};
use crate::{Phase, yaml};

/// A rule that makes one object.
pub(crate) struct ObjectFile {
    id: String,
    output: Output,
    sources: Vec<Source>,
    build: Box<Build>,
}

type Build = dyn Fn(&Inputs<'_>) -> Result<Value, MakeError> + Send + Sync;

impl ObjectFile {
    /// An object that anyone may read.
    pub(crate) fn new(
        id: impl Into<String>,
        path: impl Into<String>,
        sources: impl Into<Vec<Source>>,
        build: impl Fn(&Inputs<'_>) -> Result<Value, MakeError> + Send + Sync + 'static,
    ) -> Self {
        Self { id: id.into(), output: Output::public(path), sources: sources.into(), build: Box::new(build) }
    }

    /// The same with a file that only its owner may read.
    pub(crate) fn secret(self) -> Self {
        Self { output: Output::secret(self.output.path), ..self }
    }

    /// As the graph wants it.
    pub(crate) fn boxed(self) -> Box<dyn Asset> {
        Box::new(self)
    }
}

impl Asset for ObjectFile {
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
pub(crate) fn fields<const N: usize>(paths: [&'static str; N]) -> Vec<Source> {
    paths.map(Source::config).into()
}

/// As the values of a Secret's `data` are written.
pub(crate) fn base64(bytes: impl AsRef<[u8]>) -> String {
    STANDARD.encode(bytes)
}
