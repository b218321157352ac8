//! What a log bundle tells: hardway's own, and openshift-install's, which has the same layout.

use std::collections::BTreeMap;
use std::io::Read;

use hardway_assets::ignition::bootstrap_files::STAGES;
use serde_json::Value;

use super::bundle::{Bundle, BundleError, BundleLimits, Take};
use super::evidence::{Evidence, LogSource, LogTail};
use super::resources::{Resources, WANTED};
use crate::bootstrap_progress::{BootstrapReport, ServiceRecord, entries};

/// The last lines of a log that are looked at.
pub(super) const LINES: usize = 400;

/// Reads a bundle. What should be there, and which time it is, is for the caller to add.
pub fn from_bundle(compressed: impl Read, limits: BundleLimits) -> Result<Evidence, BundleError> {
    let bundle = Bundle::read(compressed, limits, wanted)?;
    let mut evidence = Evidence::default();
    resources(&bundle).tell(&mut evidence);
    let records = records(&bundle);
    if !records.is_empty() {
        evidence.bootstrap = Some(BootstrapReport::new(STAGES, records));
    }
    evidence.logs.extend(bundle.files.iter().filter_map(|(path, bytes)| log(path, bytes)));
    Ok(evidence)
}

fn wanted(path: &str) -> Option<Take> {
    let is_resource = |name: &str| WANTED.iter().any(|(file, _)| *file == name);
    match path.split('/').collect::<Vec<_>>().as_slice() {
        ["resources", name] => is_resource(name).then_some(Take::Whole),
        ["bootstrap", "services", name] => is_record(name).then_some(Take::Whole),
        _ => whose(path).map(|_| Take::Tail),
    }
}

fn is_record(name: &str) -> bool {
    name.ends_with(".json") || name.ends_with(".stream.jsonl")
}

/// Whose log it is, and its name.
fn whose(path: &str) -> Option<(LogSource, String)> {
    let name = path.strip_suffix(".log")?;
    let rooms = ["journals", "containers", "pods", "unit-status"];
    match name.split('/').collect::<Vec<_>>().as_slice() {
        ["bootstrap", room, rest @ ..] if rooms.contains(room) => {
            Some((LogSource::Bootstrap, rest.join("/")))
        }
        ["unit-status", rest @ ..] => Some((LogSource::Bootstrap, rest.join("/"))),
        ["control-plane", host, room, rest @ ..] if rooms.contains(room) => {
            Some((LogSource::Node((*host).to_owned()), rest.join("/")))
        }
        _ => None,
    }
}

fn log(path: &str, bytes: &[u8]) -> Option<LogTail> {
    let (source, name) = whose(path)?;
    Some(LogTail { source, name, lines: last_lines(&String::from_utf8_lossy(bytes)) })
}

/// The last of them that say something.
pub(super) fn last_lines(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(LINES)..].iter().map(|line| (*line).to_owned()).collect()
}

fn resources(bundle: &Bundle) -> Resources {
    let read = |(path, bytes): (&String, &Vec<u8>)| {
        let name = path.strip_prefix("resources/")?;
        // What the API did not answer in time is cut off there, and proves nothing.
        let value: Value = serde_json::from_slice(bytes).ok()?;
        Some((name.to_owned(), value))
    };
    Resources(bundle.files.iter().filter_map(read).collect())
}

/// A service's record is a stream of lines, or one list of all.
fn records(bundle: &Bundle) -> BTreeMap<String, Vec<ServiceRecord>> {
    let mut records: BTreeMap<String, Vec<ServiceRecord>> = BTreeMap::new();
    for (path, bytes) in &bundle.files {
        let Some(name) = path.strip_prefix("bootstrap/services/") else { continue };
        if let Some(service) = name.strip_suffix(".stream.jsonl") {
            records.insert(service.to_owned(), entries(&String::from_utf8_lossy(bytes)));
        } else if let Some(service) = name.strip_suffix(".json")
            && let Ok(list) = serde_json::from_slice::<Vec<ServiceRecord>>(bytes)
        {
            records.entry(service.to_owned()).or_insert(list);
        }
    }
    records
}
