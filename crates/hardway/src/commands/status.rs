//! `hardway status`

use std::collections::BTreeMap;
use std::path::Path;

use hardway_assets::graph::{Expiry, FileState, Plan, PlanStep, Resolution, Stale};
use hardway_assets::input_tables::{INSTALL_CONFIG, INVENTORY};
use hardway_assets::pki;
use hardway_assets::{Phase, fetched_release};
use hardway_machines::providers::descriptor;
use serde_json::{Value, json};

use super::phase_status::{follow, phase_lines};
use crate::cli::{Format, Global, StatusArgs};
use crate::inputs::{InputFiles, Workdir, secrets_missing};
use crate::install::{PhaseStatus, phase_statuses};
use crate::machines::provider_kind;
use crate::page::{Known, Section};
use crate::project::{
    Checked, Forecast, Kept, Project, Trace, cluster_before_release, join, kept_in, lost_secrets,
};
use crate::release::{Composition, Reach};
use crate::report::{Code, Exit, Report};
use crate::terminal::Output;

/// What `create ignition-configs` would do now, and when certificates end. Changes nothing.
pub(crate) fn run(global: &Global, args: &StatusArgs, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    if args.watch {
        return follow(&workdir, out);
    }
    if let Some(file) = &args.why {
        return why(&workdir, file, args, out);
    }
    // What the files are can be told whatever is wrong with the journal.
    let (phases, unread) = match phase_statuses(&workdir) {
        Ok(phases) => (phases, None),
        Err(report) => (Vec::new(), Some(report)),
    };
    let looked = InputFiles::open(&workdir).and_then(|files| look(&workdir, &files, &phases, args, out));
    if looked.is_err() && args.output == Format::Text {
        // How far the install is can be told whatever is wrong with the files.
        out.data(&phase_lines(&phases));
    }
    let found = looked?;
    let locked = workdir.locked_release()?;
    if let Some((locked, resolution)) = locked.as_ref().and_then(|it| Some((it, it.resolution.as_ref()?))) {
        let (asked, image) = (&locked.asked, &locked.image);
        let Resolution { at, source } = resolution;
        out.info(&format!(
            "release {asked} was resolved at {at:.0} to {image}, by {source}; --refetch-release of `hardway create` asks again"
        ));
    }
    if let Some(note) = Composition::of(&workdir).note() {
        out.info(&note);
    }
    match unread.or_else(|| found.broken.into_values().next()) {
        Some(report) => Err(report),
        None if args.exit_code && !found.is_fresh => Ok(Exit::Error),
        None => Ok(Exit::Done),
    }
}

/// What follows from one file.
fn why(workdir: &Workdir, file: &Path, args: &StatusArgs, out: &Output) -> Result<Exit, Report> {
    let checked = Checked::load(workdir, Reach::local(args.release_dir.as_deref()), out)?;
    let project = Project::look(workdir, checked)?.around_the_broken();
    let name = workdir.name_of(file);
    let Some(trace) = Trace::of(&project, &name)? else {
        if [INSTALL_CONFIG.file, INVENTORY.file].contains(&name.as_str()) {
            let what = format!("{name} is an input file: nearly everything is made from it");
            return Err(Report::new(Code::Usage, what)
                .fix("`hardway status` shows what is stale since it was changed, and why"));
        }
        let what = format!("{name} is not a file that hardway makes, nor one that it makes anything from");
        let fix = "name a file of the folder, such as one in manifests/";
        return Err(Report::new(Code::Usage, what).fix(fix));
    };
    match args.output {
        Format::Text => {
            let lines = trace.lines().into_iter().map(|(label, told)| format!("  {label:9} {told}\n"));
            out.data(&format!("{} ({})\n{}", trace.file, trace.state(), lines.collect::<String>()));
        }
        format => out.value(&trace.value(), format),
    }
    Ok(Exit::Done)
}

/// What there is to say to whoever only reads the exit code.
struct Found {
    /// What cannot be made, and why.
    broken: BTreeMap<String, Report>,
    /// Whether nothing would be written or taken away now.
    is_fresh: bool,
}

/// What the journal says.
struct Recorded<'a> {
    phases: &'a [PhaseStatus],
    known: &'a Known,
}

/// Shows everything that can be known.
fn look(
    workdir: &Workdir,
    files: &InputFiles,
    phases: &[PhaseStatus],
    args: &StatusArgs,
    out: &Output,
) -> Result<Found, Report> {
    let cluster = cluster_before_release(workdir, files).ok();
    // What is wrong with the journal is told by whoever asked it for the phases.
    let known = Known::of_folder(workdir, cluster.as_ref()).unwrap_or_else(|_| Known::new(cluster.as_ref()));
    let recorded = Recorded { phases, known: &known };
    if let Some(step) = unfetched(workdir, files, args)? {
        show(&recorded, &Plan::default(), &[&step], &[], &BTreeMap::new(), args, out);
        // Where the provider brings the release, there is none to fetch before its machines are built.
        let brings_release =
            provider_kind(workdir).is_some_and(|kind| descriptor(kind).sample.release.is_some());
        out.info(match brings_release {
            true => "the rest needs the release, which `hardway create cluster` builds",
            false => "the rest needs the release: fetch it with `hardway create manifests`",
        });
        return Ok(Found { broken: BTreeMap::new(), is_fresh: false });
    }
    let checked = Checked::of(workdir, files, Reach::local(args.release_dir.as_deref()), out)?;
    let lost = lost_secrets(workdir, &checked)?;
    if !lost.is_empty() {
        return Ok(show_missing(&lost, &recorded, args, out));
    }
    let project = Project::look(workdir, checked)?.around_the_broken();
    if let Some(open) = project.open_to_others(workdir) {
        out.warn(&open);
    }
    let forecast = Forecast::of(&project, |_| true)?;
    let broken = project.broken();
    let mut ends = pki::expiries(project.cluster(), project.tree(), project.now());
    ends.retain(|end| end.is_on_disk);
    let steps = forecast.steps();
    show(&recorded, &forecast.plan, &steps, &ends, &broken, args, out);
    let is_fresh = steps.iter().all(|step| step.reasons.is_empty()) && forecast.plan.removals.is_empty();
    Ok(Found { broken, is_fresh })
}

/// Without its keys, every file of a folder would be made again: what is stale tells nothing.
fn show_missing(lost: &[String], recorded: &Recorded<'_>, args: &StatusArgs, out: &Output) -> Found {
    let report = secrets_missing(&lost.iter().map(String::as_str).collect::<Vec<_>>());
    let broken = BTreeMap::from([("secrets".to_owned(), report)]);
    match args.output {
        Format::Text => {
            let (files, they) = if lost.len() == 1 { ("file is", "it") } else { ("files are", "them") };
            let first = format!("{} {files} missing from secrets/: restore {they} from a copy\n", lost.len());
            out.data(&(first + &phase_lines(recorded.phases)));
        }
        Format::Json | Format::Yaml => show(recorded, &Plan::default(), &[], &[], &broken, args, out),
    }
    Found { broken, is_fresh: false }
}

/// The one thing to say of a working directory whose release a registry has to be asked for.
fn unfetched(workdir: &Workdir, files: &InputFiles, args: &StatusArgs) -> Result<Option<PlanStep>, Report> {
    if args.release_dir.is_some() {
        return Ok(None);
    }
    let Some(why) = Checked::reason_to_fetch(workdir, files)? else { return Ok(None) };
    let asset = fetched_release::ID.to_owned();
    Ok(Some(PlanStep { asset, phase: Phase::FetchRelease, reasons: vec![why], files: Vec::new() }))
}

fn show(
    recorded: &Recorded<'_>,
    plan: &Plan,
    steps: &[&PlanStep],
    ends: &[Expiry],
    broken: &BTreeMap<String, Report>,
    args: &StatusArgs,
    out: &Output,
) {
    let reasons = broken.iter().map(|(asset, report)| (asset, &report.what));
    match args.output {
        Format::Text => {
            let broken: String = reasons
                .map(|(asset, what)| format!("broken {asset}, and everything made from it: {what}\n"))
                .collect();
            out.data(&(phase_lines(recorded.phases) + &broken + &text(plan, steps, ends, args.all)));
        }
        format => {
            let mut value = value(plan, steps, ends);
            value["phases"] = json!(recorded.phases);
            for section in Section::OF_CLUSTER {
                value[section.name()] = recorded.known.list(section);
            }
            value["broken"] = reasons.map(|(asset, what)| json!({"asset": asset, "error": what})).collect();
            out.value(&value, format);
        }
    }
}

fn text(plan: &Plan, steps: &[&PlanStep], ends: &[Expiry], all: bool) -> String {
    let mut text = String::new();
    let mut fresh = 0;
    let mut rows = Vec::new();
    for step in steps {
        fresh += usize::from(step.reasons.is_empty());
        if !step.reasons.is_empty() || all {
            let state = if step.reasons.is_empty() { "fresh" } else { "stale" };
            let reasons = if all { join(&step.reasons) } else { in_a_line(&step.reasons) };
            rows.push((state, step.phase.name(), step.asset.as_str(), reasons));
        }
        for (path, kept) in kept_in(step) {
            let (state, why) = match kept {
                Kept::Deleted => ("gone", format!("{}; {}", kept.how(), kept.so())),
                Kept::Edited | Kept::Foreign => ("kept", kept.how().to_owned()),
            };
            rows.push((state, step.phase.name(), path, why));
        }
    }
    let width = rows.iter().map(|(.., name, _)| name.chars().count()).max().unwrap_or_default();
    for (state, phase, name, why) in rows {
        text += format!("{state:5}  {phase:16} {name:width$} {why}").trim_end();
        text.push('\n');
    }
    for path in &plan.removals {
        text += &format!("gone   {path}: no longer needed\n");
    }
    for path in &plan.left_behind {
        text += &format!("kept   {path}: no longer needed, but edited by hand\n");
    }
    let folded = !all && steps.iter().any(|step| step.reasons.len() > 1);
    let more = if folded { "; --all shows every reason" } else { "" };
    text += &format!("{fresh} of {} assets are fresh{more}\n", steps.len());
    match ends.first() {
        Some(next) if next.seconds_left <= 0 => {
            text += &format!("certificate {} expired at {}\n", next.certificate, next.not_after)
        }
        Some(next) => {
            text += &format!("next certificate to expire: {} at {}\n", next.certificate, next.not_after)
        }
        None => {}
    }
    if all {
        ends.iter().for_each(|end| text += &format!("ends   {}  {}\n", end.not_after, end.certificate));
    }
    text
}

/// The first reason, and how many there are beside it.
fn in_a_line(reasons: &[Stale]) -> String {
    match reasons {
        [] => String::new(),
        [only] => only.to_string(),
        [first, rest @ ..] => format!("{first}; and {} more", rest.len()),
    }
}

fn value(plan: &Plan, steps: &[&PlanStep], ends: &[Expiry]) -> Value {
    let assets: Vec<Value> = steps
        .iter()
        .map(|step| {
            let files = step.files.iter().map(|(output, state)| {
                let state = match state {
                    FileState::DeletedByHand => "deleted-by-hand",
                    FileState::EditedByHand => "edited-by-hand",
                    FileState::NotOurs => "not-ours",
                    FileState::Unchanged => "unchanged",
                    FileState::Written => "to-be-written",
                };
                json!({"path": output.path, "state": state})
            });
            json!({
                "asset": step.asset,
                "phase": step.phase.name(),
                "stale": !step.reasons.is_empty(),
                "reasons": step.reasons.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "files": files.collect::<Vec<_>>(),
            })
        })
        .collect();
    let certificates: Vec<Value> = ends
        .iter()
        .map(|end| json!({"name": end.certificate, "notAfter": end.not_after.to_string(), "due": end.is_due}))
        .collect();
    json!({
        "assets": assets,
        "certificates": certificates,
        "noLongerNeeded": plan.removals,
        "leftBehind": plan.left_behind,
    })
}
