//! Embedding a config into an image of a gigabyte, beside `coreos-installer` and a plain `cp`.
//!
//! coreos-installer is taken from `HARDWAY_COREOS_INSTALLER` (what tools/coreos-installer.sh prints) or from `PATH`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;

use super::measure::{Walls, peak_megabytes, wall};
use super::table::Table;

const RUNS: usize = 5;
const GIGABYTE: usize = 1 << 30;
const PEER: &str = "coreos-installer";

/// Adds the rows.
pub(super) fn run(hardway: &Path, table: &mut Table) -> Result<()> {
    let what = "embed a config into a 1 GB ISO";
    let image = match Image::make() {
        Ok(image) => image,
        Err(error) => {
            table.missing(what, &error.to_string());
            return Ok(());
        }
    };
    let (mut ours, mut copies, mut theirs) = (Walls::default(), Walls::default(), Walls::default());
    let peer = peer();
    // In turns, so that the disk's moods are shared.
    for _ in 0..RUNS {
        ours.add(image.timed(&mut image.hardway(hardway))?);
        copies.add(
            image.timed(
                Command::new("cp").arg("--reflink=auto").args([image.path("live.iso"), image.out()]),
            )?,
        );
        if let Some(peer) = &peer {
            theirs.add(image.timed(&mut image.coreos_installer(peer))?);
        }
    }
    let peak = peak_megabytes(&mut image.hardway(hardway))?;
    table.seconds(what, &ours, None);
    table.megabytes("  peak memory", peak, None);
    table.seconds("  cp, same image", &copies, None);
    table.ratio("  ratio to cp", &ours, &copies, Some(1.25));
    match &peer {
        Some(peer) => {
            fs_err::remove_file(image.out())?;
            let peak = peak_megabytes(&mut image.coreos_installer(peer))?;
            table.seconds("  coreos-installer, same config", &theirs, None);
            table.megabytes("  coreos-installer, peak memory", peak, None);
            table.ratio("  ratio to coreos-installer", &ours, &theirs, Some(1.0));
        }
        None => table.missing("  coreos-installer", "not installed"),
    }
    Ok(())
}

struct Image {
    dir: TempDir,
}

impl Image {
    /// With what embedding needs to find its way, and a root file system that cannot be packed or skipped.
    fn make() -> Result<Self> {
        let image = Self { dir: tempfile::tempdir()? };
        let root = image.path("root");
        fs_err::create_dir_all(root.join("images/pxeboot"))?;
        fs_err::write(root.join("images/ignition.img"), vec![0; 256 << 10])?;
        let noise: Vec<u8> =
            (0_u32..GIGABYTE as u32 / 64).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let mut file = fs_err::File::create(root.join("images/pxeboot/rootfs.img"))?;
        for _ in 0..64 {
            std::io::Write::write_all(&mut file, &noise)?;
        }
        let config = format!(
            "{{\"ignition\": {{\"version\": \"3.2.0\"}}, \"x\": \"{}\"}}",
            "0123456789abcdef".repeat(4096)
        );
        fs_err::write(image.path("config.ign"), config)?;
        let mut xorriso = Command::new("xorriso");
        xorriso
            .args(["-as", "mkisofs", "-quiet", "-V", "bench", "-iso-level", "1", "-o"])
            .arg(image.path("live.iso"))
            .arg(&root);
        let output = xorriso.output().context("xorriso is not installed")?;
        ensure!(output.status.success(), "xorriso: {}", output.status);
        fs_err::remove_dir_all(root)?;
        Ok(image)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn out(&self) -> PathBuf {
        self.path("out.iso")
    }

    /// coreos-installer writes over nothing, so nobody gets to.
    fn timed(&self, command: &mut Command) -> Result<f64> {
        if self.out().exists() {
            fs_err::remove_file(self.out())?;
        }
        wall(command)
    }

    fn hardway(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.args(["media", "embed"]).arg(self.path("live.iso"));
        command.arg("--live-ignition").arg(self.path("config.ign")).arg("--to").arg(self.out());
        command
    }

    fn coreos_installer(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.args(["iso", "ignition", "embed", "-i"]).arg(self.path("config.ign"));
        command.arg("-o").arg(self.out()).arg(self.path("live.iso"));
        command
    }
}

fn peer() -> Option<PathBuf> {
    let built =
        std::env::var_os("HARDWAY_COREOS_INSTALLER").map(|root| PathBuf::from(root).join("bin").join(PEER));
    let path = std::env::var_os("PATH").unwrap_or_default();
    built
        .into_iter()
        .chain(std::env::split_paths(&path).map(|dir| dir.join(PEER)))
        .find(|file| file.is_file())
}
