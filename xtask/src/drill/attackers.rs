//! Everybody who might want to be a node, at every moment of a host's life, by the thousand: none gets in, and no host waits
//! for it. What happens is a test of the program (`crates/hardway/tests/attackers`); here it is larger, and the time counts.

use std::io::Write as _;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use fs_err as fs;
use serde_json::Value;

/// Of each of seven attackers at each of five moments.
const ATTEMPTS: &str = "100";

/// How much longer than in quiet a host may take, in seconds.
const LONGEST_DELAY: f64 = 5.0;

const TEST: &str = "attackers::drill::real_nobody_gets_in_and_every_host_does";

pub(super) fn run() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("report.json");
    let seed = std::env::var("HARDWAY_SEED").or_else(|_| drawn_seed())?;
    writeln!(std::io::stderr(), "HARDWAY_SEED={seed}")?;
    let mut command = Command::new(env!("CARGO"));
    command.args(["test", "--quiet", "--package=hardway", "--test=it", "--", "--exact", TEST]);
    command.current_dir(crate::repository()).stdin(Stdio::null());
    command
        .env("HARDWAY_ATTACKS", ATTEMPTS)
        .env("HARDWAY_SEED", &seed)
        .env("HARDWAY_ATTACKERS_REPORT", &file);
    let output = command.output()?;
    // Also where the test failed: who got in is what one wants to know then.
    let report =
        fs::read(&file).map_err(anyhow::Error::from).and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
    if let Ok(report) = &report {
        show(report, &mut std::io::stderr())?;
    }
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success() && said.contains("1 passed"), "{said}");
    judge(&report.context("the test left no report")?)
}

fn drawn_seed() -> Result<String> {
    let uuid = fs::read_to_string("/proc/sys/kernel/random/uuid")?;
    Ok(u32::from_str_radix(&uuid[..8], 16)?.to_string())
}

/// A row a pair: attacker, moment, attempts, how many of those the policy had to judge, how many got in.
fn show(report: &Value, out: &mut impl std::io::Write) -> Result<()> {
    writeln!(out, "{:20} {:14} {:>8} {:>8} {:>6}", "attacker", "moment", "attempts", "judged", "let in")?;
    let count = |row: &Value, name: &str| row[name].as_u64().unwrap_or_default();
    let (mut attempts, mut judged, mut let_in) = (0, 0, 0);
    for row in report["rows"].as_array().into_iter().flatten() {
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let got = row["letIn"].as_array().map_or(0, Vec::len);
        let (tried, seen) = (count(row, "attempts"), count(row, "judged"));
        writeln!(out, "{:20} {:14} {tried:>8} {seen:>8} {got:>6}", text("attacker"), text("moment"))?;
        (attempts, judged, let_in) = (attempts + tried, judged + seen, let_in + got);
    }
    writeln!(out, "{:20} {:14} {attempts:>8} {judged:>8} {let_in:>6}", "all", "all")?;
    for (when, seconds) in joins(report) {
        writeln!(out, "a host joins, {when:14} {seconds:>6.1} s")?;
    }
    Ok(())
}

/// The first was in quiet; no other takes much longer.
fn judge(report: &Value) -> Result<()> {
    let joins = joins(report);
    let [(_, quiet), beside @ ..] = joins.as_slice() else { anyhow::bail!("no host joined") };
    ensure!(!beside.is_empty(), "no host joined beside attackers");
    for (when, seconds) in beside {
        let delay = seconds - quiet;
        ensure!(
            delay <= LONGEST_DELAY,
            "a host that joined {when} was delayed by {delay:.1} s; {LONGEST_DELAY} are allowed"
        );
    }
    Ok(())
}

fn joins(report: &Value) -> Vec<(String, f64)> {
    let all = report["joins"].as_array().into_iter().flatten();
    all.map(|join| {
        (join["when"].as_str().unwrap_or_default().to_owned(), join["seconds"].as_f64().unwrap_or_default())
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report(beside: f64) -> Value {
        json!({"rows": [{"attacker": "pod", "moment": "after-join", "attempts": 3, "judged": 2, "letIn": ["x"]}],
            "joins": [{"when": "in quiet", "seconds": 4.0}, {"when": "before-join", "seconds": beside}]})
    }

    #[test]
    fn a_host_may_be_delayed_by_five_seconds_and_no_more() {
        judge(&report(3.0)).unwrap();
        judge(&report(8.9)).unwrap();
        assert!(judge(&report(9.1)).unwrap_err().to_string().contains("delayed by 5.1 s"));
        assert!(judge(&json!({"joins": [{"when": "in quiet", "seconds": 4.0}]})).is_err());
    }

    #[test]
    fn the_table_adds_up() {
        let mut out = Vec::new();
        show(&report(5.0), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("pod                  after-join            3        2      1"), "{text}");
        assert!(text.contains("all                  all                   3        2      1"), "{text}");
    }
}
