//! Many workers of a hosted cluster at once, joined through the controller on two real API servers.

use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use super::burst::find;
use super::table::Table;

/// Builds and runs the measurement, which is an ignored test of hardway-hosted: it needs what the tests there have.
pub(crate) fn measure(table: &mut Table) -> Result<()> {
    let build = ["build", "--release", "--quiet", "--package=hardway"];
    ensure!(Command::new(env!("CARGO")).args(build).status()?.success(), "hardway could not be built");
    let root = crate::repository();
    let test = ["test", "--release", "--quiet", "--package=hardway-hosted", "--test=hosted", "--"];
    let which = ["--ignored", "--exact", "scale::bench_workers", "--nocapture"];
    let mut command = Command::new(env!("CARGO"));
    // This program is target/debug/xtask.
    let own = std::env::current_exe()?;
    let target = own.ancestors().nth(2).context("no target folder")?;
    command.env("HARDWAY", target.join("release/hardway"));
    let output = command.args(test).args(which).current_dir(root).stdin(Stdio::null()).output()?;
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success(), "{command:?}: {}\n{told}", output.status);
    let figure =
        |name: &str| -> Result<f64> { find(&told, name).with_context(|| format!("no {name} in:\n{told}")) };
    let note = format!(
        "{:.1} joins/s; machines and both clusters on this computer",
        figure("hosted-joins-per-second")?
    );
    let what = format!("{:.0} hosted workers, from zero to Ready", figure("hosted-workers")?);
    table.figure(&what, (figure("hosted-seconds")?, "s"), None, &note);
    table.figure(
        "  requests to API servers a join",
        (figure("hosted-api-calls-per-join")?, ""),
        None,
        "counted by the controller's own clients, both clusters",
    );
    table.megabytes(
        "  controller, peak memory",
        figure("hosted-controller-kilobytes")? / 1000.0,
        Some(128.0),
    );
    Ok(())
}
