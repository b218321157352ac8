//! `hardway hosted leftovers`

use hardway_machines::providers::descriptor;
use serde_json::json;

use crate::cli::{Format, Global};
use crate::hosted::{Leftovers, leftovers};
use crate::report::{Exit, Report};
use crate::terminal::Output;

/// Asks the provider what there is, and the journal whose it is.
pub(super) fn run(global: &Global, output: Format, out: &Output) -> Result<Exit, Report> {
    let Leftovers { provider, rows } = leftovers(&global.dir, out)?;
    let Some(rows) = rows else {
        let name = provider.name();
        out.info(&format!("provider {name} makes no machines, so whatever exists was there before"));
        return Ok(Exit::Done);
    };
    if output != Format::Text {
        let rows =
            rows.iter().map(|row| json!({"machine": row.machine, "host": row.host, "owner": row.owner}));
        out.value(&rows.collect(), output);
        return Ok(Exit::Done);
    }
    for row in &rows {
        let owner = row.owner.as_deref().unwrap_or("nobody, according to this folder's journal");
        out.data(&format!("{:40} {owner}\n", row.machine));
    }
    let strays = rows.iter().filter(|row| row.owner.is_none()).count();
    out.info(&format!("{} machines, {strays} unaccounted for", rows.len()));
    if let Some(left) = descriptor(provider).leaves {
        out.info(&format!("hardway never removes {left}"));
    }
    Ok(Exit::Done)
}
