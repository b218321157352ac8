//! An asset: a named rule that turns named sources into files.

use std::fmt;

use super::{Facet, Source};
use crate::release_payload::{MissingImage, ReleasePayload, VersionContract};
use crate::secrets::{SecretBundle, SecretsError};
use crate::{Cluster, File, Phase, Tree};

/// One generated thing. There is a type for each kind; things that come in rows of a table (certificates, secrets) are
/// values of one type.
pub trait Asset: Send + Sync {
    /// Stable, kebab-case, unique: `infrastructure`, `etcd-signer`.
    fn id(&self) -> String;

    /// The phase that makes it.
    fn phase(&self) -> Phase;

    /// Everything `make` reads. A test mutates every input and fails when an output changes whose sources did not.
    fn sources(&self) -> Vec<Source>;

    /// The files it makes for this cluster.
    fn outputs(&self) -> Vec<Output>;

    /// Facets of the release that are there because of it. A release is not made of files in the working directory, so
    /// readers are tied by name to the asset that brings it.
    fn gives(&self) -> Vec<Facet> {
        Vec::new()
    }

    /// Makes the files, in the order of `outputs`.
    fn make(&self, inputs: &Inputs<'_>) -> Result<Vec<Vec<u8>>, MakeError>;
}

/// A file that an asset makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Path below the working directory.
    pub path: String,
    /// 0600 when it holds a secret.
    pub mode: u32,
}

impl Output {
    /// A file anyone may read.
    pub fn public(path: impl Into<String>) -> Self {
        Self { path: path.into(), mode: 0o644 }
    }

    /// A file with a secret in it.
    pub fn secret(path: impl Into<String>) -> Self {
        Self { path: path.into(), mode: 0o600 }
    }

    /// With its content.
    pub fn with(&self, bytes: Vec<u8>) -> File {
        File { path: self.path.clone(), mode: self.mode, bytes }
    }
}

/// What an asset may read.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// Both input files and the facts that follow.
    pub cluster: &'a Cluster,
    /// The release.
    pub release: &'a ReleasePayload,
    /// Keys and the password.
    pub secrets: &'a SecretBundle,
    /// The working directory: what is on disk, with what was made in this run on top.
    pub tree: &'a Tree,
}

impl<'a> Inputs<'a> {
    /// A file of the working directory.
    pub fn file(&self, path: &str) -> Result<&'a [u8], MakeError> {
        self.tree.get(path).ok_or_else(|| MakeError::MissingFile(path.to_owned()))
    }

    /// A file of the working directory, as text.
    pub fn text(&self, path: &str) -> Result<&'a str, MakeError> {
        std::str::from_utf8(self.file(path)?).map_err(|_| MakeError::BadFile {
            path: path.to_owned(),
            reason: "not UTF-8 text".to_owned(),
            offset: None,
        })
    }

    /// The image of a component.
    pub fn image(&self, name: &str) -> Result<&'a str, MakeError> {
        Ok(self.release.images.get(name)?)
    }

    /// What the version of the release promises.
    pub fn version_contract(&self) -> Result<VersionContract, MakeError> {
        self.release.contract().map_err(|error| MakeError::Release(error.to_string()))
    }
}

/// An asset could not be made.
#[derive(Debug, thiserror::Error)]
pub enum MakeError {
    /// A file in the working directory, perhaps edited by hand, cannot be used.
    #[error("{path}: {reason}")]
    BadFile {
        /// Which.
        path: String,
        /// Why.
        reason: String,
        /// Where in it, in bytes.
        offset: Option<usize>,
    },
    /// The release lacks an image.
    #[error(transparent)]
    Image(#[from] MissingImage),
    /// Something the sources should have made impossible.
    #[error("{0}")]
    Internal(String),
    /// A file that another asset should have made is not there.
    #[error("{0} is missing")]
    MissingFile(String),
    /// The release lacks something else.
    #[error("{0}")]
    Release(String),
    /// A secret is missing or damaged.
    #[error(transparent)]
    Secret(#[from] SecretsError),
}

impl fmt::Debug for dyn Asset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Asset({})", self.id())
    }
}
