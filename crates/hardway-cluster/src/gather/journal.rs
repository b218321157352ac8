//! A smaller bundle, of the bootstrap host's journal alone: for a host that lets nobody log in.

use std::collections::BTreeMap;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{GatherError, Gathered};
use crate::bootstrap_progress::{BootstrapHost, Gateway, RECORDER, ServiceRecord, Which};
use crate::diagnosis::BundleError;
use hardway_base::redaction::Redactor;

/// The units of which installer-gather.sh collects the journals too.
const UNITS: [&str; 9] = [
    "bootkube",
    "chown-gatewayd-key",
    "crio",
    "crio-configure",
    "install-to-disk",
    "kubelet",
    "node-image-pull",
    "progress",
    "release-image",
];

/// The last lines of each.
const LINES: usize = 20_000;

/// Copies what the services said and recorded to `target`, redacted, in the layout of a whole bundle.
pub async fn from_journal(
    gateway: &Gateway,
    redactor: &Redactor,
    target: impl Write,
) -> Result<Gathered, GatherError> {
    let asked = |error: &dyn std::error::Error| GatherError::Journal(error.to_string());
    let host = BootstrapHost { ssh: None, gateway: Some(gateway.clone()) };
    let mut files = BTreeMap::new();
    for (unit, lines) in host.journals(&UNITS, LINES).await.map_err(|error| asked(&error))? {
        files.insert(format!("bootstrap/journals/{unit}.log"), lines);
    }
    let records = gateway.entries(&[("SYSLOG_IDENTIFIER", RECORDER), ("_UID", "0")], Which::All).await;
    for entry in records.map_err(|error| asked(&error))? {
        if let Some(service) = service(&entry.message) {
            files
                .entry(format!("bootstrap/services/{service}.stream.jsonl"))
                .or_default()
                .push(entry.message);
        }
    }
    Ok(write(&files, redactor, target)?)
}

/// Its name becomes that of a file.
fn service(record: &str) -> Option<String> {
    let service = serde_json::from_str::<ServiceRecord>(record).ok()?.service;
    let is_name = service.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    (is_name && !service.is_empty()).then_some(service)
}

fn write(
    files: &BTreeMap<String, Vec<String>>,
    redactor: &Redactor,
    target: impl Write,
) -> Result<Gathered, BundleError> {
    let mut gathered = Gathered::default();
    let mut builder = tar::Builder::new(GzEncoder::new(target, Compression::default()));
    for (path, lines) in files.iter().filter(|(_, lines)| !lines.is_empty()) {
        let text = lines.join("\n") + "\n";
        let redacted = redactor.redact(&text);
        gathered.files += 1;
        gathered.redacted += usize::from(redacted != text);
        super::append(&mut builder, path, redacted.as_bytes())?;
    }
    builder.into_inner()?.finish()?.flush()?;
    if gathered.files == 0 { Err(BundleError::NotABundle) } else { Ok(gathered) }
}
