//! Writes down what is seen of the files, for whoever looks back at an install: which assets were stale, and why, and which
//! certificates lay there. Only where there is a journal: files may be made long before anything happens to a machine.

use std::collections::BTreeSet;

use hardway_assets::graph::{FileState, Plan, PlanStep};
use hardway_assets::{Tree, pki};
use hardway_journal::{
    AssetSeen, AssetsSeen, CertificateSeen, CertificatesSeen, Entry, FILE_NAME, FilesSeen, History, Journal,
    JournalError,
};

use super::{Forecast, Project};
use crate::clock;
use crate::inputs::Workdir;
use crate::terminal::Output;

/// What would be made, before anything is.
pub(crate) fn note_forecast(workdir: &Workdir, project: &Project, forecast: &Forecast, out: &Output) {
    let assets = forecast.steps().into_iter().map(|step| asset(step, true)).collect();
    note(workdir, project, assets, project.tree(), out);
}

/// What was made.
pub(super) fn note_made(workdir: &Workdir, project: &Project, plan: &Plan, out: &Output) {
    let assets = plan.steps.iter().map(|step| asset(step, false)).collect();
    note(workdir, project, assets, &plan.tree(project.tree()), out);
}

/// What somebody has a hand in is not made anew, and stays as stale as it was.
fn asset(step: &PlanStep, is_ahead: bool) -> AssetSeen {
    let is_stale = is_ahead || step.files.iter().any(|(_, state)| state.is_kept());
    let reasons = if is_stale { step.reasons.iter().map(ToString::to_string).collect() } else { Vec::new() };
    let edited = step.files.iter().filter(|(_, state)| *state == FileState::EditedByHand);
    AssetSeen {
        asset: step.asset.clone(),
        reasons,
        edited: edited.map(|(output, _)| output.path.clone()).collect(),
    }
}

/// Nobody needs it to make files: a journal that cannot be written holds nothing up.
fn note(workdir: &Workdir, project: &Project, assets: Vec<AssetSeen>, tree: &Tree, out: &Output) {
    if !workdir.path(FILE_NAME).is_file() {
        return;
    }
    if let Err(error) = append(workdir, project, assets, tree) {
        out.warn(&format!("what was seen of the files is not in {FILE_NAME}: {error}"));
    }
}

fn append(
    workdir: &Workdir,
    project: &Project,
    assets: Vec<AssetSeen>,
    tree: &Tree,
) -> Result<(), JournalError> {
    let path = workdir.path(FILE_NAME);
    let known = History::read(&path)?.files;
    let now = clock::now();
    let assets = news_of_assets(&known, assets, project);
    let certificates = news_of_certificates(&known, project, tree);
    let entries: Vec<Entry> = assets
        .map(|fact| Entry::of(now, &fact))
        .into_iter()
        .chain(certificates.map(|fact| Entry::of(now, &fact)))
        .collect();
    if !entries.is_empty() {
        Journal::open(&path)?.append(&entries)?;
    }
    Ok(())
}

fn news_of_assets(known: &FilesSeen, mut assets: Vec<AssetSeen>, project: &Project) -> Option<AssetsSeen> {
    assets.retain(|seen| known.assets().get(&seen.asset).is_none_or(|(_, before)| before != seen));
    let declared: BTreeSet<String> = project.graph().assets().map(hardway_assets::graph::Asset::id).collect();
    let gone: Vec<String> = known.assets().keys().filter(|name| !declared.contains(*name)).cloned().collect();
    (!assets.is_empty() || !gone.is_empty()).then_some(AssetsSeen { assets, gone })
}

fn news_of_certificates(known: &FilesSeen, project: &Project, tree: &Tree) -> Option<CertificatesSeen> {
    let there: Vec<CertificateSeen> = pki::expiries(project.cluster(), tree, project.now())
        .into_iter()
        .filter(|end| end.is_on_disk)
        .map(|end| CertificateSeen {
            certificate: end.certificate,
            not_after: end.not_after,
            due_from: end.due_from,
        })
        .collect();
    let names: BTreeSet<&str> = there.iter().map(|seen| seen.certificate.as_str()).collect();
    let gone: Vec<String> =
        known.certificates().keys().filter(|name| !names.contains(name.as_str())).cloned().collect();
    let is_news = |seen: &&CertificateSeen| {
        known.certificates().get(&seen.certificate).is_none_or(|(_, before)| before != *seen)
    };
    let certificates: Vec<CertificateSeen> = there.iter().filter(is_news).cloned().collect();
    (!certificates.is_empty() || !gone.is_empty()).then_some(CertificatesSeen { certificates, gone })
}
