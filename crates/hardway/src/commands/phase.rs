//! `hardway phase list|explain|run|redo`

use hardway_assets::Phase;
use hardway_assets::guide::{self, Page};
use serde_json::{Value, json};

use crate::cli::{Format, Global, PhaseArgs, PhaseVerb, RunArgs};
use crate::inputs::{FolderLock, Workdir};
use crate::install;
use crate::machines;
use crate::report::{Code, Exit, Report};
use crate::terminal::Output;

/// The phases, the guide's page about one, or the work of one.
pub(crate) fn run(global: &Global, args: &PhaseArgs, out: &Output) -> Result<Exit, Report> {
    match &args.verb {
        PhaseVerb::List { output: Format::Text } => {
            for (phase, page) in pages() {
                let (takes, gives) = (page.takes(), page.gives());
                out.data(&format!("{:4} {:19} {takes} → {gives}\n", page.number, phase.name()));
            }
        }
        PhaseVerb::List { output } => {
            let value = |(phase, page): (Phase, &Page)| {
                json!({
                    "number": phase.number(),
                    "stage": page.number,
                    "name": phase.name(),
                    "takes": page.takes(),
                    "gives": page.gives(),
                })
            };
            out.value(&Value::Array(pages().map(value).collect()), *output);
        }
        PhaseVerb::Run { name, run } => return work(global, name, run, false, out),
        PhaseVerb::Redo { name, run } => return work(global, name, run, true, out),
        PhaseVerb::Explain { name } => match guide::page(name) {
            Some(page) => out.data(page.text),
            None => {
                return Err(Report::new(Code::Usage, format!("no such phase: {name:?}"))
                    .fix("`hardway phase list` lists them"));
            }
        },
    }
    Ok(Exit::Done)
}

/// One phase; in a lab, where it belongs.
fn work(global: &Global, name: &str, args: &RunArgs, is_again: bool, out: &Output) -> Result<Exit, Report> {
    let phase = named(name)?;
    let looking = super::cluster::open_to_look(Workdir::open(&global.dir)?, args)?;
    if let Some(site) = looking.lab.as_ref().filter(|_| !phase.is_before_machines()) {
        machines::enter(site)?;
    }
    install::check_needs(&looking, phase)?;
    let workdir = Workdir::open(&global.dir)?;
    let _held = FolderLock::take(&workdir)?;
    let install = super::cluster::open(workdir, looking.inputs.clone(), args, &[phase])?;
    if is_again {
        install::reset(&install, phase)?.iter().for_each(|done| out.info(done));
    }
    install::run(&install, &[phase], &[])?;
    Ok(Exit::Done)
}

/// By its name, or by the number that `phase list` prints.
fn named(name: &str) -> Result<Phase, Report> {
    guide::page(name).and_then(|page| page.phase).ok_or_else(|| {
        Report::new(Code::Usage, format!("no such phase: {name:?}")).fix("`hardway phase list` lists them")
    })
}

/// Every phase in order, with the guide's page about it.
fn pages() -> impl Iterator<Item = (Phase, &'static Page)> {
    Phase::ALL.iter().filter_map(|phase| Some((*phase, guide::page(phase.name())?)))
}
