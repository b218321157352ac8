//! `cargo xtask bench`: the numbers to reach, measured here and now, beside the peers that are installed.
//!
//! Serving is compared with `nginx` from `PATH`, and with a machine-config-server from `HARDWAY_PEER_MCS`.
//!
//! It judges nothing: a machine with other work on it is slow, and no test may depend on that. Read the table.
//!
//! The peer of `create` is `openshift-install`, from `PATH` or from `HARDWAY_PEER_OPENSHIFT_INSTALL`. It gets this program's
//! environment, so what it needs (`OPENSHIFT_INSTALL_DATA`, `OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE`) is set there. The
//! peers of `release` are skopeo with tar, and oc, from `PATH`.
//! `TMPDIR=/dev/shm` leaves the disk out of it.

mod burst;
mod hosted;
mod machine_config_server;
mod manifests;
mod measure;
mod media;
mod page;
mod release;
mod scale;
mod serve;
mod table;

use std::cell::Cell;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use measure::{Walls, peak_megabytes, seconds_told, wall};
use table::Table;
use tempfile::TempDir;

const RUNS: usize = 5;
/// Of what takes a moment only.
const SHORT_RUNS: usize = 15;
const CREATE: [&str; 2] = ["create", "ignition-configs"];
const PEER: &str = "openshift-install";

/// Builds the release binaries, measures, prints.
pub(crate) fn run() -> Result<()> {
    let programs = Programs::build()?;
    let rsa = Sample::ha("RSA-2048")?;
    let ecdsa = Sample::ha("ECDSA-P256")?;
    let mut table = Table::default();
    create_with_rsa(&programs, &rsa, &mut table)?;
    create_otherwise(&programs, &rsa, &ecdsa, &mut table)?;
    manifests::measure(&programs.hardway, &ecdsa, &mut table)?;
    release::release(&programs, &mut table)?;
    media::run(&programs.hardway, &mut table)?;
    serve::measure(&programs, &ecdsa, &mut table)?;
    burst::measure(&mut table)?;
    hosted::measure(&mut table)?;
    write!(std::io::stdout(), "{}", table.text())?;
    Ok(())
}

/// A burst of certificate requests alone: nothing else needs to be built for it.
pub(crate) fn run_csr() -> Result<()> {
    let mut table = Table::default();
    burst::measure(&mut table)?;
    write!(std::io::stdout(), "{}", table.text())?;
    Ok(())
}

/// Hosted workers alone.
pub(crate) fn run_hosted() -> Result<()> {
    let mut table = Table::default();
    hosted::measure(&mut table)?;
    write!(std::io::stdout(), "{}", table.text())?;
    Ok(())
}

/// Judging manifests alone.
pub(crate) fn run_manifests() -> Result<()> {
    let mut table = Table::default();
    manifests::measure(&program()?, &Sample::ha("ECDSA-P256")?, &mut table)?;
    write!(std::io::stdout(), "{}", table.text())?;
    Ok(())
}

/// The page alone.
pub(crate) fn run_page() -> Result<()> {
    let mut table = Table::default();
    page::measure(&mut table)?;
    write!(std::io::stdout(), "{}", table.text())?;
    Ok(())
}

/// Large inventories alone.
pub(crate) fn run_scale() -> Result<()> {
    write!(std::io::stdout(), "{}", scale::measure(&program()?)?)?;
    Ok(())
}

/// Serving alone.
pub(crate) fn run_serve() -> Result<()> {
    let mut table = Table::default();
    serve::measure(&Programs::build()?, &Sample::ha("ECDSA-P256")?, &mut table)?;
    write!(std::io::stdout(), "{}", table.text())?;
    Ok(())
}

/// The program alone, built as `cargo build --release` builds it, or the one that `HARDWAY_BENCH_PROGRAM` names.
fn program() -> Result<PathBuf> {
    if let Some(program) = std::env::var_os("HARDWAY_BENCH_PROGRAM") {
        return Ok(program.into());
    }
    let status = Command::new(env!("CARGO")).args(["build", "--release", "--workspace"]).status()?;
    ensure!(status.success(), "cargo build: {status}");
    Ok(release_folder()?.join("hardway"))
}

/// Where release builds are: this program is target/debug/xtask.
fn release_folder() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    Ok(own.ancestors().nth(2).context("no target folder")?.join("release"))
}

/// How long a key takes is a matter of luck, so what is compared is measured in turns.
fn create_with_rsa(programs: &Programs, sample: &Sample, table: &mut Table) -> Result<()> {
    let (mut ours, mut keys, mut theirs) = (Walls::default(), Walls::default(), Walls::default());
    let mut peer = programs.peer.as_deref().context("not installed");
    for _ in 0..RUNS {
        ours.add(wall(&mut create(&programs.hardway, &sample.fresh()?))?);
        keys.add(seconds_told(Command::new(&programs.keys_alone).args(sample.files()))?);
        peer = peer.and_then(|program| {
            theirs.add(wall(&mut create(program, &sample.fresh()?))?);
            Ok(program)
        });
    }
    let peak = peak_megabytes(&mut create(&programs.hardway, &sample.fresh()?))?;
    table.seconds("create ignition-configs, cold, RSA-2048", &ours, None);
    table.seconds("  its keys alone, on all cores", &keys, None);
    table.ratio("  ratio to its keys alone", &ours, &keys, Some(1.15));
    table.megabytes("  peak memory", peak, Some(40.0));
    match peer {
        Ok(program) => {
            let peak = peak_megabytes(&mut create(program, &sample.fresh()?))?;
            table.seconds("  openshift-install, same config", &theirs, None);
            table.megabytes("  openshift-install, peak memory", peak, None);
            table.ratio("  ratio to openshift-install", &ours, &theirs, Some(0.7));
        }
        // The last line of what it said is the reason.
        Err(error) => {
            table.missing("  openshift-install", error.to_string().lines().last().unwrap_or_default())
        }
    }
    Ok(())
}

/// What remains when there are no RSA keys to make, or only those of operators' signers and of service accounts.
fn create_otherwise(programs: &Programs, rsa: &Sample, ecdsa: &Sample, table: &mut Table) -> Result<()> {
    let dir = rsa.fresh()?;
    wall(&mut create(&programs.hardway, &dir))?;
    let (mut kept, mut cold, mut unchanged) = (Walls::default(), Walls::default(), Walls::default());
    for _ in 0..SHORT_RUNS {
        unchanged.add(wall(&mut create(&programs.hardway, &dir))?);
        let with_secrets = rsa.fresh()?;
        copy(&dir.join("secrets"), &with_secrets.join("secrets"))?;
        kept.add(wall(&mut create(&programs.hardway, &with_secrets))?);
        cold.add(wall(&mut create(&programs.hardway, &ecdsa.fresh()?))?);
    }
    table.seconds("create ignition-configs, RSA-2048, secrets kept", &kept, None);
    table.seconds("create ignition-configs, nothing changed", &unchanged, Some(0.05));
    // Twelve RSA keys are nearly all of it.
    table.seconds("create ignition-configs, cold, ECDSA-P256", &cold, None);
    Ok(())
}

/// Both programs take the same words.
fn create(program: &Path, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(CREATE).arg("--dir").arg(dir);
    command
}

/// What is measured.
struct Programs {
    hardway: PathBuf,
    /// The example of hardway-assets that makes a cluster's keys and nothing else.
    keys_alone: PathBuf,
    /// The example of hardway-release that serves a large release.
    large_release: PathBuf,
    /// The example of hardway-machines that asks a server again and again.
    tls_load: PathBuf,
    peer: Option<PathBuf>,
}

impl Programs {
    fn build() -> Result<Self> {
        // In one go, so that what both need is built once.
        let what = ["--bins", "--example=keys_alone", "--example=large_release", "--example=tls_load"];
        let packages = ["hardway", "hardway-assets", "hardway-machines", "hardway-release"];
        let packages = packages.map(|name| format!("--package={name}"));
        let status =
            Command::new(env!("CARGO")).args(["build", "--release"]).args(packages).args(what).status()?;
        ensure!(status.success(), "cargo build: {status}");
        let release = release_folder()?;
        Ok(Self {
            hardway: release.join("hardway"),
            keys_alone: release.join("examples/keys_alone"),
            large_release: release.join("examples/large_release"),
            tls_load: release.join("examples/tls_load"),
            peer: peer(),
        })
    }
}

fn peer() -> Option<PathBuf> {
    let given = std::env::var_os("HARDWAY_PEER_OPENSHIFT_INSTALL").map(PathBuf::from);
    given.or_else(|| installed(PEER))
}

/// A program of `PATH`.
fn installed(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(|file| file.is_file())
}

/// The input files of a cluster with three masters and two workers, and the folders it was made in. They are removed at
/// the end: a file system may be slow to give out again what was just freed.
struct Sample {
    dir: TempDir,
    runs: Cell<usize>,
}

impl Sample {
    /// The scenario of the tests, with keys of this kind.
    fn ha(algorithm: &str) -> Result<Self> {
        let scenario = crate::repository().join("crates/hardway-assets/tests/scenarios/ha");
        let dir = tempfile::tempdir()?;
        let inventory = fs_err::read_to_string(scenario.join("inventory.yaml"))?;
        ensure!(!inventory.contains("pki:"), "the sample says something about its keys");
        let inventory = format!("{inventory}pki: {{keyAlgorithm: {algorithm}}}\n");
        fs_err::write(dir.path().join("inventory.yaml"), inventory)?;
        fs_err::copy(scenario.join("install-config.yaml"), dir.path().join("install-config.yaml"))?;
        Ok(Self { dir, runs: Cell::new(0) })
    }

    /// Where the two files are.
    fn files(&self) -> [PathBuf; 2] {
        ["install-config.yaml", "inventory.yaml"].map(|name| self.dir.path().join(name))
    }

    /// A working directory with nothing but the two files. openshift-install takes its file away.
    fn fresh(&self) -> Result<PathBuf> {
        self.runs.update(|runs| runs + 1);
        let dir = self.dir.path().join(format!("run-{}", self.runs.get()));
        fs_err::create_dir(&dir)?;
        for file in self.files() {
            fs_err::copy(&file, dir.join(file.file_name().unwrap_or_default()))?;
        }
        Ok(dir)
    }
}

/// The files of a folder.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs_err::create_dir_all(to)?;
    for entry in fs_err::read_dir(from)? {
        let entry = entry?;
        fs_err::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}
