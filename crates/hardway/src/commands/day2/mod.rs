//! `hardway day2`: steps after the install.

mod list;
mod show;

use std::io::Read as _;

use hardway_assets::day_two::DayTwoStep;
use hardway_base::{Secret, Verdict};
use serde_json::json;

use crate::cli::{Day2ApplyArgs, Day2Args, Day2LookArgs, Day2Verb, Format, Global, RemovalArgs};
use crate::cluster::Access;
use crate::cluster::day_two::{ApplyOptions, DayTwo, check, undo, undo_text};
use crate::commands::removal::Removal;
use crate::inputs::{FolderLock, Workdir};
use crate::report::{Code, Exit, Report};
use crate::runtime;
use crate::terminal::Output;

pub(crate) fn run(global: &Global, args: &Day2Args, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    match &args.verb {
        Day2Verb::List { output } => list::run(&workdir, *output, out),
        Day2Verb::Plan { look } => plan(&workdir, look, out),
        Day2Verb::Apply(args) => apply(&workdir, args, out),
        Day2Verb::Check { look } => check_step(&workdir, look, out),
        Day2Verb::Undo { step, removal, cluster } => {
            take_back(&workdir, *step, *removal, &cluster.into(), out)
        }
    }
}

fn plan(workdir: &Workdir, look: &Day2LookArgs, out: &Output) -> Result<Exit, Report> {
    let plan = runtime::run("planning", async {
        let step = DayTwo::open(workdir, &(&look.cluster).into(), look.step, out).await?;
        step.plan(false).await
    })?;
    match look.output {
        Format::Text => out.data(&show::text(look.step, &plan)),
        format => out.value(&show::value(look.step, &plan), format),
    }
    plan.notes.iter().for_each(|note| out.warn(note));
    Ok(Exit::Done)
}

fn apply(workdir: &Workdir, args: &Day2ApplyArgs, out: &Output) -> Result<Exit, Report> {
    let token = match &args.token_file {
        None => None,
        Some(path) => Some(read_token(path)?),
    };
    let options = ApplyOptions { take_over: args.take_over, is_agreed: args.yes, token };
    let _held = FolderLock::take(workdir)?;
    runtime::run("applying", async {
        let step = DayTwo::open(workdir, &(&args.cluster).into(), args.step, out).await?;
        step.apply(&options, out).await
    })?;
    out.info(&format!("applied; see whether it works with `hardway day2 check {}`", args.step.name()));
    Ok(Exit::Done)
}

fn read_token(path: &std::path::Path) -> Result<Secret, Report> {
    let mut text = String::new();
    let read = match path.to_str() {
        Some("-") => std::io::stdin().read_to_string(&mut text).map(drop),
        _ => fs_err::read_to_string(path).map(|read| text = read),
    };
    read.map_err(|error| {
        Report::new(Code::Usage, error.to_string()).fix("check the path given with --token-file")
    })?;
    match text.trim() {
        "" => Err(Report::new(Code::Usage, "there is no token to read")
            .fix("log in and pipe it: oc whoami -t | hardway day2 apply kubeadmin-gone --token-file -")),
        token => Ok(Secret::new(token)),
    }
}

fn check_step(workdir: &Workdir, look: &Day2LookArgs, out: &Output) -> Result<Exit, Report> {
    let checks = runtime::run("checking", async {
        let step = DayTwo::open(workdir, &(&look.cluster).into(), look.step, out).await?;
        check(&step).await
    })?;
    match look.output {
        Format::Text => out.painted(&show::checks(&checks)),
        format => {
            let rows: Vec<_> = checks
                .iter()
                .map(|one| json!({"name": one.name, "verdict": one.judged.verdict.name(), "seen": one.judged.seen, "fix": one.judged.fix}))
                .collect();
            out.value(&json!({"step": look.step.name(), "checks": rows}), format);
        }
    }
    let failed: Vec<&str> = checks
        .iter()
        .filter(|one| one.judged.verdict == Verdict::Failed)
        .map(|one| one.name.as_str())
        .collect();
    if failed.is_empty() {
        return Ok(Exit::Done);
    }
    let what = format!("{} is not as it should be: {}", look.step.name(), failed.join(", "));
    Err(Report::new(Code::DayTwoUnmet, what).fix("each line above says what to do"))
}

fn take_back(
    workdir: &Workdir,
    step: DayTwoStep,
    removal: RemovalArgs,
    access: &Access,
    out: &Output,
) -> Result<Exit, Report> {
    let Some(what) = undo_text(workdir, step)? else {
        out.info(&format!("nothing to undo: {} was not applied from this folder", step.name()));
        return Ok(Exit::Done);
    };
    let going = Removal {
        what: &what,
        warning: step.row().back,
        name: Some(step.name()),
        kept: "nothing was undone",
    };
    if !going.is_agreed(removal, out)? {
        return Ok(Exit::Done);
    }
    let _held = FolderLock::take(workdir)?;
    runtime::run("undoing", undo(workdir, access, step, out))?;
    out.info(&format!("{} was undone", step.name()));
    Ok(Exit::Done)
}
