//! What is broken, with why it is thought so and what to do.

use hardway_assets::explain::{Catalogue, Kind};
use serde::Serialize;

use super::catalogue::{DiagnosisSpec, ROWS};
use super::evidence::Evidence;
use super::link::Link;
use hardway_base::redaction::Redactor;

/// Something that is broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diagnosis {
    /// `hardway explain CODE` says more.
    pub code: String,
    /// Where in the chain; hosted clusters have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// What one sees of it.
    pub symptom: &'static str,
    /// Why it is so.
    pub cause: &'static str,
    /// What was found here.
    pub evidence: Vec<String>,
    /// The way out.
    pub fix: &'static str,
}

impl Diagnosis {
    /// What these sentences speak for, in the words of its explanation; nothing where there are none.
    pub fn of(sentences: &[String], kind: Kind, code: &str, catalogue: &Catalogue) -> Option<Self> {
        if sentences.is_empty() {
            return None;
        }
        // A journal or a console's log may hold anything, and this is printed.
        let redactor = Redactor::default();
        let evidence = sentences.iter().map(|sentence| redactor.redact(sentence)).collect();
        let explained = catalogue.get(kind, code);
        let (symptom, cause, fix) = explained.map_or(("", "", ""), |e| (e.what, e.why, e.without));
        Some(Self { code: code.to_owned(), link: None, symptom, cause, evidence, fix })
    }
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
    let found = Diagnosis::of(&row.probe(evidence), Kind::Diagnosis, &format!("E-{}", row.id), catalogue)?;
    Some(Diagnosis { link: Some(row.link), ..found })
}
