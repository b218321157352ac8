//! What keeps hosted workers from working: the failure catalogue of platform None.
//!
//! Evidence is collected first (`evidence.rs`) and judged by pure probes, a row each, in the order of a worker's way. The words of a row are in
//! `explanations/diagnoses.md`.

mod collect;
mod evidence;
mod probes;

use hardway_assets::explain::{Catalogue, Kind};
use hardway_cluster::diagnosis::Diagnosis;

pub use evidence::{Evidence, PendingRequest, PoolEvidence, Probe};

/// One entry of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct HostedDiagnosisSpec {
    /// `hardway explain CODE` says more.
    pub code: &'static str,
    probe: fn(&Evidence) -> Vec<String>,
    /// What it looks for in a console log: alternatives, each a list of texts that must all stand in one line.
    logged: &'static [&'static [&'static str]],
}

const fn row(code: &'static str, probe: fn(&Evidence) -> Vec<String>) -> HostedDiagnosisSpec {
    HostedDiagnosisSpec { code, probe, logged: &[] }
}

impl HostedDiagnosisSpec {
    const fn logged(self, logged: &'static [&'static [&'static str]]) -> Self {
        Self { logged, ..self }
    }
}

/// Every entry, in the order of a worker's way.
pub const ROWS: &[HostedDiagnosisSpec] = &[
    row("E-W1", probes::no_secrets),
    row("E-W2", probes::no_payload),
    row("E-W19", probes::config_moves),
    row("E-W18", probes::pool_does_not_go),
    row("E-W6", probes::wrong_name)
        .logged(&[&["x509", "certificate is valid for", "not "], &["x509", "doesn't contain any IP SANs"]]),
    row("E-W7", probes::unreachable).logged(&[
        &["/ignition", "connection refused"],
        &["/ignition", "i/o timeout"],
        &["/ignition", "no route to host"],
    ]),
    row("E-W8", probes::backend_down)
        .logged(&[&["/ignition", "Service Unavailable"], &["/ignition", "Gateway Timeout"]]),
    row("E-W5", probes::wrong_authority).logged(&[&[
        "/ignition",
        "x509",
        "certificate signed by unknown authority",
    ]]),
    row("E-W4", probes::bad_pointer).logged(&[&["/ignition", "Unauthorized"], &["/ignition", "Not Found"]]),
    row("E-W3", probes::dead_token).logged(&[&["/ignition", "Network Authentication Required"]]),
    row("E-W10", probes::no_request),
    row("E-W9", probes::never_reached),
    row("E-W12", probes::name_taken),
    row("E-W11", probes::client_pending),
    row("E-W20", probes::no_network_certificate),
    row("E-W15", probes::no_network),
    row("E-W14", probes::renewals_pending),
    row("E-W13", probes::serving_pending),
    row("E-W16", probes::unlabelled),
    row("E-W17", probes::outdated),
];

/// Every broken link, in order. Most of what follows the first is its consequence.
pub fn diagnose(evidence: &Evidence) -> Vec<Diagnosis> {
    let catalogue = Catalogue::read(crate::EXPLANATIONS.iter().copied());
    let found = ROWS.iter().filter_map(|row| {
        let mut sentences = (row.probe)(evidence);
        sentences.extend(evidence.lines_with(row.logged));
        Diagnosis::of(&sentences, Kind::HostedDiagnosis, row.code, &catalogue)
    });
    found.collect()
}

#[cfg(test)]
mod tests;
