//! Reading a release from a folder.
//!
//! The layout is that of `oc adm release extract`, with what that leaves out beside it:
//!
//! ```text
//! image-references          ImageStream, JSON
//! release-metadata          version, JSON
//! release-image             the pull spec of the release, by digest
//! release-architecture      amd64, arm64, ppc64le or s390x; not needed for a multi-architecture release
//! *.yaml *.yml *.json       the manifests; also in manifests/ and crds/
//! rendered/                 MachineConfigs of the node render, if it ran
//! ```
//!
//! The cluster-version-operator's own CRDs are not among what `oc` extracts: they are in `/manifests` of the release
//! image and belong beside the others. Nothing missing is guessed.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use hardway_assets::release_payload::{ReleasePayload, RenderedConfig, VersionContract};

use crate::folder_error::{Fault, FolderError, Reason};
use crate::image_references::ImageReferences;
use crate::payload_manifests::PayloadManifests;
use crate::pull_spec::is_by_digest;
use crate::release_metadata::ReleaseMetadata;
use crate::rendered_config::rendered_config;

/// Without these two the cluster-version-operator does not start (its informers wait for them).
const REQUIRED_CRDS: [&str; 2] =
    ["clusterversions.config.openshift.io", "clusteroperators.config.openshift.io"];
/// Go's names of the architectures OpenShift is built for.
const ARCHITECTURES: [&str; 4] = ["amd64", "arm64", "ppc64le", "s390x"];

/// Reads a release folder that has a `release-image` file.
pub fn read_folder(dir: &Path) -> Result<ReleasePayload, FolderError> {
    Reader::new(dir).read(None)
}

/// Reads a release folder of which the pull spec is known. A `release-image` file there must agree.
pub fn read_folder_of(dir: &Path, image: &str) -> Result<ReleasePayload, FolderError> {
    Reader::new(dir).read(Some(image))
}

/// Reads on after a fault, so that one run tells them all.
struct Reader<'d> {
    dir: &'d Path,
    faults: Vec<Fault>,
}

impl<'d> Reader<'d> {
    fn new(dir: &'d Path) -> Self {
        Self { dir, faults: Vec::new() }
    }

    fn read(mut self, given: Option<&str>) -> Result<ReleasePayload, FolderError> {
        if let Err(error) = fs_err::read_dir(self.dir) {
            self.fault(".", Reason::Unreadable(error.kind()));
            return Err(self.error());
        }
        let references = self.parse("image-references", ImageReferences::read);
        let metadata = self.parse("release-metadata", ReleaseMetadata::read);
        if let (Some(references), Some(metadata)) = (&references, &metadata) {
            self.same_version(references, metadata);
        }
        let image = self.image(given);
        let architecture = self.architecture(metadata.as_ref());
        let manifests = self.manifests(metadata.as_ref());
        let rendered = self.rendered();
        match (references, metadata, image, architecture) {
            (Some(references), Some(metadata), Some(image), Some(architecture)) if self.faults.is_empty() => {
                let (crds, feature_gates) = manifests.into_parts();
                Ok(ReleasePayload {
                    image,
                    version: metadata.version,
                    architecture,
                    is_sample: metadata.is_sample,
                    images: references.images,
                    crds,
                    feature_gates,
                    rendered,
                })
            }
            _ => Err(self.error()),
        }
    }

    /// The cluster-version-operator refuses a payload where these differ.
    fn same_version(&mut self, references: &ImageReferences, metadata: &ReleaseMetadata) {
        if references.version != metadata.version {
            let expected = format!("{} as in release-metadata", metadata.version);
            let field = "metadata.name".to_owned();
            let found = references.version.clone();
            self.fault("image-references", Reason::Unexpected { field, expected, found });
        }
    }

    fn image(&mut self, given: Option<&str>) -> Option<String> {
        let written = match (self.optional_text("release-image"), given) {
            (None, None) => {
                self.fault("release-image", Reason::Missing("put the release's pull spec by digest there"));
                return None;
            }
            (written, _) => written,
        };
        let written = written.as_deref().map(str::trim);
        if let (Some(written), Some(given)) = (written, given)
            && written != given
        {
            let field = "the pull spec".to_owned();
            let (expected, found) = (format!("{given} as asked for"), written.to_owned());
            self.fault("release-image", Reason::Unexpected { field, expected, found });
            return None;
        }
        let image = given.or(written)?.to_owned();
        if is_by_digest(&image) {
            return Some(image);
        }
        let name = "release image".to_owned();
        self.fault("release-image", Reason::NotByDigest { name, pull_spec: image });
        None
    }

    fn architecture(&mut self, metadata: Option<&ReleaseMetadata>) -> Option<String> {
        let metadata = metadata?;
        if metadata.is_multi {
            return Some("multi".to_owned());
        }
        let Some(text) = self.optional_text("release-architecture") else {
            let hint = "release-metadata does not tell; put amd64, arm64, ppc64le or s390x there";
            self.fault("release-architecture", Reason::Missing(hint));
            return None;
        };
        let found = text.trim().to_owned();
        if ARCHITECTURES.contains(&found.as_str()) {
            return Some(found);
        }
        let (field, expected) = ("the architecture".to_owned(), ARCHITECTURES.join(", "));
        self.fault("release-architecture", Reason::Unexpected { field, expected, found });
        None
    }

    fn manifests(&mut self, metadata: Option<&ReleaseMetadata>) -> PayloadManifests {
        let major = metadata.and_then(|m| VersionContract::new(&m.version).ok()).map(|v| v.major());
        let mut manifests = PayloadManifests::default();
        for folder in ["", "manifests/", "crds/"] {
            for path in self.manifest_paths(folder) {
                let Some(text) = self.optional_text(&path) else { continue };
                let reasons = manifests.add(&path, &text, major).err().unwrap_or_default();
                self.fault_all(&path, reasons);
            }
        }
        for crd in REQUIRED_CRDS {
            if !manifests.has_crd(crd) {
                let hint = "no manifest has this CRD; it is in /manifests of the release image";
                self.fault(crd, Reason::Missing(hint));
            }
        }
        if !manifests.has_gates("") {
            let hint = "no manifest lists the gates of the default feature set";
            self.fault("featureGate-SelfManagedHA-Default.yaml", Reason::Missing(hint));
        }
        manifests
    }

    fn rendered(&mut self) -> BTreeMap<String, RenderedConfig> {
        let mut rendered: BTreeMap<String, RenderedConfig> = BTreeMap::new();
        for path in self.manifest_paths("rendered/") {
            let Some((pool, config)) = self.parse(&path, rendered_config) else { continue };
            match rendered.get(&pool) {
                Some(other) if *other != config => {
                    let what = format!("the config of pool {pool}");
                    let other = format!("rendered/ as {}", other.name);
                    self.fault(&path, Reason::Conflict { what, other });
                }
                _ => {
                    rendered.insert(pool, config);
                }
            }
        }
        rendered
    }

    /// Manifests directly in a folder, sorted; none where there is no such folder.
    fn manifest_paths(&mut self, folder: &str) -> Vec<String> {
        let is_manifest = |name: &str| {
            !name.starts_with('.') && [".yaml", ".yml", ".json"].iter().any(|end| name.ends_with(end))
        };
        let entries = match fs_err::read_dir(self.dir.join(folder)) {
            Ok(entries) => entries.collect::<io::Result<Vec<_>>>(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        };
        let mut paths: Vec<_> = match entries {
            Ok(entries) => entries
                .iter()
                .filter(|entry| entry.path().is_file())
                .filter_map(|entry| entry.file_name().into_string().ok())
                .filter(|name| is_manifest(name))
                .map(|name| format!("{folder}{name}"))
                .collect(),
            Err(error) => {
                self.fault(folder, Reason::Unreadable(error.kind()));
                Vec::new()
            }
        };
        paths.sort();
        paths
    }

    fn parse<T>(&mut self, path: &str, read: impl Fn(&str) -> Result<T, Vec<Reason>>) -> Option<T> {
        let Some(text) = self.optional_text(path) else {
            // A file that is there but cannot be used was told already.
            if !self.faults.iter().any(|fault| fault.file == path) {
                self.fault(path, Reason::Missing("every release has it"));
            }
            return None;
        };
        match read(&text) {
            Ok(value) => Some(value),
            Err(reasons) => {
                self.fault_all(path, reasons);
                None
            }
        }
    }

    /// The text of a file; nothing where it is absent, or cannot be read, which is a fault.
    fn optional_text(&mut self, path: &str) -> Option<String> {
        let reason = match fs_err::read(self.dir.join(path)) {
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) => return Some(text),
                Err(_) => Reason::NotText,
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => Reason::Unreadable(error.kind()),
        };
        self.fault(path, reason);
        None
    }

    fn fault(&mut self, file: &str, reason: Reason) {
        self.faults.push(Fault { file: file.to_owned(), reason });
    }

    fn fault_all(&mut self, file: &str, reasons: Vec<Reason>) {
        reasons.into_iter().for_each(|reason| self.fault(file, reason));
    }

    fn error(self) -> FolderError {
        FolderError { dir: self.dir.to_owned(), faults: self.faults }
    }
}
