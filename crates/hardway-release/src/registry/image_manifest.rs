//! Manifests of images and of lists of images (OCI image-spec, docker schema 2).

use serde_json::Value;

use super::RegistryError;
use crate::digest::Digest;
use crate::pull_spec::PullSpec;

pub(crate) const DOCKER_LIST: &str = "application/vnd.docker.distribution.manifest.list.v2+json";
pub(crate) const OCI_INDEX: &str = "application/vnd.oci.image.index.v1+json";
pub(crate) const DOCKER_IMAGE: &str = "application/vnd.docker.distribution.manifest.v2+json";
const OCI_IMAGE: &str = "application/vnd.oci.image.manifest.v1+json";
/// Media types asked for, in oc's order.
pub(crate) const ACCEPTED: [&str; 4] = [DOCKER_LIST, OCI_INDEX, DOCKER_IMAGE, OCI_IMAGE];

/// A manifest with the bytes its digest is of.
#[derive(Clone, Debug)]
pub(crate) struct Manifest {
    pub(crate) bytes: Vec<u8>,
    pub(crate) digest: Digest,
    pub(crate) media_type: String,
    pub(crate) content: ManifestContent,
}

/// One image or several.
#[derive(Clone, Debug)]
pub(crate) enum ManifestContent {
    Image { config: Descriptor, layers: Vec<Descriptor> },
    List(Vec<ListEntry>),
}

/// A blob as a manifest names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Of its bytes.
    pub digest: Digest,
    /// In bytes.
    pub size: u64,
}

/// An image in a list.
#[derive(Clone, Debug)]
pub(crate) struct ListEntry {
    pub(crate) image: Descriptor,
    /// `linux/amd64`, or `linux/arm64/v8`.
    pub(crate) platform: String,
}

/// No manifest of a release comes near this.
pub(crate) const MANIFEST_LIMIT: usize = 4 << 20;

impl Manifest {
    /// Reads a manifest of which the bytes were checked.
    pub(crate) fn read(image: &PullSpec, bytes: Vec<u8>) -> Result<Self, RegistryError> {
        let malformed = |detail: &str| RegistryError::Malformed {
            what: format!("the manifest of {image}"),
            detail: detail.to_owned(),
        };
        if bytes.len() > MANIFEST_LIMIT {
            return Err(malformed("it is larger than any manifest"));
        }
        let json: Value = serde_json::from_slice(&bytes).map_err(|error| malformed(&error.to_string()))?;
        if json["schemaVersion"] != 2 {
            return Err(malformed("it is not of schema version 2"));
        }
        let content = if json["manifests"].is_array() { list(&json) } else { single(&json) };
        let content =
            content.map_err(|BadField(field)| malformed(&format!("{field} is missing or wrong")))?;
        let media_type = match (json["mediaType"].as_str(), &content) {
            (Some(text), _) if ACCEPTED.contains(&text) => text,
            (Some(text), _) => return Err(malformed(&format!("media type {text:?} is not of an image"))),
            // Only OCI may leave it out.
            (None, ManifestContent::List(_)) => ACCEPTED[1],
            (None, ManifestContent::Image { .. }) => ACCEPTED[3],
        };
        Ok(Self { digest: Digest::of(&bytes), media_type: media_type.to_owned(), content, bytes })
    }

    /// The images of a list.
    pub(crate) fn children(&self) -> impl Iterator<Item = &Descriptor> {
        let list = match &self.content {
            ManifestContent::List(list) => list.as_slice(),
            ManifestContent::Image { .. } => &[],
        };
        list.iter().map(|entry| &entry.image)
    }

    /// Config and layers of an image.
    pub(crate) fn blobs(&self) -> impl Iterator<Item = &Descriptor> {
        let (config, layers) = match &self.content {
            ManifestContent::Image { config, layers } => (Some(config), layers.as_slice()),
            ManifestContent::List(_) => (None, &[][..]),
        };
        config.into_iter().chain(layers)
    }
}

/// The entry of a list for `linux/<architecture>`, whatever the variant.
pub(crate) fn choose<'l>(
    image: &PullSpec,
    list: &'l [ListEntry],
    architecture: &str,
) -> Result<&'l ListEntry, RegistryError> {
    let wanted = format!("linux/{architecture}");
    let fits = |entry: &&ListEntry| {
        entry.platform.strip_prefix(&wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    list.iter().find(fits).ok_or_else(|| RegistryError::NoSuchPlatform {
        image: Box::new(image.clone()),
        wanted,
        there: list.iter().map(|entry| entry.platform.clone()).collect(),
    })
}

/// The path of a field that is absent or not what it should be.
struct BadField(String);

fn single(json: &Value) -> Result<ManifestContent, BadField> {
    let config = descriptor(&json["config"], "config")?;
    let layers = json["layers"]
        .as_array()
        .filter(|layers| !layers.is_empty())
        .ok_or_else(|| BadField("layers".to_owned()))?;
    let layers = layers
        .iter()
        .enumerate()
        .map(|(i, layer)| descriptor(layer, &format!("layers[{i}]")))
        .collect::<Result<_, _>>()?;
    Ok(ManifestContent::Image { config, layers })
}

fn list(json: &Value) -> Result<ManifestContent, BadField> {
    let entries = json["manifests"].as_array().map(Vec::as_slice).unwrap_or_default();
    let entry = |(i, entry): (usize, &Value)| {
        let platform = &entry["platform"];
        let text = |key: &str| platform[key].as_str().unwrap_or("unknown");
        let mut name = format!("{}/{}", text("os"), text("architecture"));
        if let Some(variant) = platform["variant"].as_str().filter(|v| !v.is_empty()) {
            name = format!("{name}/{variant}");
        }
        Ok(ListEntry { image: descriptor(entry, &format!("manifests[{i}]"))?, platform: name })
    };
    Ok(ManifestContent::List(entries.iter().enumerate().map(entry).collect::<Result<_, BadField>>()?))
}

fn descriptor(json: &Value, field: &str) -> Result<Descriptor, BadField> {
    let digest = json["digest"].as_str().and_then(|text| text.parse().ok());
    let digest = digest.ok_or_else(|| BadField(format!("{field}.digest")))?;
    let size = json["size"].as_u64().ok_or_else(|| BadField(format!("{field}.size")))?;
    Ok(Descriptor { digest, size })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(json: &Value) -> Result<Manifest, RegistryError> {
        Manifest::read(&"quay.io/a/b:1".parse().unwrap(), json.to_string().into_bytes())
    }

    fn blob(size: u64) -> Value {
        json!({"digest": Digest::of(b"x").to_string(), "size": size})
    }

    #[test]
    fn images_and_lists_are_told_apart() {
        let image =
            read(&json!({"schemaVersion": 2, "config": blob(1), "layers": [blob(2), blob(3)]})).unwrap();
        assert!(matches!(&image.content, ManifestContent::Image { layers, .. } if layers[1].size == 3));
        assert_eq!(image.media_type, ACCEPTED[3]);
        let mut arm = blob(5);
        arm["platform"] = json!({"os": "linux", "architecture": "arm64", "variant": "v8"});
        let mut amd = blob(6);
        amd["platform"] = json!({"os": "linux", "architecture": "amd64"});
        let list =
            read(&json!({"schemaVersion": 2, "mediaType": ACCEPTED[0], "manifests": [arm, amd]})).unwrap();
        let ManifestContent::List(entries) = &list.content else { panic!() };
        let image = "quay.io/a/b:1".parse().unwrap();
        assert_eq!(choose(&image, entries, "arm64").unwrap().image.size, 5);
        assert_eq!(choose(&image, entries, "amd64").unwrap().image.size, 6);
        assert_eq!(
            choose(&image, entries, "s390x").unwrap_err().to_string(),
            "quay.io/a/b:1 is not built for linux/s390x; it is for linux/arm64/v8, linux/amd64"
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (manifest, detail) in [
            (json!({"schemaVersion": 1}), "it is not of schema version 2"),
            (json!({"schemaVersion": 2, "config": {}, "layers": []}), "config.digest is missing or wrong"),
            (json!({"schemaVersion": 2, "config": blob(1), "layers": []}), "layers is missing or wrong"),
            (
                json!({"schemaVersion": 2, "config": blob(1), "layers": [{"digest": "md5:1"}]}),
                "layers[0].digest is missing or wrong",
            ),
            (
                json!({"schemaVersion": 2, "mediaType": "text/plain", "manifests": []}),
                "media type \"text/plain\" is not of an image",
            ),
        ] {
            assert_eq!(
                read(&manifest).unwrap_err().to_string(),
                format!("the manifest of quay.io/a/b:1 is malformed: {detail}")
            );
        }
    }
}
