//! `hardway phase list|explain`

use hardway_assets::{Phase, guide};
use serde_json::{Value, json};

use crate::cli::{Format, PhaseArgs, PhaseVerb};
use crate::output::Output;
use crate::report::{EXIT_USAGE, Report};

/// The phases, or the guide's page about one.
pub(crate) fn run(args: &PhaseArgs, out: &Output) -> Result<u8, Report> {
    match &args.verb {
        PhaseVerb::List { output: Format::Text } => {
            Phase::ALL.iter().for_each(|phase| out.data(&format!("{phase}\n")));
        }
        PhaseVerb::List { output } => {
            let list: Vec<Value> = Phase::ALL.iter().map(|phase| json!(phase.name())).collect();
            out.value(&Value::Array(list), *output);
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
