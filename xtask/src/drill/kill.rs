//! Killed after every event of the journal, and run again: the same end, and a folder that is whole.

use std::io::Write as _;

use anyhow::{Result, ensure};
use fs_err as fs;

use super::lab::Lab;

/// Assets, infrastructure and join; what comes later only waits.
const LAST: &str = "join-control-plane: done";
const LAST_AGAIN: &str = "join-control-plane: already done";

pub(super) fn run() -> Result<()> {
    let lab = Lab::init("kill", 1, 0)?;
    let mut kills = 0;
    loop {
        let mut run = lab.start(&["create", "cluster"])?;
        let known = run.records();
        let ended = run.until_more_records(known)?;
        ensure!(ended.is_none(), "it ended by itself with {ended:?} after {kills} kills:\n{}", run.said());
        let said = run.said();
        if said.contains(LAST) || said.contains(LAST_AGAIN) {
            run.kill()?;
            break;
        }
        run.kill()?;
        kills += 1;
        ensure!(kills < 400, "it does not get on");
    }
    writeln!(std::io::stderr(), "killed {kills} times")?;
    journal_is_whole(&lab)?;
    // What was begun so often is taken back once, and wholly.
    lab.destroy()
}

/// Every line is whole, and nothing was done to the host that is not written down.
fn journal_is_whole(lab: &Lab) -> Result<()> {
    let text = fs::read_to_string(lab.path("journal.jsonl"))?;
    for line in text.lines() {
        let _: serde_json::Value = serde_json::from_str(line)?;
    }
    lab.ok(&["status"])?;
    Ok(())
}
