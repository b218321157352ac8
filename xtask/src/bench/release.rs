//! What is known of a release without pulling it, beside tools that pull it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::measure::{Walls, wall};
use super::table::Table;
use super::{Programs, RUNS, SHORT_RUNS, installed};

/// The bar for both verbs: seconds, and the share of the release's bytes.
const SECONDS: f64 = 0.16;
const SHARE: f64 = 0.01;

/// Measures `release info` and `release extract` with nothing in the cache.
pub(super) fn release(programs: &Programs, table: &mut Table) -> Result<()> {
    let mut registry = Registry::start(&programs.large_release)?;
    let dir = tempfile::tempdir()?;
    let mut runs = (0..).map(|i| dir.path().join(format!("run-{i}")));
    let mut next = || runs.next().context("folders without end");
    let skopeo = registry.measure(RUNS, |image| pull_all(image, &next()?))?;
    let oc = installed("oc").context("not installed").and_then(|oc| {
        registry.measure(RUNS, |image| {
            let mut command = Command::new(&oc);
            command.args(["adm", "release", "extract", "--insecure", image, "--to"]).arg(next()?);
            wall(&mut command).map(|_| ())
        })
    });
    for (verb, peers_do_it) in [("info", false), ("extract", true)] {
        let ours = registry.measure(SHORT_RUNS, |image| hardway(programs, verb, image, &next()?))?;
        let what = format!("release {verb}, nothing in the cache");
        table.seconds(&what, &ours.walls, Some(SECONDS));
        table.share("  bytes fetched", ours.bytes, registry.size, Some(SHARE));
        table.ratio("  ratio to skopeo copy and tar", &ours.walls, &skopeo.walls, None);
        if let (true, Ok(oc)) = (peers_do_it, &oc) {
            table.ratio("  ratio to oc adm release extract", &ours.walls, &oc.walls, None);
        }
    }
    table.seconds("  skopeo copy and tar", &skopeo.walls, None);
    table.share("  bytes fetched", skopeo.bytes, registry.size, None);
    match &oc {
        Ok(oc) => {
            table.seconds("  oc adm release extract", &oc.walls, None);
            table.share("  bytes fetched", oc.bytes, registry.size, None);
        }
        Err(error) => table.missing("  oc", error.to_string().lines().last().unwrap_or_default()),
    }
    Ok(())
}

/// What some runs took.
struct Taken {
    walls: Walls,
    /// Of each run.
    bytes: u64,
}

/// The registry and its release; the example of hardway-release runs until it is dropped.
struct Registry {
    process: Child,
    commands: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    image: String,
    size: u64,
}

impl Registry {
    fn start(program: &Path) -> Result<Self> {
        let mut process = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let commands = process.stdin.take();
        let answers = BufReader::new(process.stdout.take().context("no output")?);
        let mut registry = Self { process, commands, answers, image: String::new(), size: 0 };
        registry.image = registry.line()?;
        registry.size = registry.line()?.parse()?;
        Ok(registry)
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        ensure!(!line.is_empty(), "the registry has ended; are docker-registry and openssl installed?");
        Ok(line.trim().to_owned())
    }

    /// Bytes that were fetched since this was asked before.
    fn bytes(&mut self) -> Result<u64> {
        writeln!(self.commands.as_mut().context("no input")?)?;
        Ok(self.line()?.parse()?)
    }

    fn measure(&mut self, runs: usize, mut run: impl FnMut(&str) -> Result<()>) -> Result<Taken> {
        let mut walls = Walls::default();
        self.bytes()?;
        for _ in 0..runs {
            let start = Instant::now();
            run(&self.image)?;
            walls.add(start.elapsed().as_secs_f64());
        }
        Ok(Taken { walls, bytes: self.bytes()? / runs as u64 })
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        // It ends with its input, and takes the registry with it.
        self.commands = None;
        let _ = self.process.wait();
    }
}

/// With a cache of its own, so that nothing is known.
fn hardway(programs: &Programs, verb: &str, image: &str, dir: &Path) -> Result<()> {
    fs_err::create_dir_all(dir)?;
    let mut command = Command::new(&programs.hardway);
    command.args(["release", verb, image, "--plain-http"]).current_dir(dir);
    command.env("XDG_CACHE_HOME", dir.join("cache")).env("HOME", dir);
    if verb == "extract" {
        command.args(["--to", "release"]);
    }
    wall(&mut command).map(|_| ())
}

/// The whole image, and the files out of its last layer.
fn pull_all(image: &str, dir: &Path) -> Result<()> {
    let (copy, files) = (dir.join("image"), dir.join("files"));
    fs_err::create_dir_all(&files)?;
    let mut skopeo = Command::new("skopeo");
    skopeo.args(["copy", "--quiet", "--src-tls-verify=false", &format!("docker://{image}")]);
    wall(skopeo.arg(format!("dir:{}", copy.display())))?;
    let manifest: Value = serde_json::from_slice(&fs_err::read(copy.join("manifest.json"))?)?;
    let layers = manifest["layers"].as_array().context("no layers")?;
    let last = layers.last().and_then(|layer| layer["digest"].as_str()).context("no layer")?;
    let layer = copy.join(last.trim_start_matches("sha256:"));
    wall(Command::new("tar").arg("-xzf").arg(layer).arg("-C").arg(files))?;
    fs_err::remove_dir_all(copy)?;
    Ok(())
}
