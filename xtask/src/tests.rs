//! All tests of all crates, several test programs at a time.
//!
//! `cargo test` runs one program after another, though most of them wait for servers and machines; and two of it at a time would
//! each build the dependencies with the features of their own packages. Here everything is built once, and the programs run as
//! cargo would run them: in their package's folder.

use std::collections::VecDeque;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::{repository, said};

/// Programs at a time. Each of them runs as many tests at a time as there are processors.
const AT_ONCE: usize = 2;

pub(crate) fn run() -> Result<()> {
    let programs = programs()?;
    ensure!(!programs.is_empty(), "cargo built no test program");
    let queue = Mutex::new(VecDeque::from(programs));
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(program) = next(&queue) {
                    let outcome = program.run().unwrap_or_else(|error| Outcome::not_started(&error));
                    outcome.print(&program.name);
                    if !outcome.is_good {
                        failed.lock().unwrap_or_else(PoisonError::into_inner).push((program.name, outcome));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    // Examples in documentation are programs of their own, which only rustdoc can build.
    let examples = Command::new("cargo")
        .args(["test", "--workspace", "--doc", "--quiet"])
        .current_dir(repository())
        .status()
        .context("cargo cannot be started")?;
    // What went wrong is told last, where people look first.
    let mut out = std::io::stdout();
    for (name, outcome) in &failed {
        writeln!(out, "\n-- {name}")?;
        out.write_all(&outcome.said)?;
    }
    let mut names: Vec<_> = failed.into_iter().map(|(name, _)| name).collect();
    if !examples.success() {
        names.push("examples in documentation".to_owned());
    }
    ensure!(names.is_empty(), "failed: {}", names.join(", "));
    Ok(())
}

/// One program of tests: the unit tests of a crate, or its integration tests.
struct Program {
    name: String,
    executable: PathBuf,
    package: PathBuf,
}

struct Outcome {
    is_good: bool,
    took: Duration,
    said: Vec<u8>,
}

impl Program {
    fn of(artifact: &Value) -> Option<Self> {
        let executable = artifact["executable"].as_str()?;
        let package = Path::new(artifact["manifest_path"].as_str()?).parent()?;
        let target = &artifact["target"];
        Some(Self {
            name: format!(
                "{} ({} {})",
                package.file_name()?.to_string_lossy(),
                target["kind"][0].as_str()?,
                target["name"].as_str()?
            ),
            executable: executable.into(),
            package: package.to_owned(),
        })
    }

    fn run(&self) -> Result<Outcome> {
        let began = Instant::now();
        let mut output = tempfile::tempfile()?;
        let status = Command::new(&self.executable)
            .arg("--quiet")
            .current_dir(&self.package)
            .env("CARGO_MANIFEST_DIR", &self.package)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output.try_clone()?)
            .status()?;
        let mut said = Vec::new();
        output.seek(SeekFrom::Start(0))?;
        output.read_to_end(&mut said)?;
        Ok(Outcome { is_good: status.success(), took: began.elapsed(), said })
    }

    /// How many tests it has. One with many that begins last would be waited for alone.
    fn tests(&self) -> Result<usize> {
        let list = said(
            Command::new(&self.executable).args(["--list", "--format=terse"]).current_dir(&self.package),
        )?;
        Ok(list.lines().filter(|line| line.ends_with(": test")).count())
    }
}

impl Outcome {
    fn not_started(error: &anyhow::Error) -> Self {
        Self { is_good: false, took: Duration::ZERO, said: format!("{error:#}\n").into_bytes() }
    }

    fn print(&self, name: &str) {
        let verdict = if self.is_good { "passed" } else { "FAILED" };
        let said = String::from_utf8_lossy(&self.said);
        let counts = said.lines().rfind(|line| line.starts_with("test result:")).unwrap_or("no result");
        // Whether it failed is told by the exit code too: nothing is lost when nobody reads this.
        let _ = writeln!(std::io::stdout(), "{verdict} in {} s: {name}: {counts}", self.took.as_secs());
    }
}

fn programs() -> Result<Vec<Program>> {
    let lines = said(
        Command::new("cargo")
            .args(["test", "--workspace", "--no-run", "--quiet", "--message-format=json"])
            .current_dir(repository()),
    )?;
    let mut programs = Vec::new();
    for line in lines.lines() {
        let message: Value = serde_json::from_str(line)?;
        if message["reason"] == "compiler-artifact" && message["profile"]["test"] == true {
            programs.extend(Program::of(&message));
        }
    }
    let mut counted = programs
        .into_iter()
        .map(|program| Ok((program.tests()?, program)))
        .collect::<Result<Vec<(usize, Program)>>>()?;
    counted.sort_by_key(|(tests, _)| std::cmp::Reverse(*tests));
    Ok(counted.into_iter().map(|(_, program)| program).collect())
}

fn next(queue: &Mutex<VecDeque<Program>>) -> Option<Program> {
    queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
}
