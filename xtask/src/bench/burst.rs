//! A burst of certificate requests on a real API server, beside the loop that the documentation gives.

use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use super::table::Table;

/// Builds and runs the measurement, which is an ignored test of hardway-cluster: it needs what the tests there have.
pub(crate) fn measure(table: &mut Table) -> Result<()> {
    let root = crate::repository();
    let test = ["test", "--release", "--quiet", "--package=hardway-cluster", "--test=it", "--"];
    let which = ["--ignored", "--exact", "csr::approver::burst::bench_burst", "--nocapture"];
    let mut command = Command::new(env!("CARGO"));
    let output = command.args(test).args(which).current_dir(root).stdin(Stdio::null()).output()?;
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success(), "{command:?}: {}\n{told}", output.status);
    let figure =
        |name: &str| -> Result<f64> { find(&told, name).with_context(|| format!("no {name} in:\n{told}")) };
    let (requests, seconds) = (figure("burst-requests")?, figure("burst-seconds")?);
    let per_second = figure("kubectl-per-second")?;
    let note = format!("{requests:.0} requests, {:.0}/s; one in twenty hostile", requests / seconds);
    table.figure("certificate requests, burst of 2000", (seconds, "s"), Some(30.0), &note);
    table.figure(
        "  median decision",
        (figure("burst-decision-milliseconds")?, "ms"),
        Some(100.0),
        "read again, decided, written",
    );
    let loop_seconds = requests / per_second;
    table.figure(
        "  kubectl certificate approve, as many",
        (loop_seconds, "s"),
        None,
        &format!("{per_second:.1}/s, whatever was asked"),
    );
    Ok(())
}

/// The number behind a word at the beginning of a line.
pub(super) fn find(text: &str, name: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_among_other_lines() {
        let text = "running 1 test\nburst-seconds 12.50\nburst-requests 2100\n";
        assert_eq!((find(text, "burst-seconds"), find(text, "burst-requests")), (Some(12.5), Some(2100.0)));
        assert_eq!(find(text, "kubectl-per-second"), None);
    }
}
