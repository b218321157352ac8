//! Running the checks.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::mpsc;
use std::thread;

use hardway_assets::inventory::Provider;
use serde::Serialize;

use super::catalogue::{CHECKS, Check};
use super::scene::Scene;
use super::site::Site;
use super::{Judged, Verdict};
use crate::check::{CheckName, Group};

/// One check and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckResult {
    /// Which.
    pub check: CheckName,
    /// What it is about.
    pub group: Group,
    /// How it ended.
    #[serde(flatten)]
    pub judged: Judged,
}

/// Which checks are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Left out.
    pub skip: BTreeSet<CheckName>,
    /// Nothing but these, if there are any.
    pub only: BTreeSet<CheckName>,
    /// Not even named in the results: nobody asked for them here.
    pub unasked: &'static [CheckName],
}

/// Checks at a time. They mostly wait; a few start programs.
const AT_A_TIME: usize = 8;

/// Runs the checks that are wanted and apply to the provider. Each result is told when it is known; all of them are given back in the
/// order of the catalogue. Blocks: from async code, call it where blocking is allowed.
pub fn run(site: &Site<'_>, choice: &Choice, mut on_result: impl FnMut(&CheckResult)) -> Vec<CheckResult> {
    let scene = Scene::new(*site);
    let wanted: Vec<&Check> = CHECKS.iter().filter(|check| choice.names(check)).collect();
    let mut waiting = Vec::new();
    let mut results = Vec::new();
    for check in &wanted {
        match before(check, &scene, choice) {
            Some(judged) => results.push(result(check, judged)),
            None => waiting.push(*check),
        }
    }
    results.iter().for_each(&mut on_result);
    // The slow ones first: what waits for a balancer should not begin to wait when all others are done.
    waiting.sort_by_key(|check| !is_slow(check.name));
    let queue = Mutex::new(waiting.into_iter());
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            let (sender, queue, scene) = (sender.clone(), &queue, &scene);
            scope.spawn(move || {
                while let Some(check) = next(queue) {
                    let _ = sender.send(result(check, check.look(scene)));
                }
            });
        }
        drop(sender);
        for result in receiver {
            on_result(&result);
            results.push(result);
        }
    });
    results.sort_by_key(|result| result.check);
    results
}

/// The names of checks that failed, in order.
pub fn failed(results: &[CheckResult]) -> Vec<CheckName> {
    results
        .iter()
        .filter(|result| result.judged.verdict == Verdict::Failed)
        .map(|result| result.check)
        .collect()
}

impl Choice {
    fn names(&self, check: &Check) -> bool {
        let is_asked = self.only.is_empty() || self.only.contains(&check.name);
        is_asked && !self.unasked.contains(&check.name)
    }

    /// Checks that were asked for by name and are about other providers, each with the providers that it is about.
    pub fn foreign(&self, provider: Provider) -> Vec<(CheckName, &'static [Provider])> {
        let is_foreign =
            |check: &&Check| self.only.contains(&check.name) && !check.providers.contains(&provider);
        CHECKS.iter().filter(is_foreign).map(|check| (check.name, check.providers.as_slice())).collect()
    }
}

/// The verdict on a check that need not look.
fn before(check: &Check, scene: &Scene<'_>, choice: &Choice) -> Option<Judged> {
    if choice.skip.contains(&check.name) {
        return Some(Judged::skipped("skipped on request"));
    }
    let provider = scene.provider();
    (!check.providers.contains(&provider)).then(|| {
        let providers: Vec<&str> = check.providers.iter().map(|provider| provider.name()).collect();
        Judged::not_applicable(format!("only for {}", providers.join(" and ")))
    })
}

/// Whether it waits for somebody, and so should begin early.
fn is_slow(check: CheckName) -> bool {
    matches!(
        check,
        CheckName::NamesServer
            | CheckName::BalancerApi
            | CheckName::ReleaseImage
            | CheckName::Images
            | CheckName::DiskLatency
    )
}

fn next<'a>(queue: &Mutex<std::vec::IntoIter<&'a Check>>) -> Option<&'a Check> {
    queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next()
}

fn result(check: &Check, judged: Judged) -> CheckResult {
    CheckResult { check: check.name, group: check.group, judged }
}
