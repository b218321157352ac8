//! Installs in which machines, services or this host fail.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use fs_err as fs;
use serde_json::{Value, json};

use super::lab::Lab;

/// Far enough to know that the install got over it.
const JOINED: &str = "join-control-plane: done";

/// Named while it is off, booted again by the next run.
pub(super) fn master_killed() -> Result<()> {
    let lab = Lab::init("master", 1, 0)?;
    let mut run = lab.start(&["create", "cluster", "--stall-after", "90s"])?;
    run.until_said("install-os: done")?;
    podman(&["kill", &lab.container("master-0")])?;
    let said = run.must_fail(5)?;
    ensure!(said.contains("master-0"), "it does not say which machine:\n{said}");
    let mut run = lab.start(&["create", "cluster"])?;
    run.until_said("master-0 is off")?;
    run.until_said(JOINED)?;
    run.kill()?;
    lab.destroy()
}

/// Machines go on pulling when it is back.
pub(super) fn registry_gone() -> Result<()> {
    let lab = Lab::init("registry", 1, 0)?;
    let mut run = lab.start(&["create", "cluster"])?;
    run.until_said("(bootstrap boots")?;
    podman(&["stop", "--time=1", &lab.container("registry")])?;
    std::thread::sleep(Duration::from_secs(60));
    podman(&["start", &lab.container("registry")])?;
    run.until_said(JOINED)?;
    run.kill()?;
    lab.destroy()
}

/// It lives in hardway: that is killed before a machine has fetched its config, and comes back half a minute later.
pub(super) fn server_restarted() -> Result<()> {
    let lab = Lab::init("server", 1, 0)?;
    let mut run = lab.start(&["create", "cluster"])?;
    run.until_said("(bootstrap boots")?;
    run.kill()?;
    // What it had begun goes on: the machine is switched on, and finds nobody to ask.
    std::thread::sleep(Duration::from_secs(30));
    let mut run = lab.start(&["create", "cluster"])?;
    run.until_said("bootstrap fetched its config")?;
    run.until_said(JOINED)?;
    run.kill()?;
    lab.destroy()
}

/// Its certificate request is nobody's: held, and the diagnosis says so.
pub(super) fn wrong_hostname() -> Result<()> {
    let lab = Lab::init("hostname", 1, 1)?;
    let mut run = lab.start(&["create", "cluster"])?;
    run.until_said("make-ignition: done")?;
    run.kill()?;
    let path = lab.path("ignition/worker-0.ign");
    let mut config: Value = serde_json::from_slice(&fs::read(&path)?)?;
    let files = config["storage"]["files"].as_array_mut().context("a config without files")?;
    let hostname = files.iter_mut().find(|file| file["path"] == "/etc/hostname");
    let hostname = hostname.context("the config does not name the host")?;
    hostname["contents"] = json!({"source": "data:,worker-7.ocp4.example.com%0A"});
    fs::write(&path, config.to_string())?;
    lab.create_fails(
        "3m",
        6,
        &["worker-7.ocp4.example.com", "worker-0.ocp4.example.com has not registered", "first broken"],
    )?;
    let requests = lab.kubectl(&[
        "get",
        "csr",
        "-o",
        "jsonpath={.items[*].spec.username} {.items[*].status.certificate}",
    ])?;
    ensure!(!requests.contains("system:node:worker-7"), "a certificate was given away: {requests}");
    lab.destroy()
}

/// Bootkube is asked to begin again in the middle of its work, and gets to its end.
pub(super) fn bootstrap_redone() -> Result<()> {
    let lab = Lab::init("redo", 1, 0)?;
    let mut run = lab.start(&["create", "cluster"])?;
    run.until_said("await-bootstrap: done")?;
    run.kill()?;
    lab.start(&["phase", "redo", "await-bootstrap"])?.must_succeed()?;
    let mut run = lab.start(&["create", "cluster"])?;
    run.until_said(JOINED)?;
    run.kill()?;
    lab.destroy()
}

/// A day and an hour after the machines were installed, their first certificates have ended.
pub(super) fn clock_ahead() -> Result<()> {
    let lab = Lab::init("clock", 1, 0)?;
    let mut run = lab.start(&["create", "cluster"])?;
    run.until_said("install-os: done")?;
    run.kill()?;
    let later = Command::new("date").args(["--utc", "--date=25 hours", "+%Y-%m-%dT%H:%M:%SZ"]).output()?;
    let later = String::from_utf8_lossy(&later.stdout).trim().to_owned();
    let output = lab.command(&["create", "cluster"]).env("HARDWAY_NOW", later).output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.code() == Some(5), "it ended with {}:\n{said}", output.status);
    for word in ["certificates-ended", "aggregator-signer", " destroy and hardway "] {
        ensure!(said.contains(word), "{word:?} is missing:\n{said}");
    }
    lab.destroy()
}

/// Whatever could not be written is not there in part, and the next run goes on.
pub(super) fn disk_full() -> Result<()> {
    let lab = Lab::init("disk", 1, 0)?;
    for size in ["100k", "300k", "1m", "2m"] {
        // What is in the folder moves along.
        let disk = Disk::mount(&lab, size)?;
        let run = lab.start_logging_elsewhere(&["create", "cluster"])?;
        let said = run.must_fail(1)?;
        ensure!(said.contains("No space left on device"), "{size}: {said}");
        lab.ok(&["status"]).map(drop).or_else(|error| {
            // Before anything is kept, status has the same to say as create.
            if error.to_string().contains("release-not-fetched") { Ok(()) } else { Err(error) }
        })?;
        disk.unmount()?;
    }
    let mut run = lab.start(&["create", "cluster"])?;
    run.until_said("make-ignition: done")?;
    run.kill()?;
    lab.destroy()
}

/// A small disk over the working folder.
struct Disk<'l> {
    lab: &'l Lab,
}

impl<'l> Disk<'l> {
    fn mount(lab: &'l Lab, size: &str) -> Result<Self> {
        let folder = lab.path("");
        let aside = tempfile::tempdir()?;
        copy(&folder, aside.path())?;
        run(
            "mount",
            &["-t", "tmpfs", "-o", &format!("size={size}"), "drill", &folder.display().to_string()],
        )?;
        let disk = Self { lab };
        copy(aside.path(), &folder)?;
        Ok(disk)
    }

    /// What was written stays.
    fn unmount(self) -> Result<()> {
        let folder = self.lab.path("");
        let aside = tempfile::tempdir()?;
        copy(&folder, aside.path())?;
        run("umount", &[&folder.display().to_string()])?;
        copy(aside.path(), &folder)?;
        std::mem::forget(self);
        Ok(())
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        let _ = run("umount", &[&self.lab.path("").display().to_string()]);
    }
}

fn copy(from: &std::path::Path, to: &std::path::Path) -> Result<()> {
    run("cp", &["-a", &format!("{}/.", from.display()), &to.display().to_string()])
}

fn podman(words: &[&str]) -> Result<()> {
    run("podman", words)
}

fn run(program: &str, words: &[&str]) -> Result<()> {
    let output = Command::new(program).args(words).output()?;
    ensure!(
        output.status.success(),
        "{program} {}: {}",
        words.join(" "),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(())
}
