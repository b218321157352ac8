//! Lines of logs.

use crate::diagnosis::evidence::{Evidence, LogSource};

/// The last lines that hold all texts of one alternative. A log's own name counts as part of its lines: a container's log
/// rarely says whose it is. Case is ignored.
pub(in crate::diagnosis) fn lines_with(evidence: &Evidence, patterns: &[&[&str]]) -> Vec<String> {
    let mut found = matching(evidence, patterns);
    let count = found.len();
    let mut shown: Vec<String> = Vec::new();
    while let Some(line) = found.pop() {
        if !shown.contains(&line) {
            shown.insert(0, line);
        }
        if shown.len() == SHOWN {
            break;
        }
    }
    if count > shown.len() {
        shown.push(format!("{count} such lines"));
    }
    shown
}

/// How many lines are like that.
pub(in crate::diagnosis) fn count(evidence: &Evidence, patterns: &[&[&str]]) -> usize {
    matching(evidence, patterns).len()
}

const SHOWN: usize = 3;
const LONGEST: usize = 300;

fn matching(evidence: &Evidence, patterns: &[&[&str]]) -> Vec<String> {
    if patterns.is_empty() {
        return Vec::new();
    }
    let patterns: Vec<Vec<String>> =
        patterns.iter().map(|all| all.iter().map(|text| text.to_lowercase()).collect()).collect();
    let mut found = Vec::new();
    for log in evidence.logs() {
        let name = log.name.to_lowercase();
        for line in &log.lines {
            let text = line.to_lowercase();
            let has = |wanted: &String| text.contains(wanted) || name.contains(wanted);
            // Only the name is not enough.
            let fits =
                |all: &Vec<String>| all.iter().all(has) && all.iter().any(|wanted| text.contains(wanted));
            if patterns.iter().any(fits) {
                found.push(format!("{}: {}", source(&log.source, &log.name), clipped(line.trim())));
            }
        }
    }
    found
}

fn source(source: &LogSource, name: &str) -> String {
    match source {
        LogSource::Bootstrap => format!("bootstrap host, {name}"),
        LogSource::Cluster | LogSource::Given => name.to_owned(),
        LogSource::Node(node) => format!("{node}, {name}"),
    }
}

fn clipped(line: &str) -> String {
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
