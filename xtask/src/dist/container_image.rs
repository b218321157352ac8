//! The container image, as an OCI archive: `podman load`, `skopeo copy oci-archive:…`. The program is all that is in it, and it is
//! not root.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use fs_err as fs;
use serde_json::{Value, json};

use super::Source;
use crate::said;

/// Nobody's: deploy/'s recipes run pods as it.
const USER: &str = "65532:65532";

pub(super) fn make(source: &Source, program: &Path, to: &Path) -> Result<()> {
    let work = tempfile::tempdir()?;
    let root = work.path().join("root");
    fs::create_dir_all(root.join("usr/bin"))?;
    said(Command::new("install").arg("--mode=0755").arg(program).arg(root.join("usr/bin/hardway")))?;

    let layout = work.path().join("layout");
    let blobs = layout.join("blobs/sha256");
    fs::create_dir_all(&blobs)?;
    let layer = work.path().join("layer.tar");
    archive(source, &root, &layer, &["usr"])?;
    let unpacked = digest(&layer)?;
    said(Command::new("gzip").args(["--no-name", "-6"]).arg(&layer))?;
    let layer = blob(
        &blobs,
        &fs::read(work.path().join("layer.tar.gz"))?,
        "application/vnd.oci.image.layer.v1.tar+gzip",
    )?;

    let created = jiff::Timestamp::from_second(i64::try_from(source.epoch)?)?.to_string();
    let config = json!({
        "architecture": "amd64",
        "os": "linux",
        "created": created,
        "config": {
            "User": USER,
            "Entrypoint": ["/usr/bin/hardway"],
            "Labels": {"org.opencontainers.image.title": "hardway", "org.opencontainers.image.version": source.version},
        },
        "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{unpacked}")]},
        "history": [{"created": created, "created_by": "cargo xtask dist"}],
    });
    let config = blob(&blobs, config.to_string().as_bytes(), "application/vnd.oci.image.config.v1+json")?;
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": config,
        "layers": [layer],
    });
    let mut manifest =
        blob(&blobs, manifest.to_string().as_bytes(), "application/vnd.oci.image.manifest.v1+json")?;
    manifest["annotations"] = json!({"org.opencontainers.image.ref.name": source.version});
    fs::write(layout.join("oci-layout"), json!({"imageLayoutVersion": "1.0.0"}).to_string())?;
    fs::write(layout.join("index.json"), json!({"schemaVersion": 2, "manifests": [manifest]}).to_string())?;
    let name = to.join(format!("hardway-{}-image.tar", source.version));
    archive(source, &layout, &name, &["blobs", "index.json", "oci-layout"])
}

/// The same files give the same archive: sorted, of one time, of nobody.
fn archive(source: &Source, folder: &Path, to: &Path, names: &[&str]) -> Result<()> {
    said(
        Command::new("tar")
            .args(["--create", "--format=ustar", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"])
            .args(["--mode=u=rwX,go=rX", &format!("--mtime=@{}", source.epoch)])
            .arg("--file")
            .arg(to)
            .arg("--directory")
            .arg(folder)
            .args(names),
    )?;
    Ok(())
}

/// Puts a blob where the layout has it, and describes it.
fn blob(blobs: &Path, content: &[u8], media_type: &str) -> Result<Value> {
    let temporary = blobs.join("new");
    fs::write(&temporary, content)?;
    let hex = digest(&temporary)?;
    fs::rename(&temporary, blobs.join(&hex))?;
    Ok(json!({"mediaType": media_type, "digest": format!("sha256:{hex}"), "size": content.len()}))
}

fn digest(file: &Path) -> Result<String> {
    let said = said(Command::new("sha256sum").arg("--").arg(file))?;
    Ok(said.split_whitespace().next().context("sha256sum says nothing")?.to_owned())
}
