//! `hardway phase list|explain`

use hardway_assets::Phase;
use hardway_assets::guide::{self, Page};
use serde_json::{Value, json};

use crate::cli::{Format, PhaseArgs, PhaseVerb};
use crate::output::Output;
use crate::report::{EXIT_USAGE, Report};

/// The phases, or the guide's page about one.
pub(crate) fn run(args: &PhaseArgs, out: &Output) -> Result<u8, Report> {
    match &args.verb {
        PhaseVerb::List { output: Format::Text } => {
            for (phase, page) in pages() {
                let note = if page.is_built() { "" } else { " (not run by hardway yet)" };
                let (takes, gives) = (page.takes(), page.gives());
                out.data(&format!("{:4} {:19} {takes} → {gives}{note}\n", page.stage, phase.name()));
            }
        }
        PhaseVerb::List { output } => {
            let value = |(number, (phase, page)): (usize, (Phase, &Page))| {
                json!({
                    "number": number + 1,
                    "stage": page.stage,
                    "name": phase.name(),
                    "takes": page.takes(),
                    "gives": page.gives(),
                    "runs": page.is_built(),
                })
            };
            out.value(&Value::Array(pages().enumerate().map(value).collect()), *output);
        }
        PhaseVerb::Explain { name } => match guide::page(name) {
            Some(page) => out.data(page.text),
            None => {
                return Err(Report::new("usage", format!("there is no phase {name:?}"))
                    .exit(EXIT_USAGE)
                    .fix("`hardway phase list` names them"));
            }
        },
    }
    Ok(0)
}

/// Every phase in order, with the guide's page about it.
fn pages() -> impl Iterator<Item = (Phase, &'static Page)> {
    Phase::ALL.iter().filter_map(|phase| Some((*phase, guide::page(phase.name())?)))
}
