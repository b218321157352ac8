//! Whether this host and everything around the cluster are fit: phase check-host.

mod registries;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use hardway_assets::inventory::Provider;
use hardway_assets::{Cluster, pki};
use hardway_machines::preflight::{
    self, AskRegistry, CHECKS, CheckName, CheckResult, Choice, PreflightPatience, PreflightVerdict, Site,
};

use crate::clock;
use crate::inputs::{InputFile, Workdir};
use crate::release::{RegistryOptions, is_sample};
use crate::report::{Code, Report};
use crate::terminal::Output;
use registries::Registries;

/// Where the release of a working folder comes from.
#[derive(Clone, Copy)]
pub(crate) struct ReleaseSource<'a> {
    pub(crate) registry: &'a RegistryOptions,
    /// It counts, whatever the inventory names.
    pub(crate) folder: Option<&'a Path>,
}

/// Runs the checks of a working folder; each result is told when it is known.
pub(crate) fn look(
    workdir: &Workdir,
    install_config: &InputFile,
    cluster: &Cluster,
    source: ReleaseSource<'_>,
    choice: &Choice,
    on_result: impl FnMut(&CheckResult),
    out: &Output,
) -> Result<Vec<CheckResult>, Report> {
    let now = clock::now();
    let certificates = pki::expiries(cluster, &workdir.tree()?, now);
    let registries = Registries::of(cluster, install_config, source.registry, out);
    let ask = || registries.ask();
    let site = Site {
        cluster,
        folder: &workdir.path(""),
        certificates: &certificates,
        is_sample: is_sample(&cluster.inventory.release.image, source.folder)?,
        registry: Some(&ask as AskRegistry<'_>),
        now,
        patience: PreflightPatience::default(),
    };
    Ok(preflight::run(&site, choice, on_result))
}

/// What to say when a check failed.
pub(crate) fn refused(results: &[CheckResult]) -> Option<Report> {
    let failed: Vec<&str> = preflight::failed(results).into_iter().map(CheckName::as_str).collect();
    let is_asked = |result: &&CheckResult| {
        !matches!(result.verdict, PreflightVerdict::NotApplicable | PreflightVerdict::Skipped)
    };
    let asked = results.iter().filter(is_asked).count();
    let what = format!("{} of {asked} checks failed: {}", failed.len(), failed.join(", "));
    (!failed.is_empty()).then(|| {
        Report::new(Code::PreflightFailed, what)
            .fix("each says above what was seen and what to do; --skip-check NAME leaves one out")
    })
}

/// Group by group, one line per check; what was seen and what to do below those that did not pass. Checks that are about
/// another provider are left out.
pub(crate) fn preflight_text(results: &[CheckResult], provider: Provider) -> String {
    let is_about = |result: &&CheckResult| {
        CHECKS.iter().any(|check| check.name == result.check && check.providers.contains(&provider))
    };
    let shown: Vec<&CheckResult> = results.iter().filter(is_about).collect();
    let width = shown.iter().map(|result| result.check.as_str().len()).max().unwrap_or_default();
    let mut text = String::new();
    let mut group = None;
    for result in &shown {
        if group.replace(result.group) != Some(result.group) {
            let _ = writeln!(text, "{}", result.group);
        }
        let CheckResult { check, verdict, seen, fix, .. } = result;
        let first = seen.first().map_or("", String::as_str);
        let _ = writeln!(text, "  {verdict:14} {check:width$}  {first}");
        let more = seen.iter().skip(1).cloned().chain(fix.iter().map(|fix| format!("fix: {fix}")));
        more.for_each(|line| _ = writeln!(text, "  {:14} {:width$}  {line}", "", ""));
    }
    let count = |verdict| shown.iter().filter(|result| result.verdict == verdict).count();
    let [passed, warned, skipped, other, failed] = [
        PreflightVerdict::Passed,
        PreflightVerdict::Warned,
        PreflightVerdict::Skipped,
        PreflightVerdict::NotApplicable,
        PreflightVerdict::Failed,
    ]
    .map(count);
    let _ = writeln!(
        text,
        "{passed} passed, {warned} warned, {skipped} skipped, {other} not applicable, {failed} failed"
    );
    text
}

/// The checks of these names; an error when a name is that of no check.
pub(crate) fn checks_named(names: &[String]) -> Result<BTreeSet<CheckName>, Report> {
    let named = |name: &String| {
        CheckName::named(name).ok_or_else(|| {
            let known: Vec<&str> = CheckName::ALL.iter().map(|check| check.as_str()).collect();
            Report::new(Code::Usage, format!("there is no check {name:?}"))
                .fix(format!("one of {}", known.join(", ")))
        })
    };
    names.iter().map(named).collect()
}
