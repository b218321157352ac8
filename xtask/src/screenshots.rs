//! `cargo xtask screenshots`: the pictures of the page in docs/, drawn by a real Chromium from a made-up install.

use std::process::Command;

use anyhow::{Result, ensure};

/// Runs an ignored test of the program, which has the browser and the install.
pub(crate) fn run() -> Result<()> {
    let root = crate::repository();
    let mut command = Command::new(env!("CARGO"));
    command.args(["test", "--quiet", "--package=hardway", "--test=it", "--", "--ignored", "--exact"]);
    command.arg("page::measured::screenshots").env("HARDWAY_SCREENSHOTS", root.join("docs"));
    let status = command.current_dir(root).status()?;
    ensure!(status.success(), "{command:?}: {status}");
    Ok(())
}
