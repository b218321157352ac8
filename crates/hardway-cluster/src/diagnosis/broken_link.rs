//! What is broken, with why it is thought so and what to do.

use hardway_assets::explain::{Catalogue, Kind};
use serde::Serialize;

use super::catalogue::{DiagnosisSpec, ROWS};
use super::evidence::Evidence;
use super::link::Link;
use hardway_base::redaction::Redactor;

/// One broken link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diagnosis {
    /// `hardway explain CODE` says more.
    pub code: String,
    /// Where in the chain.
    pub link: Link,
    /// What one sees of it.
    pub symptom: &'static str,
    /// Why it is so.
    pub cause: &'static str,
    /// What was found here.
    pub evidence: Vec<String>,
    /// The way out.
    pub fix: &'static str,
}

/// The first broken link of the chain.
pub fn first_broken(evidence: &Evidence) -> Option<Diagnosis> {
    let catalogue = Catalogue::read(crate::EXPLANATIONS.iter().copied());
    ROWS.iter().find_map(|row| diagnose(row, evidence, &catalogue))
}

/// Every broken link, in order. Most of what follows the first is its consequence.
pub fn all_broken(evidence: &Evidence) -> Vec<Diagnosis> {
    let catalogue = Catalogue::read(crate::EXPLANATIONS.iter().copied());
    ROWS.iter().filter_map(|row| diagnose(row, evidence, &catalogue)).collect()
}

fn diagnose(row: &DiagnosisSpec, evidence: &Evidence, catalogue: &Catalogue) -> Option<Diagnosis> {
    let sentences = row.probe(evidence);
    if sentences.is_empty() {
        return None;
    }
    // A journal may hold anything, and this is printed.
    let redactor = Redactor::default();
    let sentences = sentences.iter().map(|sentence| redactor.redact(sentence)).collect();
    let code = format!("E-{}", row.id);
    let explained = catalogue.get(Kind::Diagnosis, &code);
    let (symptom, cause, fix) = explained.map_or(("", "", ""), |e| (e.what, e.why, e.without));
    Some(Diagnosis { code, link: row.link, symptom, cause, evidence: sentences, fix })
}
