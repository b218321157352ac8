//! What is in a bundle: the first part of it, as JSON.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// The list of parts. Everything else in the file follows from it, byte by byte.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BundleContents {
    format: String,
    /// The release, by digest.
    pub release: String,
    /// Such as `4.18.1`.
    pub version: String,
    /// Go's name of it, or `multi`.
    pub architecture: String,
    /// Version of the program that wrote the bundle.
    pub hardway: String,
    /// Bundles that have what this one leaves out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<NeededBundle>,
    /// The images, those of lists not one by one.
    pub images: Vec<BundledImage>,
    /// What is in the file, in its order.
    pub parts: Vec<Part>,
    /// What is left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<Part>,
}

/// One file in the archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its path.
    pub name: String,
    /// In bytes.
    pub size: u64,
    /// Of its bytes.
    pub digest: Digest,
    /// What it is of, such as `layer 3 of etcd`.
    pub of: String,
}

/// An image, or the signature of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BundledImage {
    /// The tag in `image-references`, or `release`.
    pub name: String,
    /// The repository that everybody names it by.
    pub source: String,
    /// Its tag.
    pub tag: String,
    /// Of its manifest, or of the list.
    pub digest: Digest,
    /// Of that manifest.
    pub media_type: String,
    /// Of that manifest, in bytes.
    pub size: u64,
}

/// A bundle that another one was made after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeededBundle {
    /// The digest of its list of parts.
    pub id: Digest,
    /// The version of its release.
    pub version: String,
    /// Its release.
    pub release: String,
}

/// The first part's name.
pub(super) const CONTENTS: &str = "hardway-bundle.json";
/// The last part's name. It is not in the list.
pub(super) const SUM: &str = "hardway-bundle.sha256";
const FORMAT: &str = "hardway-bundle/1";
/// Of the list of parts. That of a release for four architectures has some 2 MiB.
pub(super) const LARGEST: u64 = 64 << 20;
/// What fits into the header of an archive's member without an extension.
const LONGEST_NAME: usize = 100;

pub(super) const README: &str = "README";
pub(super) const PROGRAM: &str = "hardway";
pub(super) const MEDIA: &str = "media/";
pub(super) const BLOBS: &str = "blobs/sha256/";
pub(super) const SIGNATURES: &str = "signatures/";

impl BundleContents {
    /// Of nothing yet.
    pub(super) fn new(release: String, version: String, architecture: String, hardway: &str) -> Self {
        Self {
            format: FORMAT.to_owned(),
            release,
            version,
            architecture,
            hardway: hardway.to_owned(),
            needs: Vec::new(),
            images: Vec::new(),
            parts: Vec::new(),
            elsewhere: Vec::new(),
        }
    }

    /// Reads what a file says about itself. Nothing in it is believed but what is checked here: names lead nowhere else.
    pub(super) fn read(json: &[u8]) -> Result<Self, String> {
        let contents: Self = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        if contents.format != FORMAT {
            return Err(format!("its format is {:?}, and this hardway reads {FORMAT:?}", contents.format));
        }
        for part in contents.parts.iter().chain(&contents.elsewhere) {
            part.check().map_err(|why| format!("part {:?}: {why}", part.name))?;
        }
        Ok(contents)
    }

    pub(super) fn to_json(&self) -> Vec<u8> {
        let mut json = serde_json::to_vec_pretty(self).unwrap_or_default();
        json.push(b'\n');
        json
    }

    /// Boot images and where they are: names as the release's metadata has them.
    pub fn media(&self) -> impl Iterator<Item = (&str, &Part)> {
        let parts = self.parts.iter().chain(&self.elsewhere);
        parts.filter_map(|part| Some((part.name.strip_prefix(MEDIA)?, part)))
    }

    /// Signatures of the release: `sha256=<hex>/signature-<n>`.
    pub fn signatures(&self) -> impl Iterator<Item = (&str, &Part)> {
        self.parts.iter().filter_map(|part| Some((part.name.strip_prefix(SIGNATURES)?, part)))
    }
}

impl Part {
    pub(super) fn blob(digest: &Digest, size: u64, of: String) -> Self {
        Self { name: format!("{BLOBS}{}", digest.hex()), size, digest: digest.clone(), of }
    }

    pub(super) fn of_bytes(name: impl Into<String>, bytes: &[u8], of: &str) -> Self {
        Self { name: name.into(), size: bytes.len() as u64, digest: Digest::of(bytes), of: of.to_owned() }
    }

    /// Whether another bundle that has the same may stand in for it.
    pub(super) fn may_be_elsewhere(&self) -> bool {
        self.name.starts_with(BLOBS) || self.name.starts_with(MEDIA)
    }

    /// As errors name it.
    pub(super) fn shown(&self) -> String {
        format!("{} ({})", self.name, self.of)
    }

    /// Whether it may be in a bundle.
    pub(super) fn check(&self) -> Result<(), String> {
        let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"._=-+".contains(&b);
        let are_names = self
            .name
            .split('/')
            .all(|word| !word.is_empty() && !word.starts_with('.') && word.bytes().all(is_plain));
        if !are_names || self.name.len() > LONGEST_NAME || [CONTENTS, SUM].contains(&self.name.as_str()) {
            return Err("no bundle has a part of that name".to_owned());
        }
        match self.name.strip_prefix(BLOBS) {
            Some(hex) if hex != self.digest.hex() => Err("its name is not that of its digest".to_owned()),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(part: Part) -> BundleContents {
        let mut contents =
            BundleContents::new("quay.io/a/b".into(), "4.18.1".into(), "amd64".into(), "0.1.0");
        contents.parts.push(part);
        contents
    }

    #[test]
    fn names_lead_nowhere_else() {
        let good = Part::of_bytes("media/rhcos-4.18.iso", b"x", "boot image");
        assert_eq!(BundleContents::read(&contents(good.clone()).to_json()).unwrap(), contents(good.clone()));
        let blob = Part::blob(&Digest::of(b"x"), 1, String::new()).name;
        for name in ["/etc/passwd", "media/../x", "a//b", "a/", "", ".x", "hardway-bundle.json", "a b", &blob]
        {
            let digest = Digest::of(b"another");
            let bad = contents(Part { name: name.to_owned(), digest, ..good.clone() });
            let why = BundleContents::read(&bad.to_json()).unwrap_err();
            assert!(why.contains(&format!("{name:?}")), "{why}");
        }
        let long = contents(Part { name: "x".repeat(101), ..good });
        assert!(BundleContents::read(&long.to_json()).is_err());
    }

    #[test]
    fn another_format_is_told() {
        let mut later = contents(Part::of_bytes("README", b"x", "a text"));
        later.format = "hardway-bundle/9".to_owned();
        let why = BundleContents::read(&later.to_json()).unwrap_err();
        assert_eq!(why, "its format is \"hardway-bundle/9\", and this hardway reads \"hardway-bundle/1\"");
    }
}
