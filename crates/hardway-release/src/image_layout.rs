//! Images in a folder (OCI image-spec `image-layout.md`).

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use hardway_base::files::{self, Replacement};
use serde_json::{Value, json};

use crate::blob_cache::hash;
use crate::digest::Digest;
use crate::pull_spec::PullSpec;
use crate::registry::{Descriptor, Manifest, OCI_INDEX, RegistryError};

/// The folder, with `index.json` naming what is in it.
pub(crate) struct ImageLayout {
    root: PathBuf,
    /// One writer of `index.json` at a time.
    index: Mutex<()>,
}

/// An image of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LayoutEntry {
    pub(crate) digest: Digest,
    pub(crate) tag: String,
    /// The repository it came from, without mirrors.
    pub(crate) source: String,
}

const TAG: &str = "org.opencontainers.image.ref.name";
/// Ours, to be able to tell the `imageDigestSources` later.
const SOURCE: &str = "hardway/source";
/// What `oci-layout` says.
pub(crate) const LAYOUT: &[u8] = br#"{"imageLayoutVersion":"1.0.0"}"#;

/// `index.json` with these entries.
pub(crate) fn index(entries: &Value) -> Vec<u8> {
    let index = json!({"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": entries});
    format!("{index:#}\n").into_bytes()
}

/// An image as `index.json` names it.
pub(crate) fn index_entry(media_type: &str, digest: &Digest, size: u64, tag: &str, source: &str) -> Value {
    json!({
        "mediaType": media_type, "digest": digest.to_string(), "size": size, "annotations": {TAG: tag, SOURCE: source},
    })
}

impl ImageLayout {
    /// Makes the folder, or goes on with one.
    pub(crate) fn create(root: &Path) -> io::Result<Self> {
        let layout = Self { root: root.to_owned(), index: Mutex::new(()) };
        fs_err::create_dir_all(root.join("blobs/sha256"))?;
        layout.write(&root.join("oci-layout"), LAYOUT)?;
        if !root.join("index.json").exists() {
            layout.write_index(&[])?;
        }
        Ok(layout)
    }

    /// A folder that is there.
    pub(crate) fn open(root: &Path) -> Result<Self, RegistryError> {
        let layout = Self { root: root.to_owned(), index: Mutex::new(()) };
        layout.entries()?;
        Ok(layout)
    }

    /// Where a blob is.
    pub(crate) fn path(&self, digest: &Digest) -> PathBuf {
        self.root.join("blobs/sha256").join(digest.hex())
    }

    /// The path of a blob of which the bytes are right.
    pub(crate) fn checked(&self, blob: &Descriptor) -> Result<PathBuf, RegistryError> {
        let path = self.path(&blob.digest);
        let found = hash(&path)?;
        if found == blob.digest {
            return Ok(path);
        }
        let (what, expected) = (path.display().to_string(), blob.digest.clone());
        Err(RegistryError::DigestMismatch { what, expected, found: found.to_string() })
    }

    /// Whether an image is there: the index names it only once all of it is.
    pub(crate) fn has(&self, digest: &Digest, tag: &str) -> io::Result<bool> {
        Ok(self
            .index()?
            .iter()
            .any(|entry| entry["digest"] == digest.to_string() && entry["annotations"][TAG] == tag))
    }

    /// Takes a blob of the cache; by a link where that is possible, which costs no space.
    pub(crate) fn put_file(&self, digest: &Digest, from: &Path) -> io::Result<()> {
        let to = self.path(digest);
        if to.exists() && hash(&to)? == *digest {
            return Ok(());
        }
        match fs_err::remove_file(&to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        if fs_err::hard_link(from, &to).is_ok() {
            return Ok(());
        }
        let mut file = Replacement::begin(&to, 0o600)?;
        io::copy(&mut fs_err::File::open(from)?, &mut file)?;
        file.commit()
    }

    /// Takes a manifest; with a tag, the index names it.
    pub(crate) fn put_manifest(
        &self,
        manifest: &Manifest,
        tag: Option<&str>,
        source: &str,
    ) -> io::Result<()> {
        self.write(&self.path(&manifest.digest), &manifest.bytes)?;
        let Some(tag) = tag else { return Ok(()) };
        let _one_at_a_time =
            self.index.lock().map_err(|_| io::Error::other("a writer of the index has failed"))?;
        let mut entries = self.index()?;
        entries.retain(|entry| entry["annotations"][TAG] != tag);
        let Manifest { media_type, digest, bytes, .. } = manifest;
        entries.push(index_entry(media_type, digest, bytes.len() as u64, tag, source));
        self.write_index(&entries)
    }

    /// A manifest of the folder, checked.
    pub(crate) fn manifest(&self, image: &PullSpec, digest: &Digest) -> Result<Manifest, RegistryError> {
        let bytes = fs_err::read(self.path(digest))?;
        let manifest = Manifest::read(&image.at(digest), bytes)?;
        if manifest.digest == *digest {
            return Ok(manifest);
        }
        let (what, found) = (self.path(digest).display().to_string(), manifest.digest.to_string());
        Err(RegistryError::DigestMismatch { what, expected: digest.clone(), found })
    }

    /// What the index names.
    pub(crate) fn entries(&self) -> Result<Vec<LayoutEntry>, RegistryError> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let entry = |value: Value| {
            let digest = text(&value["digest"]).parse().map_err(|error: crate::digest::DigestError| {
                RegistryError::Malformed {
                    what: self.root.join("index.json").display().to_string(),
                    detail: error.to_string(),
                }
            })?;
            let annotations = &value["annotations"];
            Ok(LayoutEntry { digest, tag: text(&annotations[TAG]), source: text(&annotations[SOURCE]) })
        };
        self.index()?.into_iter().map(entry).collect()
    }

    fn index(&self) -> io::Result<Vec<Value>> {
        let bytes = fs_err::read(self.root.join("index.json"))?;
        let mut index: Value = serde_json::from_slice(&bytes)?;
        match index["manifests"].take() {
            Value::Array(entries) => Ok(entries),
            _ => Err(io::Error::new(io::ErrorKind::InvalidData, "index.json has no manifests")),
        }
    }

    fn write_index(&self, entries: &[Value]) -> io::Result<()> {
        self.write(&self.root.join("index.json"), &index(&json!(entries)))
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        files::replace(path, 0o600, bytes)
    }
}
