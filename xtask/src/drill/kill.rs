//! Killed after every event of the journal that was not there before, and run again: the same end, and a folder that is
//! whole. A page beside it shows what status says all the while. What a run that resumes writes down once more is no new event, so each run gets further than the last.

use std::collections::BTreeSet;
use std::io::Write as _;

use anyhow::{Result, ensure};
use fs_err as fs;
use serde_json::Value;

use super::lab::Lab;
use super::page::Page;

/// A browser takes its time: every so many kills it looks at the page.
const BETWEEN_LOOKS: usize = 10;

/// Assets, infrastructure and join; what comes later only waits.
const LAST: &str = "join-control-plane: done";
const LAST_AGAIN: &str = "join-control-plane: already done";

pub(super) fn run() -> Result<()> {
    let lab = Lab::init("kill", 1, 0)?;
    let page = Page::start(&lab)?;
    let (mut kills, mut known) = (0, BTreeSet::new());
    loop {
        let mut run = lab.start(&["create", "cluster"])?;
        loop {
            let ended = run.until_more_records(run.records())?;
            ensure!(
                ended.is_none(),
                "it ended by itself with {ended:?} after {kills} kills:\n{}",
                run.said()
            );
            let events = events(&lab)?;
            if !events.is_subset(&known) {
                known = events;
                break;
            }
        }
        let said = run.said();
        run.kill()?;
        kills += 1;
        if kills % BETWEEN_LOOKS == 0 {
            page.must_show_what_status_says(&lab)?;
        }
        if said.contains(LAST) || said.contains(LAST_AGAIN) {
            break;
        }
    }
    writeln!(std::io::stderr(), "killed {kills} times, after {} different events", known.len())?;
    page.must_show_what_status_says(&lab)?;
    journal_is_whole(&lab)?;
    interrupted(&lab)?;
    page.must_show_what_status_says(&lab)?;
    drop(page);
    // What was begun so often is taken back once, and wholly.
    lab.destroy()
}

/// A person may stop it as well: it ends by itself, and says how to go on.
fn interrupted(lab: &Lab) -> Result<()> {
    let mut run = lab.start(&["create", "cluster"])?;
    run.until_said("await-etcd: ")?;
    run.interrupt()?;
    let said = run.must_fail(8)?;
    for words in ["error[interrupted]", "run the same command again"] {
        ensure!(said.contains(words), "{words:?} is missing:\n{said}");
    }
    journal_is_whole(lab)
}

/// What happened, whenever and however often.
fn events(lab: &Lab) -> Result<BTreeSet<String>> {
    let text = fs::read_to_string(lab.path("journal.jsonl"))?;
    let mut events = BTreeSet::new();
    for line in text.lines() {
        // The last one may be half written.
        let Ok(record) = serde_json::from_str::<Value>(line) else { continue };
        let body = &record["body"];
        let name = ["phase", "action", "host", "request", "node"].iter().find_map(|key| body[key].as_str());
        events.insert(format!("{} {}", record["kind"], name.unwrap_or_default()));
    }
    Ok(events)
}

/// Every line is whole, and nothing was done to the host that is not written down.
fn journal_is_whole(lab: &Lab) -> Result<()> {
    let text = fs::read_to_string(lab.path("journal.jsonl"))?;
    for line in text.lines() {
        let _: Value = serde_json::from_str(line)?;
    }
    lab.ok(&["status"])?;
    Ok(())
}
