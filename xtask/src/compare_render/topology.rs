//! Clusters to compare in, made by hardway from the inputs of the goldens' scenarios.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use hardway_assets::release_payload::VersionContract;
use serde_json::Value;

/// One of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Topology {
    /// As in `crates/hardway-assets/tests/scenarios`.
    pub(super) name: &'static str,
    /// The bootstrap host's name and addresses there.
    host: &'static str,
    addresses: &'static [&'static str],
}

const HOST: &str = "bootstrap.ocp4.example.com";

/// The five.
pub(super) const TOPOLOGIES: [Topology; 5] = [
    Topology { name: "ha", host: HOST, addresses: &["192.168.126.100/24"] },
    Topology { name: "compact", host: HOST, addresses: &["192.168.126.100/24"] },
    Topology { name: "single-node", host: HOST, addresses: &["192.168.126.100/24"] },
    Topology { name: "dual-stack", host: HOST, addresses: &["192.168.126.100/24", "fd00:126::100/64"] },
    Topology { name: "ipv6", host: HOST, addresses: &["fd00:126::100/64"] },
];

/// What hardway made of it.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) folder: PathBuf,
    pub(super) host: String,
    /// With spaces between them.
    pub(super) addresses: String,
    version: String,
    images: Value,
}

impl Topology {
    /// Makes all files, of the sample release under another version.
    pub(super) fn make(&self, hardway: &Path, minor: &str, work: &Path) -> Result<Site> {
        let folder = work.join("ours");
        let scenario = crate::repository().join("crates/hardway-assets/tests/scenarios").join(self.name);
        fs_err::create_dir_all(&folder)?;
        for name in ["install-config.yaml", "inventory.yaml"] {
            fs_err::copy(scenario.join(name), folder.join(name))?;
        }
        let call = |words: &[&str]| -> Result<()> {
            let output = Command::new(hardway).args(words).arg("--dir").arg(&folder).output()?;
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            ensure!(output.status.success(), "hardway {}: {}", words.join(" "), said.trim());
            Ok(())
        };
        call(&["create", "manifests"])?;
        let release = work.join("release");
        fs_err::rename(folder.join("release"), &release)?;
        let version = full_version(minor);
        for (name, field) in [("release-metadata", "/version"), ("image-references", "/metadata/name")] {
            let path = release.join(name);
            let mut file: Value = serde_json::from_slice(&fs_err::read(&path)?)?;
            *file.pointer_mut(field).with_context(|| format!("{name} has no {field}"))? =
                version.as_str().into();
            fs_err::write(&path, file.to_string())?;
        }
        // From scratch: what is there was made for the other version.
        for name in ["manifests", "openshift", "operator-seeds", "static-pods"] {
            let _ = fs_err::remove_dir_all(folder.join(name));
        }
        call(&["create", "ignition-configs", "--release-dir", &release.display().to_string()])?;
        gather_keys(&folder)?;
        // Bootstrap hosts have both in one folder.
        for entry in fs_err::read_dir(folder.join("openshift"))? {
            let path = entry?.path();
            fs_err::copy(&path, folder.join("manifests").join(path.file_name().unwrap_or_default()))?;
        }
        let images = serde_json::from_slice(&fs_err::read(folder.join("release/image-references"))?)?;
        let (host, addresses) = (self.host.to_owned(), self.addresses.join(" "));
        Ok(Site { folder, host, addresses, version, images })
    }
}

/// `4.20-okd` → a version that says so.
fn full_version(minor: &str) -> String {
    match minor.split_once('-') {
        Some((minor, kind)) => format!("{minor}.0-{kind}-scos.1"),
        None => format!("{minor}.0"),
    }
}

/// Certificates and keys side by side in `tls/`, as on a bootstrap host.
fn gather_keys(folder: &Path) -> Result<()> {
    let tls = folder.join("tls");
    fs_err::create_dir_all(&tls)?;
    for from in ["pki", "secrets"] {
        for entry in fs_err::read_dir(folder.join(from))? {
            let path = entry?.path();
            if path
                .extension()
                .is_some_and(|ending| ["crt", "key", "pub"].iter().any(|known| ending == *known))
            {
                fs_err::copy(&path, tls.join(path.file_name().unwrap_or_default()))?;
            }
        }
    }
    Ok(())
}

impl Site {
    /// A flag with this site's words in it.
    pub(super) fn filled(&self, flag: &str, out: &Path, templates: &Path) -> Result<String> {
        let Some((name, value)) = flag.split_once('=') else { return Ok(flag.to_owned()) };
        let below =
            |mark: &str, folder: &Path| Some(format!("{}{}", folder.display(), value.strip_prefix(mark)?));
        let image = value.strip_prefix("IMAGE(").and_then(|rest| rest.strip_suffix(')'));
        let value = match (value, image) {
            (_, Some(image)) => self.image(image)?,
            ("VERSION", _) => self.version.clone(),
            ("KUBERNETES", _) => format!("1.{}.0", VersionContract::new(&self.version)?.kubernetes_minor()),
            (plain, _) => below("ASSETS", &self.folder)
                .or_else(|| below("OUT", out))
                .or_else(|| below("TEMPLATES", templates))
                .unwrap_or_else(|| plain.to_owned()),
        };
        Ok(format!("{name}={value}"))
    }

    fn image(&self, name: &str) -> Result<String> {
        let tags = self.images["spec"]["tags"].as_array().context("image-references has no tags")?;
        let tag = tags
            .iter()
            .find(|tag| tag["name"] == name)
            .with_context(|| format!("the release has no {name}"))?;
        Ok(tag["from"]["name"].as_str().unwrap_or_default().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topology_is_a_scenario_with_such_a_host() {
        for topology in TOPOLOGIES {
            let path = crate::repository()
                .join("crates/hardway-assets/tests/scenarios")
                .join(topology.name)
                .join("inventory.yaml");
            let inventory = fs_err::read_to_string(path).unwrap();
            for address in topology.addresses {
                let address = address.split('/').next().unwrap();
                assert!(inventory.contains(address), "{}: {address}", topology.name);
            }
        }
    }

    #[test]
    fn versions_are_whole_and_flags_filled() {
        assert_eq!(
            (full_version("4.20"), full_version("4.20-okd")),
            ("4.20.0".to_owned(), "4.20.0-okd-scos.1".to_owned())
        );
        let images = serde_json::json!({"spec": {"tags": [{"name": "etcd", "from": {"name": "quay.io/etcd@sha256:1"}}]}});
        let site = Site {
            folder: "/a".into(),
            host: String::new(),
            addresses: String::new(),
            version: "4.20.0".to_owned(),
            images,
        };
        let filled = |flag: &str| {
            site.filled(flag, Path::new("/out"), Path::new("/templates")).map_err(|error| error.to_string())
        };
        assert_eq!(filled("etcd-image=IMAGE(etcd)").unwrap(), "etcd-image=quay.io/etcd@sha256:1");
        assert_eq!(filled("x=ASSETS/y").unwrap(), "x=/a/y");
        assert_eq!(filled("v=KUBERNETES").unwrap(), "v=1.33.0");
        assert_eq!(filled("image=IMAGE(pod)").unwrap_err(), "the release has no pod");
    }
}
