//! What an asset reads, and the fingerprint of what it found there.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

use hardway_base::hex;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::Inputs;

/// One named thing that an asset reads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// A field of install-config.yaml by dotted path; `""` is the whole file.
    Config(Cow<'static, str>),
    /// A file of the working directory.
    File(String),
    /// Every file in a folder of the working directory, the user's own included.
    Folder(Cow<'static, str>),
    /// Which generation of its boot identity a host is in.
    Generation(String),
    /// Cluster UUID, infrastructure name, and the second they were drawn in.
    Identity,
    /// A field of inventory.yaml by dotted path.
    Inventory(Cow<'static, str>),
    /// The date a certificate was last issued.
    Issued(String),
    /// A part of the release.
    Release(Facet),
    /// A file of `secrets/`.
    Secret(String),
}

/// A part of the release that assets depend on alone.
// In the order of their names, which is the order of the lines in `assets.lock`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Facet {
    /// `architecture`: what it was built for.
    Architecture,
    /// `crds`: all of them.
    Crds,
    /// `feature-gates`: of all feature sets.
    FeatureGates,
    /// `image`: the release image itself.
    Image,
    /// `image-policies`: whose signatures nodes ask for.
    ImagePolicies,
    /// `images`: those of all components.
    Images,
    /// `images/etcd`: that of one component.
    ComponentImage(String),
    /// `rendered/master`: the MachineConfig that was rendered for a pool.
    Rendered(String),
    /// `version`: such as 4.18.1.
    Version,
}

impl Facet {
    /// What comes with every release; what is rendered comes later.
    pub(crate) const FETCHED: [Self; 7] = [
        Self::Architecture,
        Self::Crds,
        Self::FeatureGates,
        Self::Image,
        Self::ImagePolicies,
        Self::Images,
        Self::Version,
    ];

    /// Reads the text form back; the inverse of `Display`.
    fn parse(text: &str) -> Option<Self> {
        match text.split_once('/') {
            Some(("images", name)) => Some(Self::ComponentImage(name.to_owned())),
            Some(("rendered", pool)) => Some(Self::Rendered(pool.to_owned())),
            Some(_) => None,
            None => Self::FETCHED.into_iter().find(|facet| facet.to_string() == text),
        }
    }

    /// The facet that this one is a part of.
    pub(super) fn whole(&self) -> Option<Self> {
        matches!(self, Self::ComponentImage(_)).then_some(Self::Images)
    }
}

impl fmt::Display for Facet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Architecture => f.write_str("architecture"),
            Self::Crds => f.write_str("crds"),
            Self::FeatureGates => f.write_str("feature-gates"),
            Self::Image => f.write_str("image"),
            Self::ImagePolicies => f.write_str("image-policies"),
            Self::Images => f.write_str("images"),
            Self::ComponentImage(name) => write!(f, "images/{name}"),
            Self::Rendered(pool) => write!(f, "rendered/{pool}"),
            Self::Version => f.write_str("version"),
        }
    }
}

impl Source {
    /// A field of install-config.yaml.
    pub fn config(path: &'static str) -> Self {
        Self::Config(path.into())
    }

    /// A field of inventory.yaml.
    pub fn inventory(path: &'static str) -> Self {
        Self::Inventory(path.into())
    }

    /// A component's image.
    pub fn image(name: &str) -> Self {
        Self::Release(Facet::ComponentImage(name.to_owned()))
    }

    /// A file of the working directory.
    pub fn file(path: impl Into<String>) -> Self {
        Self::File(path.into())
    }

    /// A private key.
    pub fn key(name: &str) -> Self {
        Self::Secret(format!("{name}.key"))
    }

    /// The file of `secrets/` that it comes from, if it comes from one.
    pub fn secret_file(&self) -> Option<&str> {
        match self {
            Self::Secret(name) => Some(name),
            Self::Generation(_) | Self::Identity | Self::Issued(_) => Some("identity.json"),
            _ => None,
        }
    }

    /// Reads the text form back; the inverse of `Display`.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "identity" {
            return Some(Self::Identity);
        }
        let (kind, name) = text.split_once(':')?;
        let name = name.to_owned();
        Some(match kind {
            "install-config" => Self::Config(name.into()),
            "file" => Self::File(name),
            "folder" => Self::Folder(name.into()),
            "generation" => Self::Generation(name),
            "inventory" => Self::Inventory(name.into()),
            "issued" => Self::Issued(name),
            "release" => Self::Release(Facet::parse(&name)?),
            "secret" => Self::Secret(name),
            _ => return None,
        })
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(path) => write!(f, "install-config:{path}"),
            Self::File(path) => write!(f, "file:{path}"),
            Self::Folder(path) => write!(f, "folder:{path}"),
            Self::Generation(host) => write!(f, "generation:{host}"),
            Self::Identity => f.write_str("identity"),
            Self::Inventory(path) => write!(f, "inventory:{path}"),
            Self::Issued(name) => write!(f, "issued:{name}"),
            Self::Release(facet) => write!(f, "release:{facet}"),
            Self::Secret(name) => write!(f, "secret:{name}"),
        }
    }
}

/// Hashes of sources as they are now. Keyed: the hash of a short secret must not give it away.
pub struct Fingerprints<'a> {
    inputs: Inputs<'a>,
    config: Value,
    inventory: Value,
    /// Hashes of everything but files, which alone change during a run: most sources have many readers.
    known: RefCell<BTreeMap<Source, String>>,
}

impl<'a> Fingerprints<'a> {
    /// For one state of the inputs.
    pub fn new(inputs: Inputs<'a>) -> Self {
        let config = serde_json::to_value(&inputs.cluster.config).unwrap_or_default();
        let inventory = serde_json::to_value(&inputs.cluster.inventory).unwrap_or_default();
        Self { inputs, config, inventory, known: RefCell::default() }
    }

    /// A folder becomes the files in it; everything else stays.
    pub fn expand(&self, sources: Vec<Source>, tree: &crate::Tree) -> Vec<Source> {
        let mut all: Vec<Source> = sources
            .into_iter()
            .flat_map(|source| match source {
                Source::Folder(folder) => tree.folder(&folder).map(|(path, _)| Source::file(path)).collect(),
                other => vec![other],
            })
            .collect();
        all.sort();
        all.dedup();
        all
    }

    /// The hash of one source. Of an absent one, the hash of nothing.
    pub fn of(&self, source: &Source, tree: &crate::Tree) -> String {
        if matches!(source, Source::File(_)) {
            return self.hash(source, tree);
        }
        let mut known = self.known.borrow_mut();
        known.entry(source.clone()).or_insert_with(|| self.hash(source, tree)).clone()
    }

    /// The hash over all sources of an asset.
    pub fn combine(&self, hashes: &[(Source, String)]) -> String {
        let mut hash = self.keyed();
        for (source, value) in hashes {
            hash.update(format!("{source}\n{value}\n"));
        }
        short(hash)
    }

    fn hash(&self, source: &Source, tree: &crate::Tree) -> String {
        let mut hash = self.keyed();
        match source {
            Source::Config(path) => {
                hash.update(at(&self.config, path).to_string());
                if path.is_empty() || path == "pullSecret" {
                    hash.update(self.inputs.cluster.config.pull_secret.expose());
                }
            }
            Source::File(path) => hash.update(tree.get(path).unwrap_or_default()),
            Source::Folder(_) => {}
            Source::Generation(host) => {
                hash.update(self.inputs.cluster.identity.generation(host).to_string());
            }
            Source::Identity => {
                hash.update(&self.inputs.cluster.identity.cluster_id);
                hash.update(&self.inputs.cluster.identity.infra_id);
                hash.update(self.inputs.cluster.identity.created.to_string());
            }
            Source::Inventory(path) => hash.update(at(&self.inventory, path).to_string()),
            Source::Issued(name) => hash.update(self.inputs.cluster.identity.issued(name).to_string()),
            Source::Release(facet) => self.release(facet, &mut hash),
            Source::Secret(name) => {
                hash.update(
                    self.inputs.secrets.get(name).map(hardway_base::Secret::expose).unwrap_or_default(),
                );
            }
        }
        short(hash)
    }

    fn keyed(&self) -> Sha256 {
        Sha256::new().chain_update(&self.inputs.cluster.identity.fingerprint_key).chain_update(b"\0")
    }

    fn release(&self, facet: &Facet, hash: &mut Sha256) {
        let release = self.inputs.release;
        match facet {
            Facet::Architecture => hash.update(&release.architecture),
            Facet::Crds => {
                release.crds.iter().for_each(|crd| hash.update(format!("{}\n{}\n", crd.file_name, crd.text)));
            }
            Facet::FeatureGates => hash.update(format!("{:?}", release.feature_gates)),
            Facet::Image => hash.update(&release.image),
            Facet::ImagePolicies => release
                .image_policies
                .iter()
                .for_each(|policy| hash.update(format!("{}\n{}\n", policy.file_name, policy.text))),
            Facet::Images => {
                release.images.iter().for_each(|(name, image)| hash.update(format!("{name}={image}\n")));
            }
            Facet::ComponentImage(name) => hash.update(release.images.get(name).unwrap_or_default()),
            Facet::Rendered(pool) => {
                hash.update(
                    release.rendered.get(pool).map(|r| r.machine_config.to_string()).unwrap_or_default(),
                );
            }
            Facet::Version => hash.update(&release.version),
        }
    }
}

/// The value at a dotted path; null where there is none.
fn at<'v>(value: &'v Value, path: &str) -> &'v Value {
    path.split('.').filter(|step| !step.is_empty()).fold(value, |value, step| &value[step])
}

/// Sixteen hexadecimal digits tell sources apart; nobody attacks a hash that is keyed by their own secret.
fn short(hash: Sha256) -> String {
    hex::encode(&hash.finalize()[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facets_read_back_and_are_ordered_as_their_names_are() {
        let parts = [Facet::ComponentImage("etcd".to_owned()), Facet::Rendered("master".to_owned())];
        let mut all: Vec<Facet> = Facet::FETCHED.into_iter().chain(parts).collect();
        all.sort();
        assert!(all.iter().is_sorted_by_key(ToString::to_string));
        for facet in all {
            assert_eq!(Facet::parse(&facet.to_string()), Some(facet));
        }
        assert_eq!(Source::parse("release:colour"), None);
    }
}
