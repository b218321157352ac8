//! From the files of a release, wherever they are, to its payload.
//!
//! A folder has the layout of `oc adm release extract`, with what that leaves out beside it:
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

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use hardway_assets::release_payload::{ReleasePayload, RenderedConfig, VersionContract};

use crate::fault::{Fault, FaultReason, FolderError, ReleaseError};
use crate::image_references::ImageReferences;
use crate::payload_manifests::{Parts, PayloadManifests, REQUIRED_CRDS};
use crate::pull_spec::is_by_digest;
use crate::release_files::{InMemory, ReleaseFiles, ReleaseFolder};
use crate::release_image::FetchedRelease;
use crate::release_metadata::ReleaseMetadata;
use crate::rendered_config::rendered_config;

/// Go's names of the architectures OpenShift is built for.
const ARCHITECTURES: [&str; 4] = ["amd64", "arm64", "ppc64le", "s390x"];

/// The payload of a fetched release, or everything that is wrong with it. Needs [`crate::Contents::Payload`].
pub fn payload(release: &FetchedRelease) -> Result<ReleasePayload, ReleaseError> {
    let mut files: BTreeMap<String, Cow<'_, [u8]>> =
        release.files.iter().map(|(name, bytes)| (name.clone(), Cow::Borrowed(&bytes[..]))).collect();
    // The other files there are templates, which the operator fills in for itself.
    let crds = release.own_manifests.iter().filter(|(name, _)| name.ends_with(".crd.yaml"));
    files.extend(crds.map(|(name, bytes)| (format!("manifests/{name}"), Cow::Borrowed(&bytes[..]))));
    // Not what an image holds: the folder reader's way of being told.
    files.remove("release-image");
    files.insert("release-architecture".to_owned(), Cow::Borrowed(release.architecture.as_bytes()));
    let image = release.image.to_string();
    Reader::new(&InMemory(files)).read(Some(&image)).map_err(|faults| ReleaseError { image, faults })
}

/// Reads a release folder that has a `release-image` file.
pub fn read_folder(dir: &Path) -> Result<ReleasePayload, FolderError> {
    let error = |faults| FolderError { dir: dir.to_owned(), faults };
    if let Err(reason) = fs_err::read_dir(dir) {
        return Err(error(vec![Fault {
            file: ".".to_owned(),
            reason: FaultReason::Unreadable(reason.kind()),
        }]));
    }
    Reader::new(&ReleaseFolder(dir)).read(None).map_err(error)
}

/// Reads what was rendered for the nodes and is kept in a release folder, whatever else lies there: by pool, and none
/// where nothing was rendered.
pub fn read_kept_rendered(dir: &Path) -> Result<BTreeMap<String, RenderedConfig>, FolderError> {
    Reader::new(&ReleaseFolder(dir))
        .rendered_only()
        .map_err(|faults| FolderError { dir: dir.to_owned(), faults })
}

/// Reads on after a fault, so that one run tells them all.
pub(crate) struct Reader<'f> {
    files: &'f dyn ReleaseFiles,
    faults: Vec<Fault>,
}

impl<'f> Reader<'f> {
    pub(crate) fn new(files: &'f dyn ReleaseFiles) -> Self {
        Self { files, faults: Vec::new() }
    }

    /// The payload, or everything that is wrong. `given` is the pull spec, where known.
    pub(crate) fn read(mut self, given: Option<&str>) -> Result<ReleasePayload, Vec<Fault>> {
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
                let Parts { crds, image_policies, boot_images, feature_gates } = manifests.into_parts();
                Ok(ReleasePayload {
                    image,
                    version: metadata.version,
                    architecture,
                    is_sample: metadata.is_sample,
                    stand_ins: metadata.stand_ins,
                    real: metadata.real,
                    images: references.images,
                    crds,
                    feature_gates,
                    image_policies,
                    boot_images,
                    rendered,
                })
            }
            _ => Err(self.faults),
        }
    }

    /// Only what was rendered for the nodes.
    pub(crate) fn rendered_only(mut self) -> Result<BTreeMap<String, RenderedConfig>, Vec<Fault>> {
        let rendered = self.rendered();
        if self.faults.is_empty() { Ok(rendered) } else { Err(self.faults) }
    }

    /// The cluster-version-operator refuses a payload where these differ.
    fn same_version(&mut self, references: &ImageReferences, metadata: &ReleaseMetadata) {
        if references.version != metadata.version {
            let expected = format!("{} as in release-metadata", metadata.version);
            let field = "metadata.name".to_owned();
            let found = references.version.clone();
            self.fault("image-references", FaultReason::Unexpected { field, expected, found });
        }
    }

    fn image(&mut self, given: Option<&str>) -> Option<String> {
        let Some(image) = given.map(str::to_owned).or_else(|| self.optional_text("release-image")) else {
            self.fault("release-image", FaultReason::Missing("add the release's pull spec by digest"));
            return None;
        };
        let image = image.trim().to_owned();
        if is_by_digest(&image) {
            return Some(image);
        }
        let name = "release image".to_owned();
        self.fault("release-image", FaultReason::NotByDigest { name, pull_spec: image });
        None
    }

    fn architecture(&mut self, metadata: Option<&ReleaseMetadata>) -> Option<String> {
        let metadata = metadata?;
        if metadata.is_multi {
            return Some("multi".to_owned());
        }
        let Some(text) = self.optional_text("release-architecture") else {
            let hint = "release-metadata does not name it; add amd64, arm64, ppc64le or s390x";
            self.fault("release-architecture", FaultReason::Missing(hint));
            return None;
        };
        let found = text.trim().to_owned();
        if ARCHITECTURES.contains(&found.as_str()) {
            return Some(found);
        }
        let (field, expected) = ("the architecture".to_owned(), ARCHITECTURES.join(", "));
        self.fault("release-architecture", FaultReason::Unexpected { field, expected, found });
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
                self.fault(crd, FaultReason::Missing(hint));
            }
        }
        if !manifests.has_gates("") {
            let hint = "no manifest lists the gates of the default feature set";
            self.fault("featureGate-SelfManagedHA-Default.yaml", FaultReason::Missing(hint));
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
                    self.fault(&path, FaultReason::Conflict { what, other });
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
        match self.files.list(folder) {
            Ok(names) => {
                names.iter().filter(|name| is_manifest(name)).map(|name| format!("{folder}{name}")).collect()
            }
            Err(error) => {
                self.fault(folder, FaultReason::Unreadable(error.kind()));
                Vec::new()
            }
        }
    }

    fn parse<T>(&mut self, path: &str, read: impl Fn(&str) -> Result<T, Vec<FaultReason>>) -> Option<T> {
        let Some(text) = self.optional_text(path) else {
            // A file that is there but cannot be used was told already.
            if !self.faults.iter().any(|fault| fault.file == path) {
                self.fault(path, FaultReason::Missing("every release has it"));
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
        let reason = match self.files.read(path) {
            Ok(Some(bytes)) => match String::from_utf8(bytes.into_owned()) {
                Ok(text) => return Some(text),
                Err(_) => FaultReason::NotText,
            },
            Ok(None) => return None,
            Err(error) => FaultReason::Unreadable(error.kind()),
        };
        self.fault(path, reason);
        None
    }

    fn fault(&mut self, file: &str, reason: FaultReason) {
        self.faults.push(Fault { file: file.to_owned(), reason });
    }

    fn fault_all(&mut self, file: &str, reasons: Vec<FaultReason>) {
        reasons.into_iter().for_each(|reason| self.fault(file, reason));
    }
}
