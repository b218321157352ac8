//! The page with ten thousand moments, in a real Chromium.

use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use super::burst::find;
use super::table::Table;

/// Builds and runs the measurement, which is an ignored test of the program: it needs what the tests there have.
pub(crate) fn measure(table: &mut Table) -> Result<()> {
    let test = ["test", "--quiet", "--package=hardway", "--test=it", "--"];
    let which = ["--ignored", "--exact", "page::measured::bench_page", "--nocapture"];
    let mut command = Command::new(env!("CARGO"));
    let output =
        command.args(test).args(which).current_dir(crate::repository()).stdin(Stdio::null()).output()?;
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success(), "{command:?}: {}\n{told}", output.status);
    let figure =
        |name: &str| -> Result<f64> { find(&told, name).with_context(|| format!("no {name} in:\n{told}")) };
    let moments = format!("{:.0} moments; the program as tests build it", figure("page-moments")?);
    let rows = [
        ("page, first paint", "page-first-paint-milliseconds", "ms", Some(300.0), moments.as_str()),
        ("  all moments there", "page-all-there-milliseconds", "ms", None, "since the page was asked for"),
        (
            "  a step of the slider, Install",
            "page-step-install-milliseconds",
            "ms",
            Some(100.0),
            "folded and laid out",
        ),
        (
            "  a step of the slider, Cluster",
            "page-step-cluster-milliseconds",
            "ms",
            Some(100.0),
            "folded and laid out",
        ),
        ("  a new line is on the page", "page-news-milliseconds", "ms", Some(1000.0), "from the write on"),
        (
            "  more memory of the server",
            "page-more-memory-megabytes",
            "MB",
            Some(20.0),
            "than without any moment",
        ),
    ];
    for (what, name, unit, goal, note) in rows {
        table.figure(what, (figure(name)?, unit), goal, note);
    }
    Ok(())
}
