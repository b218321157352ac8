//! A working folder and its lab.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context as _, Result, bail, ensure};
use fs_err as fs;
use serde_json::Value;
use tempfile::TempDir;

use super::run::Run;

/// Taken down when it is dropped, whatever happened.
pub(super) struct Lab {
    folder: TempDir,
    /// Its name; several may run side by side.
    pub(super) name: String,
    hardway: PathBuf,
}

impl Lab {
    /// Both input files, for so many machines.
    pub(super) fn init(drill: &str, masters: u8, workers: u8) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("hardway-drill-").tempdir()?;
        let name = format!("{drill}-{}", std::process::id());
        let hardway = std::env::var_os("HARDWAY").map_or_else(build, |path| Ok(PathBuf::from(path)))?;
        let lab = Self { folder, name, hardway };
        let (masters, workers) = (masters.to_string(), workers.to_string());
        lab.ok(&["init", "--provider", "lab", "--masters", &masters, "--workers", &workers])?;
        let path = lab.path("inventory.yaml");
        let text = fs::read_to_string(&path)?;
        fs::write(
            &path,
            text.replace("provider: lab\n", &format!("provider: lab\n  lab: {{name: {}}}\n", lab.name)),
        )?;
        Ok(lab)
    }

    /// A path in the working folder.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// hardway itself.
    pub(super) fn program(&self) -> &str {
        self.hardway.to_str().unwrap_or("hardway")
    }

    /// A call of hardway in this folder.
    pub(super) fn command(&self, words: &[&str]) -> Command {
        self.command_in(self.folder.path(), words)
    }

    /// The same in another folder.
    pub(super) fn command_in(&self, folder: &Path, words: &[&str]) -> Command {
        let mut command = Command::new(&self.hardway);
        command
            .args(words)
            .arg("--dir")
            .arg(folder)
            .env("HARDWAY_LAB_FILES", crate::repository().join("lab"));
        command
    }

    /// Runs hardway to its end.
    pub(super) fn hardway(&self, words: &[&str]) -> Result<Output> {
        Ok(self.command(words).output()?)
    }

    /// Runs hardway, which must succeed; gives back what it printed on standard output.
    pub(super) fn ok(&self, words: &[&str]) -> Result<String> {
        let output = self.hardway(words)?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            bail!("hardway {} ended with {}:\n{}", words.join(" "), output.status, last_lines(&said, 60));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Starts hardway, to be watched or killed.
    pub(super) fn start(&self, words: &[&str]) -> Result<Run> {
        Run::start(self.command(words), &self.path("drill.log"), &self.path("journal.jsonl"))
    }

    /// The same, with what it says outside the working folder.
    pub(super) fn start_logging_elsewhere(&self, words: &[&str]) -> Result<Run> {
        let log = std::env::temp_dir().join(format!("{}.log", self.name));
        Run::start(self.command(words), &log, &self.path("journal.jsonl"))
    }

    /// `create cluster`, which must succeed.
    pub(super) fn create(&self) -> Result<()> {
        self.start(&["create", "cluster", "--stall-after", "10m"])?.must_succeed()
    }

    /// `create cluster` that must give up with this exit code; what it said must have all of these words.
    pub(super) fn create_fails(&self, stall_after: &str, exit: i32, words: &[&str]) -> Result<()> {
        let said = self.start(&["create", "cluster", "--stall-after", stall_after])?.must_fail(exit)?;
        for word in words {
            ensure!(said.contains(word), "{word:?} is missing in what it said:\n{}", last_lines(&said, 60));
        }
        Ok(())
    }

    /// kubectl in the lab.
    pub(super) fn kubectl(&self, words: &[&str]) -> Result<String> {
        self.inside(&[&["kubectl", "--request-timeout=20s"], words].concat())
    }

    /// A command in the lab's network.
    pub(super) fn inside(&self, words: &[&str]) -> Result<String> {
        let output = self.inside_command(words).output()?;
        ensure!(
            output.status.success(),
            "{} failed: {}",
            words.join(" "),
            String::from_utf8_lossy(&output.stderr).trim()
        );
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The same, not started yet.
    pub(super) fn inside_command(&self, words: &[&str]) -> Command {
        let mut command = self.command(&["lab", "run"]);
        command.arg("--").args(words);
        command
    }

    /// The name of a machine's or a service's container.
    pub(super) fn container(&self, host: &str) -> String {
        format!("hardway-{}-{host}", self.name)
    }

    /// Every phase with its state.
    pub(super) fn phases(&self) -> Result<Vec<(String, String)>> {
        let status: Value = serde_json::from_str(&self.ok(&["status", "-o", "json"])?)?;
        let phases = status["phases"].as_array().context("status names no phases")?;
        let text = |phase: &Value, key: &str| phase[key].as_str().unwrap_or_default().to_owned();
        Ok(phases.iter().map(|phase| (text(phase, "phase"), text(phase, "state"))).collect())
    }

    /// Takes everything back; then nothing of the lab may be left on this computer.
    pub(super) fn destroy(&self) -> Result<()> {
        self.ok(&["destroy", "--keep-images", "--yes"])?;
        let left = self.leftovers()?;
        ensure!(left.is_empty(), "left behind: {}", left.join(", "));
        Ok(())
    }

    fn leftovers(&self) -> Result<Vec<String>> {
        let mut left = Vec::new();
        for (program, words) in [
            ("podman", &["ps", "--all", "--format={{.Names}}"][..]),
            ("podman", &["volume", "ls", "--format={{.Name}}"]),
            ("ip", &["netns", "list"]),
            ("ip", &["-o", "link", "show"]),
            ("findmnt", &["--noheadings", "--list", "--output=TARGET"]),
            ("ls", &["/run/hardway-lab"]),
        ] {
            let output = Command::new(program).args(words).output()?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            left.extend(text.lines().filter(|line| line.contains(&self.name)).map(str::to_owned));
        }
        Ok(left)
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let kept = self.path("drill.log");
        if std::thread::panicking() || std::env::var_os("HARDWAY_DRILL_KEEP").is_some() {
            let _ = fs::copy(kept, std::env::temp_dir().join(format!("{}.log", self.name)));
        }
        let _ = self.hardway(&["destroy", "--keep-images", "--yes"]);
        let _ = Command::new(crate::repository().join("lab/down.sh")).arg(&self.name).output();
    }
}

/// The end of a text.
pub(super) fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

fn build() -> Result<PathBuf> {
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--package", "hardway"])
        .current_dir(crate::repository())
        .status()?;
    ensure!(status.success(), "hardway could not be built");
    Ok(crate::repository().join("target/debug/hardway"))
}
