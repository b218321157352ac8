//! Every manifest of a cluster, judged here and by a real kube-apiserver.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};

use super::burst::find;
use super::measure::{Walls, peak_megabytes, wall};
use super::table::Table;
use super::{SHORT_RUNS, Sample, copy};

/// `hardway check manifests` in a folder with the real CRDs of 4.18 where they lie beside the repository; then the server.
pub(crate) fn measure(hardway: &Path, sample: &Sample, table: &mut Table) -> Result<()> {
    let dir = sample.fresh()?;
    let of = |args: &[&str]| {
        let mut command = Command::new(hardway);
        command.args(args).arg("--dir").arg(&dir);
        command
    };
    wall(&mut of(&["create", "manifests"]))?;
    let crds = real_crds();
    if let Some(crds) = &crds {
        let release = with_crds(&dir, crds)?;
        wall(of(&["create", "manifests"]).arg("--release-dir").arg(release))?;
    }
    let mut walls = Walls::default();
    for _ in 0..SHORT_RUNS {
        walls.add(wall(&mut of(&["check", "manifests"]))?);
    }
    let whose = if crds.is_some() { "CRDs of 4.18" } else { "the sample's CRDs, which have no rules" };
    table.seconds(&format!("check manifests, {whose}"), &walls, Some(1.0));
    table.megabytes("  peak memory", peak_megabytes(&mut of(&["check", "manifests"]))?, Some(100.0));
    match server() {
        Ok((start, objects, count)) => {
            table.figure(
                "  kube-apiserver, with etcd and CRDs",
                (start, "s"),
                None,
                "until it serves all kinds",
            );
            let note = format!("{count:.0} objects, one after the other, dry run");
            table.figure("  kube-apiserver, the same objects", (objects, "s"), None, &note);
        }
        Err(error) => table.missing("  kube-apiserver", &error.to_string()),
    }
    Ok(())
}

/// As the tests find them.
fn real_crds() -> Option<PathBuf> {
    let root = std::env::var_os("HARDWAY_REAL_DATA")
        .map_or_else(|| crate::repository().join("../shared/data"), PathBuf::from);
    Some(root.join("crds-4.18")).filter(|path| path.is_dir())
}

/// The sample release that lies in the folder, with these CRDs, as a folder of its own; the inventory names it from then on.
fn with_crds(dir: &Path, crds: &Path) -> Result<PathBuf> {
    let (kept, release) = (dir.join("release"), dir.join("release-with-crds"));
    copy_all(&kept, &release)?;
    fs_err::remove_file(release.join("sha256sums"))?;
    let own = |name: &std::ffi::OsStr| release.join("crds").join(name);
    for entry in fs_err::read_dir(release.join("crds"))? {
        fs_err::remove_file(entry?.path())?;
    }
    for entry in fs_err::read_dir(crds)? {
        let entry = entry?;
        fs_err::copy(entry.path(), own(&entry.file_name()))?;
    }
    let metadata = release.join("release-metadata");
    let text = fs_err::read_to_string(&metadata)?.replace("\"hardway.dev/sample\": \"true\"", "");
    fs_err::write(&metadata, text)?;
    let image = fs_err::read_to_string(release.join("release-image"))?;
    let inventory = dir.join("inventory.yaml");
    let text = fs_err::read_to_string(&inventory)?;
    let named = text.replace("image: sample", &format!("image: {}", image.trim()));
    anyhow::ensure!(named != text, "the inventory of the sample names no sample release");
    fs_err::write(&inventory, named)?;
    Ok(release)
}

fn copy_all(from: &Path, to: &Path) -> Result<()> {
    fs_err::create_dir_all(to)?;
    for entry in fs_err::read_dir(from)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name()))?,
            false => drop(fs_err::copy(entry.path(), to.join(entry.file_name()))?),
        }
    }
    Ok(())
}

/// Start, time for all objects, and how many they are: an ignored test of hardway-manifests, which has what it needs.
fn server() -> Result<(f64, f64, f64)> {
    // The whole workspace, as it is built anyway: one package alone would be built anew with other features.
    let test = ["test", "--quiet", "--offline", "--workspace", "--test=it", "--"];
    let which = ["--ignored", "--exact", "differential::bench::bench_server", "--nocapture"];
    let mut command = Command::new(env!("CARGO"));
    let output =
        command.args(test).args(which).current_dir(crate::repository()).stdin(Stdio::null()).output()?;
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let figure = |name: &str| find(&told, name).context("not measured: its test did not run");
    Ok((figure("server-start-seconds")?, figure("server-objects-seconds")?, figure("server-objects")?))
}
