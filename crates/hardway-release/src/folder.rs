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
use std::path::Path;

use hardway_assets::release_payload::{ReleasePayload, RenderedConfig};

use crate::folder_error::{Fault, FolderError, Reason};
use crate::payload_reader::Reader;
use crate::release_files::Folder;

/// Reads a release folder that has a `release-image` file.
pub fn read_folder(dir: &Path) -> Result<ReleasePayload, FolderError> {
    let error = |faults| FolderError { dir: dir.to_owned(), faults };
    if let Err(reason) = fs_err::read_dir(dir) {
        return Err(error(vec![Fault { file: ".".to_owned(), reason: Reason::Unreadable(reason.kind()) }]));
    }
    Reader::new(&Folder(dir)).read(None).map_err(error)
}

/// Reads what was rendered for the nodes and is kept in a release folder, whatever else lies there: by pool, and none
/// where nothing was rendered.
pub fn read_kept_rendered(dir: &Path) -> Result<BTreeMap<String, RenderedConfig>, FolderError> {
    Reader::new(&Folder(dir)).rendered_only().map_err(|faults| FolderError { dir: dir.to_owned(), faults })
}
