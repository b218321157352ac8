//! Whether this host and everything around the cluster are fit: phase check-host.

mod registries;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use hardway_assets::inventory::Provider;
use hardway_assets::{Cluster, pki};
use hardway_base::Verdict;
use hardway_machines::preflight::{
    self, AskImages, AskRegistry, CHECKS, CheckName, CheckResult, Choice, PreflightPatience, Site,
};

use crate::clock;
use crate::inputs::{InputFiles, Workdir};
use crate::project::declares_mirrors;
use crate::release::{RegistryOptions, is_sample};
use crate::report::{Code, FAINT, Report};
use crate::terminal::{Columns, Output, Place, Row, counts};
use registries::{Registries, ask_for_images};

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
    files: &InputFiles,
    cluster: &Cluster,
    source: ReleaseSource<'_>,
    choice: &Choice,
    on_result: impl FnMut(&CheckResult),
    out: &Output,
) -> Result<Vec<CheckResult>, Report> {
    let now = clock::now();
    let tree = workdir.tree()?;
    let certificates = pki::expiries(cluster, &tree, now);
    let registries = Registries::of(workdir, cluster, &files.config, source.registry, out);
    let ask = || registries.ask();
    let ask_images = || ask_for_images(workdir, files, cluster, source.registry);
    let has_mirrors = declares_mirrors(cluster, &tree);
    let site = Site {
        cluster,
        folder: &workdir.path(""),
        certificates: &certificates,
        is_sample: is_sample(&cluster.inventory.release.image, source.folder)?,
        registry: Some(&ask as AskRegistry<'_>),
        images: has_mirrors.then_some(&ask_images as AskImages<'_>),
        now,
        patience: PreflightPatience::default(),
    };
    Ok(preflight::run(&site, choice, on_result))
}

/// What to say when a check failed.
pub(crate) fn refused(results: &[CheckResult]) -> Option<Report> {
    let failed: Vec<&str> = preflight::failed(results).into_iter().map(CheckName::as_str).collect();
    let is_asked =
        |result: &&CheckResult| !matches!(result.judged.verdict, Verdict::NotApplicable | Verdict::Skipped);
    let asked = results.iter().filter(is_asked).count();
    let what = format!("{} of {asked} checks failed: {}", failed.len(), failed.join(", "));
    (!failed.is_empty()).then(|| {
        Report::new(Code::PreflightFailed, what)
            .fix("see what each failed check above found and how to fix it; --skip-check NAME skips one")
    })
}

/// Group by group, one line per check; what was seen and what to do below those that did not pass. Those that do not apply are one
/// line, unless all are wanted. Checks that are about another provider are left out.
pub(crate) fn preflight_text(results: &[CheckResult], provider: Provider, all: bool) -> String {
    let is_about = |result: &&CheckResult| {
        CHECKS.iter().any(|check| check.name == result.check && check.providers.contains(&provider))
    };
    let shown: Vec<&CheckResult> = results.iter().filter(is_about).collect();
    let (folded, told): (Vec<&CheckResult>, Vec<&CheckResult>) =
        shown.iter().partition(|result| !all && result.judged.verdict == Verdict::NotApplicable);
    let width = told.iter().map(|result| result.check.as_str().len()).max().unwrap_or_default();
    let verdicts = told.iter().map(|result| result.judged.verdict.name().len()).max().unwrap_or_default();
    let mut text = String::new();
    let mut group = None;
    let columns = Columns { indent: 2, outcome: (verdicts, 1), name: (width, 2), advice: Place::Detail };
    for result in told {
        if group.replace(result.group) != Some(result.group) {
            let _ = writeln!(text, "{}", result.group);
        }
        columns.write_painted(&mut text, &Row::judged(result.check.as_str(), &result.judged));
    }
    if !folded.is_empty() {
        let names: Vec<&str> = folded.iter().map(|result| result.check.as_str()).collect();
        let _ = writeln!(text, "{} (--all shows why): {}", FAINT.of("not applicable"), names.join(", "));
    }
    let verdicts =
        [Verdict::Passed, Verdict::Warned, Verdict::Skipped, Verdict::NotApplicable, Verdict::Failed];
    text + &counts(shown.iter().map(|result| &result.judged), &verdicts)
}

/// The checks of these names; an error when a name is that of no check.
pub(crate) fn checks_named(names: &[String]) -> Result<BTreeSet<CheckName>, Report> {
    let named = |name: &String| {
        CheckName::named(name).ok_or_else(|| {
            let known: Vec<&str> = CheckName::ALL.iter().map(|check| check.as_str()).collect();
            Report::new(Code::Usage, format!("no such check: {name:?}"))
                .fix(format!("one of {}", known.join(", ")))
        })
    };
    names.iter().map(named).collect()
}
